import Foundation
import Processes

/// A server process under load: `foldback-server` with or without PostgreSQL, or the server that decides
/// nothing.
final class LoadedServer {
    enum Kind: String, CaseIterable {
        case deciding = "HTTP"
        case nothing = "HTTP that decides nothing"
    }

    let kind: Kind
    /// The start of the names of its figures.
    let name: String
    let token: String
    /// The folder of its data.
    let data: URL
    private let words: [String]
    private let environment: [String: String]
    private var process: RunningProcess
    private(set) var port: Int
    /// The port of health and metrics; nil if it has none.
    private(set) var adminPort: Int?

    /// Starts a server whose data is in `directory`.
    ///
    /// - Parameters:
    ///   - postgres: the connection string of the database that has the decisions; nil for the folder.
    ///   - other: a server with the same key: this one takes its tokens, too.
    init(
        _ kind: Kind, in directory: URL, over postgres: String? = nil,
        keyOf other: LoadedServer? = nil
    ) throws {
        self.kind = kind
        name = postgres == nil ? kind.rawValue : "PostgreSQL"
        data = directory.appending(path: "server", directoryHint: .isDirectory)
        var environment = [
            "FOLDBACK_DATA": data.path, "FOLDBACK_LISTEN": "127.0.0.1:0",
            "FOLDBACK_ADMIN_LISTEN": "127.0.0.1:0",
        ]
        environment["FOLDBACK_POSTGRES"] = postgres
        self.environment = environment
        // The server refuses names that are not its own, such as those of tests.
        let deciding = ["env", "-u", "FOLDBACK_TEST_EFFORT", executable("foldback-server")]
        words = kind == .deciding ? deciding : [executable("server-load"), "nothing"]
        if let other {
            try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: other.data.appending(path: "key"), to: data.appending(path: "key"))
            token = other.token
        } else {
            token = try run(deciding + ["token", "ann"], environment: environment).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        process = try RunningProcess(words, environment: environment, errors: .inherited)
        port = 0
        try readPorts()
    }

    /// Kills the server, and starts it again on other ports.
    func restart() throws {
        process.signal(SIGKILL)
        process.waitUntilExit()
        process = try RunningProcess(words, environment: environment, errors: .inherited)
        try readPorts()
    }

    private func readPorts() throws {
        // The two ports open in any order.
        var ports: [Substring: Int] = [:]
        while ports.count < (kind == .deciding ? 2 : 1) {
            guard let line = process.nextLine() else {
                throw LoadError("\(words) did not start")
            }
            let words = line.split(separator: " ")
            guard line.contains(" on http://"), let port = line.split(separator: ":").last else {
                continue
            }
            ports[words[0]] = Int(port)
        }
        port = ports["listening"] ?? 0
        adminPort = ports["health"]
    }

    // MARK: Requests

    /// Returns a request with intents.
    ///
    /// - Parameter answerBytes: the size of the answer of a server that decides nothing.
    func submission(_ body: [UInt8], to space: String, answerBytes: Int) -> [UInt8] {
        head(
            "POST", "\(space)/intents\(kind == .nothing ? "?answer=\(answerBytes)" : "")",
            body.count)
            + body
    }

    /// Returns a request for a page; with a wait, a long poll.
    func fetch(
        from space: String, after position: Int, wait: Int? = nil, answerBytes: Int
    ) -> [UInt8] {
        let query =
            "after=\(position)" + (wait.map { "&wait=\($0)" } ?? "")
            + (kind == .nothing ? "&answer=\(answerBytes)" : "")
        return head("GET", "\(space)/changes?\(query)", nil)
    }

    /// Sends a request with one intent until the server accepts it. After a refusal, it waits 10 ms.
    func accept(_ request: [UInt8], secondsMax: Double = 60) throws(LoadError) {
        let start = ContinuousClock.now
        while true {
            do throws(LoadError) {
                let verdict = try Connection(to: port).exchange(request)
                guard kind == .nothing || verdict.count(of: "\"accepted\":{") == 1 else {
                    throw LoadError(
                        "not accepted: \(String(decoding: verdict, as: UTF8.self))")
                }
                return
            } catch {
                guard start.duration(to: .now) < .seconds(secondsMax) else { throw error }
                usleep(10_000)
            }
        }
    }

    private func head(_ method: String, _ path: String, _ length: Int?) -> [UInt8] {
        let length = length.map { "Content-Type: application/json\r\nContent-Length: \($0)\r\n" }
        return Array(
            """
            \(method) /v1/spaces/\(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r
            \(length ?? "")\r\n
            """.utf8)
    }

    // MARK: What it uses

    /// The processor time of the server so far, in seconds; nil if unknown.
    var processorSeconds: Double? {
        // The name of the program, in parentheses, may have spaces.
        let text = try? String(contentsOfFile: "/proc/\(process.id)/stat", encoding: .utf8)
        let fields = text?.split(separator: ")").last?.split(separator: " ").map { Double($0) }
        guard let fields, fields.count > 12, let user = fields[11], let system = fields[12] else {
            return nil
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// A size in `/proc/PID/status` in MiB; nil if unknown.
    func mebibytes(_ name: String) -> Double? {
        let text = try? String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { Double($0.filter(\.isNumber)) }.map { $0 / 1_024 }
    }
}

extension [LoadedServer] {
    /// The processor time of all servers so far, in seconds; nil if unknown.
    var processorSeconds: Double? {
        let known = compactMap(\.processorSeconds)
        return known.count == count ? known.reduce(0, +) : nil
    }
}

/// The shares of the processor that servers and this process used.
struct ProcessorUse {
    let server: Double?
    let load: Double

    static func measure(
        _ servers: [LoadedServer], _ body: () throws -> Void
    ) rethrows -> ProcessorUse {
        let start = (ContinuousClock.now, servers.processorSeconds, Machine.processorMilliseconds)
        try body()
        return ProcessorUse(since: start, servers)
    }

    init(since start: (ContinuousClock.Instant, Double?, Double), _ servers: [LoadedServer]) {
        let cores = Double(ProcessInfo.processInfo.activeProcessorCount)
        let all = (start.0.duration(to: .now) / .seconds(1)) * cores
        let seconds = servers.processorSeconds.flatMap { end in start.1.map { end - $0 } }
        self.server = seconds.map { $0 / all }
        load = (Machine.processorMilliseconds - start.2) / 1_000 / all
    }

    var words: String {
        func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
        return "of the processor: server \(server.map(percent) ?? "?"), load \(percent(load))"
    }
}
