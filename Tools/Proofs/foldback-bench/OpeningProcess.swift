import Foldback
import FoldbackLMDB
import Foundation

/// A process that only opens a log, so that its caches and its memory have nothing of the log
/// before.
enum OpeningProcess {
    /// The subcommands that this executable starts itself with.
    static let command = "open"
    static let rowsCommand = "open-rows"
    static let todosCommand = "open-todos"

    struct Report: Codable, Sendable {
        let milliseconds: Double
        /// The number of folded entries after the checkpoint.
        let entriesFolded: Int
        /// After opening; nil where the system does not say.
        let anonymousBytes: Int?
    }

    struct RowReport: Codable, Sendable {
        let milliseconds: Double
        /// The row of the oldest pending intent.
        let firstReadMilliseconds: Double
        /// After opening; nil where the system does not say.
        let anonymousBytes: Int?
        /// After all rows were read and more intents were recorded.
        let anonymousBytesInUse: Int?
    }

    // MARK: In that process

    static func run(_ arguments: some Collection<String>) async throws {
        try await printReport(of: directory(arguments)) { url in
            try await Store.open(
                at: url, Documents.self, confirmedBy: .acknowledgement, durability: .durable)
        }
    }

    static func runOnTodos(_ arguments: some Collection<String>) async throws {
        try await printReport(of: directory(arguments)) { url in
            try await OrdinaryLogs.open(at: url, .durable)
        }
    }

    private static func printReport<P: EventFold>(
        of log: URL, _ open: (URL) async throws -> Store<P>
    ) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let store = try await open(log)
        let elapsed = clock.now - start
        let report = Report(
            milliseconds: elapsed / .milliseconds(1),
            entriesFolded: store.replayStart.entriesFolded,
            anonymousBytes: Machine.anonymousResidentBytes)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        await store.close()
    }

    static func runOnRows(_ arguments: some Collection<String>) async throws {
        let url = try directory(arguments)
        let clock = ContinuousClock()
        let start = clock.now
        let store = try await Store.open(
            at: url, Mailbox.self, confirmedBy: .acknowledgement, durability: .durable)
        let opened = clock.now
        let stars = try store.read { try $0.get(0, in: Mailbox.messages)?.stars } ?? 0
        let read = clock.now
        precondition(stars > 0, "the view lacks the pending intents")
        let opening = Machine.anonymousResidentBytes
        var last: UInt64?
        var count = 0
        repeat {
            let page = try store.read {
                try $0.page(of: Mailbox.messages, after: last, limit: 1_000)
            }
            count += page.count
            last = page.last?.key
        } while last != nil
        precondition(count == MailboxLogs.rowCount, "\(count) rows were read")
        let numbers = try await store.recordAll((0..<1_000).map { .starred($0) })
        let report = RowReport(
            milliseconds: (opened - start) / .milliseconds(1),
            firstReadMilliseconds: (read - opened) / .milliseconds(1), anonymousBytes: opening,
            anonymousBytesInUse: Machine.anonymousResidentBytes)
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        // The next process must open the same log.
        try await store.perform(numbers.reversed().map { .change($0, .withdraw) })
        try await store.checkpoint()
        await store.close()
    }

    private static func directory(_ arguments: some Collection<String>) throws -> URL {
        guard arguments.count == 1, let path = arguments.first else {
            throw WrongUse(reason: "give the directory of the log to open")
        }
        return URL(filePath: path, directoryHint: .isDirectory)
    }

    // MARK: In the process that starts it

    /// Opens the log in a new process and returns its report.
    static func report(opening log: URL) async throws -> Report {
        try await report([command, log.path])
    }

    static func report(ofTodos log: URL) async throws -> Report {
        try await report([todosCommand, log.path])
    }

    /// The file's size, the time of an opening, and the memory after it.
    ///
    /// - Parameter report: opens the log in a new process.
    static func figures(
        _ name: String, _ log: URL, openings: Int, _ report: (URL) async throws -> Report
    ) async throws -> [Measurement] {
        var reports: [Report] = []
        for _ in 0..<openings { reports.append(try await report(log)) }
        return [
            Measurement(
                name: "\(name), file", value: try log.megabytesOfFile, unit: "MB", n: 1,
                note: try TablePages(at: log).words),
            reports.map(\.milliseconds).quartered("\(name), opening", unit: "ms"),
            reports.compactMap(\.anonymousBytes).map { Double($0) / 1_048_576 }
                .quartered("\(name), RssAnon", unit: "MiB"),
        ]
    }

    static func report(ofRows log: URL) async throws -> RowReport {
        try await report([rowsCommand, log.path])
    }

    /// Runs this executable with `arguments` in a new process, and returns what it prints.
    static func report<R: Decodable & Sendable>(_ arguments: [String]) async throws -> R {
        try await Process.report(of: Bundle.main.executableURL, arguments)
    }
}

extension Process {
    /// Runs a program in a new process, and returns the JSON that it prints.
    static func report<R: Decodable & Sendable>(
        of program: URL?, _ arguments: [String]
    ) async throws -> R {
        try await Platform.onThread { () throws(any Error) in
            let process = Process()
            process.executableURL = program
            process.arguments = arguments
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw ProcessFailure(
                    command: ([program?.lastPathComponent ?? ""] + arguments).joined(
                        separator: " "),
                    status: process.terminationStatus)
            }
            return try JSONDecoder().decode(R.self, from: data)
        }
    }
}

struct ProcessFailure: Error, CustomStringConvertible {
    let command: String
    let status: Int32
    var description: String { "\(command) ended with exit code \(status)" }
}
