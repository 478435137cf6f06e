import BrowserDriver
import Foldback
import Foundation
import Processes
import Testing

/// A log and the way in which a page shows it.
struct Shown: Hashable, Sendable, CustomTestStringConvertible {
    enum Source: Hashable, Sendable {
        /// The log of the demo's feed.
        case feed
        /// The same, imported from a bundle.
        case bundle
        /// Documents, with intents that depend on each other.
        case documents
        /// Documents, with an intent that an outbox has tried to send and then quarantined.
        case attempts
        /// A server's decisions on the feed, for four accounts.
        case decisions
        /// The same for 45 accounts.
        case crowd
    }

    enum Way: Hashable, Sendable {
        case file
        case inspector
    }

    let source: Source
    let way: Way

    static let feed = [
        Shown(source: .feed, way: .file), Shown(source: .bundle, way: .file),
        Shown(source: .feed, way: .inspector),
    ]
    static let attempts = [
        Shown(source: .attempts, way: .file), Shown(source: .attempts, way: .inspector),
    ]
    static let decisions = [
        Shown(source: .decisions, way: .file), Shown(source: .decisions, way: .inspector),
    ]
    static let documents = [
        Shown(source: .documents, way: .file), Shown(source: .documents, way: .inspector),
    ]

    var testDescription: String { "\(source), \(way)" }

    /// The tool that knows the projections of the log.
    var tool: String {
        switch source {
        case .feed, .bundle: "feed-replay"
        case .documents, .attempts: "foldback"
        case .decisions, .crowd: "feed-decisions"
        }
    }

    /// Runs a command of the tool on the log.
    func run(
        _ command: String, _ options: String..., statuses: Set<Int32> = [0, 1]
    ) async throws -> ProcessEnd {
        try await runTool(
            [tool, command, try await log] + options, statuses: statuses)
    }

    // MARK: What is made once

    private static let made = MadeOnce()

    /// The path of the log.
    var log: String { get async throws { try await Self.made.log(of: source).value } }

    /// The address of the page.
    var address: String {
        get async throws {
            switch way {
            case .file: try await Self.made.report(of: self).value
            case .inspector: try await Self.made.inspector(of: self).value.address
            }
        }
    }

    private actor MadeOnce {
        private let folder = Result { try Folder() }
        private var logs: [Source: Task<String, any Error>] = [:]
        private var reports: [Source: Task<String, any Error>] = [:]
        private var inspectors: [Source: Task<Inspector, any Error>] = [:]

        func log(of source: Source) -> Task<String, any Error> {
            if let log = logs[source] { return log }
            let folder = folder
            let log = Task {
                let folder = try folder.get()
                return switch source {
                case .feed: try await Recipes.feed(in: folder)
                case .bundle:
                    try await Recipes.imported(self.log(of: .feed).value, in: folder)
                case .documents: try Recipes.documents(in: folder)
                case .attempts: try await Recipes.attempts(in: folder)
                case .decisions: try await DecidedFeed.few(in: folder)
                case .crowd: try await DecidedFeed.crowd(in: folder)
                }
            }
            logs[source] = log
            return log
        }

        func report(of shown: Shown) -> Task<String, any Error> {
            if let report = reports[shown.source] { return report }
            let (log, folder) = (log(of: shown.source), folder)
            let report = Task {
                try await Report.make(of: log.value, by: shown.tool, in: folder.get())
            }
            reports[shown.source] = report
            return report
        }

        func inspector(of shown: Shown) -> Task<Inspector, any Error> {
            if let inspector = inspectors[shown.source] { return inspector }
            let log = log(of: shown.source)
            let inspector = Task { try await Inspector.start(log.value, by: shown.tool) }
            inspectors[shown.source] = inspector
            return inspector
        }
    }
}

/// A static page.
enum Report {
    /// Makes a page of a log, and returns its address.
    static func make(
        of log: String, by tool: String = "foldback", _ options: String..., in folder: Folder,
        statuses: Set<Int32> = [0]
    ) async throws -> String {
        let file = folder.path("\(UUID().uuidString).html")
        try await runTool(
            [tool, "export", log, "--as", "page", "-o", file] + options, statuses: statuses)
        return URL(filePath: file).absoluteString
    }
}

/// A real `inspect` in its own process. The process ends with this object.
final class Inspector: Sendable {
    private let process: LeashedProcess
    /// The printed address, with the token.
    let address: String

    static func start(
        _ log: String, by tool: String = "foldback", _ options: String...
    ) async throws -> Inspector {
        let (process, address) = try await LeashedProcess.start({ _ in
            [executable(tool), "inspect", log] + options
        }) { line in
            line.firstMatch(of: /^(http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]+)$/)
                .map { String($0.1) }
        }
        return Inspector(process, address)
    }

    private init(_ process: LeashedProcess, _ address: String) {
        self.process = process
        self.address = address
    }

    func end() { process.end() }
}
