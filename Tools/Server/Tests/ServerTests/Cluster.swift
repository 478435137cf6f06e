import FaultyNetwork
import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation
import Processes
import Synchronization

/// A primary and a synchronous standby of PostgreSQL, made by the script `cluster`. They end with this
/// object.
final class Cluster: Sendable {
    private let folder: Folder
    let conninfo: String

    private let script: ClusterScript

    private static let path = URL(filePath: #filePath).appending(path: "../../../cluster")
        .standardized.path

    /// Whether PostgreSQL is installed.
    static let isThere: Bool = {
        let end = try? run([path, "conninfo", "/none"], secondsMax: 30)
        return end.map { !$0.errors.contains("PostgreSQL is missing") } ?? false
    }()

    init() async throws {
        let folder = try Folder()
        let script = ClusterScript(
            Self.path, in: folder.url.appending(path: "cluster"), isFlushing: false)
        (self.folder, self.script) = (folder, script)
        conninfo = try await onThread { try script.run("start") }
    }

    deinit { _ = try? script.run("destroy") }

    /// Runs a command of the script, and returns what it printed.
    @discardableResult func callAsFunction(
        _ command: String, _ arguments: String...
    ) async throws -> String {
        try await onOwnThread { [script] in try script.run(command, arguments) }
    }

    /// Returns the rows of a query on the primary.
    func query(_ statement: String) async throws -> [[String]] {
        let text = try await self("psql", "-qAt", "-F", "\t", "-c", statement)
        return text.split(separator: "\n", omittingEmptySubsequences: true).map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// Kills the primary, and promotes the standby.
    func failOver() async throws {
        try await self("kill", "primary")
        try await self("promote")
    }

    /// Copies the primary to a folder that `restore` can put back. The folder ends with the cluster.
    func backup() async throws -> String {
        let place = folder.url.appending(path: "backup-\(UUID().uuidString)").path
        try await self("backup", place)
        return place
    }

    /// All rows of a space in the table, in order.
    func rows(of space: String) async throws -> [DecisionRow] {
        try await query(
            """
            SELECT position, outcome, replica, number, effect, rejection FROM foldback.decision \
            WHERE space = '\(space)' ORDER BY position, ordinal
            """
        ).map { try DecisionRow($0) }
    }
}

/// A row of the table, as people read it.
struct DecisionRow: Equatable {
    let position: Position
    /// Nil for a row that founds a lineage.
    let intent: IntentID?
    let effect: String
    let verdict: Verdict<DocumentEvent>?

    init(_ columns: [String]) throws {
        guard columns.count == 6, let position = UInt64(columns[0]) else {
            throw TestError("not a row: \(columns)")
        }
        self.position = Position(position)
        intent = ReplicaID(columns[2]).flatMap { replica in
            UInt64(columns[3]).map { IntentID(replica: replica, number: IntentNumber($0)) }
        }
        effect = columns[4]
        switch columns[1] {
        case "accepted": verdict = .accepted(position: self.position, replacement: nil)
        case "rejected":
            let rejection = try JSON(parsing: columns[5])
            verdict = .rejected(
                Rejection(
                    code: rejection["code"]?.stringValue,
                    message: rejection["message"]?.stringValue ?? ""))
        default: verdict = nil
        }
    }
}

/// Servers over one cluster, each with a folder of its own. They are killed, and start again at their
/// addresses. All of them have one key.
final class Fleet: Sendable {
    struct Place: Sendable {
        let folder: Folder
        let errors: FileHandle
        var server: TestServer?
        var address: URL?
    }

    let conninfo: String
    private let places: Mutex<[Place]>
    private let tokens: [String: String]

    init(_ conninfo: String, count: Int = 2) async throws {
        self.conninfo = conninfo
        var places: [Place] = []
        var tokens: [String: String] = [:]
        for _ in 0..<count {
            let folder = try Folder()
            if let first = places.first {
                try FileManager.default.copyItem(
                    at: first.folder.url.appending(path: "key"),
                    to: folder.url.appending(path: "key"))
            } else {
                for account in ["ann", "ben"] {
                    tokens[account] = try await TestServer.token(account, in: folder)
                }
            }
            let errors = folder.url.appending(path: "errors")
            try Data().write(to: errors)
            places.append(
                Place(folder: folder, errors: try FileHandle(forWritingTo: errors)))
        }
        self.places = Mutex(places)
        self.tokens = tokens
        for number in 0..<count { try await start(number) }
    }

    var count: Int { places.withLock { $0.count } }

    private func place(_ number: Int) -> Place { places.withLock { $0[number] } }

    func folder(_ number: Int) -> Folder { place(number).folder }

    // MARK: Processes

    /// Starts a server that is not running.
    func start(_ number: Int) async throws {
        let place = place(number)
        var environment = ["FOLDBACK_POSTGRES": conninfo, "SWIFT_BACKTRACE": "enable=no"]
        if let port = place.address?.port { environment["FOLDBACK_LISTEN"] = "127.0.0.1:\(port)" }
        let server = try await TestServer.start(
            in: place.folder, environment: environment, errors: .file(place.errors))
        places.withLock {
            $0[number].server = server
            $0[number].address = server.address
        }
    }

    /// Kills a server. With `forgetting`, its copies of spaces are gone.
    func kill(_ number: Int, forgetting: Bool = false) async throws {
        let server = places.withLock { places in
            defer { places[number].server = nil }
            return places[number].server
        }
        try await onOwnThread {
            server?.process.signal(SIGKILL)
            server?.process.waitUntilExit()
        }
        if forgetting {
            try FileManager.default.removeItem(
                at: place(number).folder.url.appending(path: "spaces"))
        }
    }

    /// Runs another command of the server.
    func command(_ words: String..., in folder: Folder? = nil) async throws -> ProcessEnd {
        let folder = folder ?? self.folder(0)
        let environment = TestServer.environment(folder)
            .merging(["FOLDBACK_POSTGRES": conninfo]) { $1 }
        return try await onOwnThread {
            try run(TestServer.command() + words, environment: environment, secondsMax: 60)
        }
    }

    /// What the server wrote as errors.
    func errors(_ number: Int) throws -> String {
        try String(contentsOf: folder(number).url.appending(path: "errors"), encoding: .utf8)
    }

    // MARK: Requests

    func client(
        _ number: Int, as account: String = "ann", space: String = "main"
    ) throws -> HTTPAuthority<DocumentEvent> {
        guard let address = place(number).address, let token = tokens[account] else {
            throw TestError("server \(number) has never run")
        }
        return HTTPAuthority(
            address, space: space, token: token,
            limits: ClientLimits(call: .seconds(60)), transport: SocketTransport())
    }

    /// Returns what /health/ready says of a space; nil if nothing is wrong.
    func trouble(_ number: Int, space: String = "main") async throws -> String? {
        guard let server = place(number).server else {
            throw TestError("server \(number) does not run")
        }
        return try await server.trouble(space)
    }

    /// Returns all pages of a server.
    func pages(
        _ number: Int, after device: SyncPoint = .beginning
    ) async throws(AuthorityFailure) -> (events: [ConfirmedEvent<DocumentEvent>], end: SyncPoint) {
        let client: HTTPAuthority<DocumentEvent>
        do { client = try self.client(number) } catch { throw .unreachable(reason: "\(error)") }
        var events: [ConfirmedEvent<DocumentEvent>] = []
        var device = device
        while true {
            let page = try await client.changes(after: device)
            events += page.events
            device = SyncPoint(lineage: page.lineage, through: page.through, digest: page.digest)
            if !page.hasMore { return (events, device) }
        }
    }
}

extension TestServer {
    /// Returns what /health/ready says of a space; nil if nothing is wrong.
    func trouble(_ space: String = "main") async throws -> String? {
        let ready = try await answer(of: admin?.port ?? 0, requestText("GET", "/health/ready"))
        let faults = try JSON(parsing: ready?.body ?? "")["faults"]
        return faults?[ExactString(space)]?.stringValue
    }
}

extension SyncPoint {
    static var beginning: SyncPoint { SyncPoint(lineage: nil, through: 0) }
}

extension Submission<DocumentEvent> {
    init(_ number: UInt64, of replica: String, _ event: DocumentEvent) throws {
        guard let replica = ReplicaID(replica) else { throw TestError("no replica") }
        self.init(
            id: IntentID(replica: replica, number: IntentNumber(number)), event: event,
            recorded: RecordedEvent(
                format: Documents.codec.format, bytes: try Documents.codec.encode(event)),
            time: Timestamp(millisecondsSince1970: 0), info: [:])
    }
}

/// HTTP with a connection for each request. On Linux, Foundation of Swift 6.3 ends the process if a
/// connection ends within the header of an answer
/// (github.com/swiftlang/swift-corelibs-foundation/issues/5285).
struct SocketTransport: HTTPTransport {
    func send(_ request: ClientRequest) async throws(AuthorityFailure) -> ClientResponse {
        let query = request.url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        let text = requestText(
            request.method, request.url.path(percentEncoded: true) + query,
            headers: request.headers.map { "\($0): \($1)" },
            body: String(decoding: request.body, as: UTF8.self))
        let answer: RawAnswer?
        do {
            answer = try await ServerTests.answer(of: request.url.port ?? 0, text)
        } catch { throw .unreachable(reason: "\(error)") }
        guard let answer else { throw .failed(reason: "the connection ended") }
        let headers = answer.head.split(separator: "\r\n").dropFirst().compactMap { line in
            line.firstIndex(of: ":").map { colon in
                (
                    String(line[..<colon]),
                    line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                )
            }
        }
        return ClientResponse(
            status: answer.status,
            headers: Dictionary(headers, uniquingKeysWith: { $1 }), body: Array(answer.body.utf8))
    }
}

/// Calls a function until it returns a value.
@discardableResult func eventually<T>(
    within time: Duration = .seconds(60), _ what: String, _ body: () async throws -> T?
) async throws -> T {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {
        if let value = try await body() { return value }
        try await Task.sleep(for: .milliseconds(50))
    }
    throw TestError("not within \(time): \(what)")
}
