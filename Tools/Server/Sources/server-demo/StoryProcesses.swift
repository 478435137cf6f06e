import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation
import Processes
import Synchronization

/// A server that is killed and started again on the same port and files.
final class ServerProcess {
    let address: URL
    private let environment: [String: String]
    private var process: RunningProcess

    init(in directory: URL) throws {
        var environment = [
            "FOLDBACK_DATA": directory.appending(path: "server").path,
            "FOLDBACK_LISTEN": "127.0.0.1:0", "FOLDBACK_ADMIN_LISTEN": "127.0.0.1:0",
        ]
        process = try Self.start(environment)
        guard let line = Self.line("listening on ", of: process), let address = URL(string: line)
        else { throw StoryError("the server did not start") }
        self.address = address
        environment["FOLDBACK_LISTEN"] = "127.0.0.1:\(address.port ?? 0)"
        self.environment = environment
    }

    private static func start(_ environment: [String: String]) throws -> RunningProcess {
        try RunningProcess(words, environment: environment, errors: .inherited)
    }

    /// The server refuses names that are not its own, such as those of tests.
    private static let words = ["env", "-u", "FOLDBACK_TEST_EFFORT", executable("foldback-server")]

    /// Returns the rest of the first line that begins with `prefix`.
    private static func line(_ prefix: String, of process: RunningProcess) -> String? {
        while let line = process.nextLine() {
            if line.hasPrefix(prefix) { return String(line.dropFirst(prefix.count)) }
        }
        return nil
    }

    func token(_ account: String) throws -> String {
        let end = try run(Self.words + ["token", account], environment: environment)
        return end.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Kills the server, and starts it again.
    func restart() throws {
        process.signal(SIGKILL)
        process.waitUntilExit()
        process = try Self.start(environment)
    }

    /// Asks the server to stop, and returns its exit code.
    func end() -> Int32 {
        process.signal(SIGTERM)
        return process.waitUntilExit()
    }

    /// All effects of the server, by the intents that made them.
    func effects() async throws -> [IntentID: [Position]] {
        let client = HTTPAuthority<DocumentEvent>(
            address, space: "default", token: try token("reader"))
        var effects: [IntentID: [Position]] = [:]
        var device = SyncPoint(lineage: nil, through: 0)
        while true {
            let page = try await client.changes(after: device)
            for event in page.events {
                guard let origin = event.origin else { continue }
                effects[origin, default: []].append(event.position)
            }
            device = SyncPoint(lineage: page.lineage, through: page.through)
            if !page.hasMore { return effects }
        }
    }
}

/// What a device said, also before it was killed.
struct Ledger {
    var recorded: Set<IntentID> = []
    var accepted: [(IntentID, Position)] = []
    /// The drains that began.
    var drainCount = 0
    /// The drains that ended by their time.
    var timedOutCount = 0
    /// Whether a drain has begun and not ended.
    var isDraining = false

    mutating func note(_ line: JSON) {
        if line["draining"] != nil {
            drainCount += 1
            isDraining = true
        }
        if let timedOut = line["timedOut"] {
            timedOutCount += timedOut == true ? 1 : 0
            isDraining = false
        }
        guard let name = line["replica"]?.stringValue, let replica = ReplicaID(name) else { return }
        func id(_ member: ExactString) -> IntentID? {
            line[member]?.unsignedValue.map {
                IntentID(replica: replica, number: IntentNumber($0))
            }
        }
        if let id = id("recorded") { recorded.insert(id) }
        if let id = id("accepted"), let position = line["position"]?.unsignedValue {
            accepted.append((id, Position(position)))
        }
    }
}

/// A device that is killed and started again on the same log.
final class DeviceProcess: Sendable {
    private struct State {
        var process: RunningProcess?
        var ledger = Ledger()
        /// Whether the end of the process is wanted.
        var isEnding = false
        var crashCount = 0
        /// Left when the output of the process has ended.
        var reading = DispatchGroup()
    }

    private let log: URL
    private let authority: HTTPAuthority<DocumentEvent>
    private let words: [String]
    /// Gets what all processes of the device write as errors.
    private let errors: FileHandle
    private let errorFile: URL
    private let state: Mutex<State>

    /// - Parameter drain: the milliseconds of a drain, if the device syncs only in drains.
    init(
        _ name: String, in directory: URL, server: URL, token: String, drain: Int? = nil
    ) throws {
        log = directory.appending(path: "\(name).log", directoryHint: .isDirectory)
        authority = HTTPAuthority(server, space: "default", token: token)
        words =
            [
                executable("server-demo"), "device", name, log.path, server.absoluteString, token,
            ] + (drain.map { ["--drain", "\($0)"] } ?? [])
        errorFile = directory.appending(path: "\(name).errors")
        try Data().write(to: errorFile)
        errors = try FileHandle(forWritingTo: errorFile)
        state = Mutex(State())
        try state.withLock { try begin(&$0) }
    }

    var ledger: Ledger { state.withLock { $0.ledger } }
    /// The number of answers that the device has received.
    var answerCount: Int { state.withLock { $0.ledger.accepted.count } }
    var drainCount: Int { state.withLock { $0.ledger.drainCount } }
    /// The errors that ended a process, besides the one below.
    var unknownErrors: [Substring] {
        get throws {
            try String(contentsOf: errorFile, encoding: .utf8).split(separator: "\n").filter {
                $0.localizedCaseInsensitiveContains("error") && !$0.contains("there's no response")
            }
        }
    }
    /// How often the process ended without being asked or killed. On Linux, Foundation of Swift 6.3 ends
    /// a process if a connection ends within the header of an answer
    /// (github.com/swiftlang/swift-corelibs-foundation/issues/5285).
    var crashCount: Int { state.withLock { $0.crashCount } }

    /// Starts a process, and a thread that reads what it says.
    private func begin(_ state: inout State) throws {
        // A process that is killed while it writes a backtrace leaves the writer of it, which keeps the
        // streams open.
        let process = try RunningProcess(
            words, environment: ["SWIFT_BACKTRACE": "enable=no"], input: .pipe,
            errors: .file(errors))
        let group = DispatchGroup()
        group.enter()
        state.process = process
        state.reading = group
        state.isEnding = false
        Thread.detachNewThread { [self] in
            read(process)
            group.leave()
        }
    }

    private func read(_ process: RunningProcess) {
        // The last line of a killed process may be cut.
        while let line = process.nextLine() {
            guard let json = try? JSON(parsing: line) else { continue }
            state.withLock { $0.ledger.note(json) }
        }
        process.waitUntilExit()
        state.withLock { state in
            guard !state.isEnding else { return }
            state.crashCount += 1
            try? begin(&state)
        }
    }

    /// Calls `end` on the process, which is to end by it, and waits for its end. Returns its exit code.
    private func ending(_ end: (RunningProcess) -> Void) -> Int32? {
        let (process, group) = state.withLock { state in
            state.isEnding = true
            return (state.process, state.reading)
        }
        if let process { end(process) }
        group.wait()
        return process?.waitUntilExit()
    }

    /// - Returns: whether the process was killed during a drain.
    @discardableResult
    func restart() throws -> Bool {
        _ = ending { $0.signal(SIGKILL) }
        return try state.withLock { state in
            let wasDraining = state.ledger.isDraining
            state.ledger.isDraining = false
            try begin(&state)
            return wasDraining
        }
    }

    /// Lets the device stop recording, send everything, and end.
    func finish() throws {
        for _ in 0..<5 {
            if ending({ $0.send("stop") }) == 0 { return }
            // It has ended by itself before it was done.
            try state.withLock { state in
                state.crashCount += 1
                try begin(&state)
            }
        }
        throw StoryError("a device did not finish")
    }

    /// Returns what the device shows after it has fetched everything.
    func documents() async throws -> JSON {
        let store = try await Store.open(
            at: log, Documents.self, confirmedBy: .downlink, durability: .durable)
        _ = try await Sync(store, with: authority, policy: .ordered).fetch()
        let documents = store.view.json
        await store.close()
        return documents
    }
}

struct StoryError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
