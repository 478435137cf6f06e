import Foundation
import Processes

/// A server process under load: `foldback-server`, or the server that decides nothing.
final class LoadedServer {
    enum Kind: String, CaseIterable {
        case deciding = "HTTP"
        case nothing = "HTTP that decides nothing"
    }

    let kind: Kind
    let token: String
    private let words: [String]
    private let environment: [String: String]
    private var process: RunningProcess
    private(set) var port: Int
    /// The port of health and metrics; nil if it has none.
    private(set) var adminPort: Int?

    /// Starts a server whose data is in `directory`.
    init(_ kind: Kind, in directory: URL) throws {
        self.kind = kind
        environment = [
            "FOLDBACK_DATA": directory.appending(path: "server").path,
            "FOLDBACK_LISTEN": "127.0.0.1:0", "FOLDBACK_ADMIN_LISTEN": "127.0.0.1:0",
        ]
        // The server refuses names that are not its own, such as those of tests.
        let deciding = ["env", "-u", "FOLDBACK_TEST_EFFORT", executable("foldback-server")]
        words = kind == .deciding ? deciding : [executable("server-load"), "nothing"]
        token = try run(deciding + ["token", "ann"], environment: environment).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
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

/// The shares of the processor that a server and this process used.
struct ProcessorUse {
    let server: Double?
    let load: Double

    static func measure(_ server: LoadedServer, _ body: () throws -> Void) rethrows -> ProcessorUse
    {
        let start = (ContinuousClock.now, server.processorSeconds, Machine.processorMilliseconds)
        try body()
        return ProcessorUse(since: start, server)
    }

    init(since start: (ContinuousClock.Instant, Double?, Double), _ server: LoadedServer) {
        let cores = Double(ProcessInfo.processInfo.activeProcessorCount)
        let all = (start.0.duration(to: .now) / .seconds(1)) * cores
        let seconds = server.processorSeconds.flatMap { end in start.1.map { end - $0 } }
        self.server = seconds.map { $0 / all }
        load = (Machine.processorMilliseconds - start.2) / 1_000 / all
    }

    var words: String {
        func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
        return "of the processor: server \(server.map(percent) ?? "?"), load \(percent(load))"
    }
}
