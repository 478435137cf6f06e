import Foundation
import Processes

/// A server in a process of its own, with data in a folder of its own.
final class TestServer: Sendable {
    let process: RunningProcess
    /// The address for devices.
    let address: URL
    /// The address of health and metrics; nil if the server has none.
    let admin: URL?

    var port: Int { address.port ?? 0 }

    private init(_ process: RunningProcess, _ address: URL, _ admin: URL?) {
        self.process = process
        self.address = address
        self.admin = admin
    }

    /// The command of a server. It refuses names in the environment that are not its own, so it must not
    /// see those of tests.
    static func command(_ name: String = "foldback-server") -> [String] {
        ["env", "-u", "FOLDBACK_TEST_EFFORT", executable(name)]
    }

    static func environment(_ folder: Folder) -> [String: String] {
        [
            "FOLDBACK_DATA": folder.url.path, "FOLDBACK_LISTEN": "127.0.0.1:0",
            "FOLDBACK_ADMIN_LISTEN": "127.0.0.1:0",
        ]
    }

    /// Starts a server of this package on free ports.
    static func start(
        _ name: String = "foldback-server", _ arguments: [String] = [], in folder: Folder,
        environment: [String: String] = [:], errors: RunningProcess.Stream = .inherited
    ) async throws -> TestServer {
        try await onThread {
            let process = try RunningProcess(
                command(name) + arguments,
                environment: Self.environment(folder).merging(environment) { $1 },
                errors: errors)
            var addresses: (own: URL?, admin: URL?)
            while let line = process.nextLine() {
                if let admin = Self.address(in: line, after: "health and metrics on ") {
                    addresses.admin = admin
                }
                if let own = Self.address(in: line, after: "listening on ") { addresses.own = own }
                if let own = addresses.own, let admin = addresses.admin {
                    return TestServer(process, own, admin)
                }
            }
            throw TestError("the server ended with \(process.waitUntilExit())")
        }
    }

    /// Starts the server in Python, with the token "secret" of ann.
    static func startReference(in folder: Folder) async throws -> TestServer {
        let program = URL(filePath: #filePath).appending(path: "../../../reference.py").standardized
        return try await onThread {
            let process = try RunningProcess(
                [
                    "python3", "-u", program.path, "--listen", "127.0.0.1:0", "--data",
                    folder.url.appending(path: "reference.sqlite").path,
                ], errors: .inherited)
            while let line = process.nextLine() {
                if let address = Self.address(in: line, after: "listening on ") {
                    return TestServer(process, address, nil)
                }
            }
            throw TestError("reference.py ended with \(process.waitUntilExit())")
        }
    }

    private static func address(in line: String, after prefix: String) -> URL? {
        line.range(of: prefix).flatMap { URL(string: String(line[$0.upperBound...])) }
    }

    /// Returns a token that the server's own key has signed.
    static func token(_ account: String, in folder: Folder) async throws -> String {
        try await onThread {
            let end = try run(command() + ["token", account], environment: environment(folder))
            guard end.isSuccess else { throw TestError(end.errors) }
            return end.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Asks the server to stop, and returns its exit code and how long it took.
    func stop() async throws -> (status: Int32, time: Duration) {
        let start = ContinuousClock.now
        process.signal(SIGTERM)
        let status = try await onThread { [process] in process.waitUntilExit() }
        return (status, start.duration(to: .now))
    }

    /// The memory of the process that no file backs, in bytes.
    var memory: Int {
        get throws {
            let status = try String(
                contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
            guard
                let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon") }),
                let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({
                    Int($0)
                })
            else { throw TestError("no RssAnon") }
            return kilobytes << 10
        }
    }
}

/// A folder that is removed with this object.
final class Folder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "foldback-server-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

struct TestError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
