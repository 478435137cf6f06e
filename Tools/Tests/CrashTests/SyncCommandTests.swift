import Foundation
import Processes
import Testing

/// Question: does `foldback sync` bring the logs of two devices together over a server, and say what is
/// wrong?
@Suite struct SyncCommandTests {
    private let directory = DiskDirectory()

    /// Starts the server in Python, which knows one token.
    private func startServer(on port: Int = 0) throws -> (process: RunningProcess, address: String)
    {
        let process = try RunningProcess(
            [
                "python3", "-u", ReplayStory.root.appending(path: "Tools/Server/reference.py").path,
                "--listen", "127.0.0.1:\(port)", "--data", path("server.sqlite"),
            ], errors: .inherited)
        while let line = process.nextLine() {
            guard let place = line.range(of: "listening on ") else { continue }
            return (process, String(line[place.upperBound...]))
        }
        throw CocoaError(.executableLoad)
    }

    private func end(_ server: RunningProcess) {
        server.signal(SIGKILL)
        server.waitUntilExit()
    }

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func record(_ value: Int, in log: String) throws {
        let command = #"{"do":"record","event":{"op":"set","key":"milk","value":\#(value)}}"#
        try ReplayStory.makeLog(URL(filePath: path(log)), [command], kind: .downlink)
    }

    private func sync(
        _ log: String, _ address: String, token: String = "secret", within seconds: Int = 20
    ) throws -> ProcessEnd {
        try Data("\(token)\n".utf8).write(to: URL(filePath: path("token")))
        return try Processes.run([
            executable("foldback"), "sync", path(log), address, "--token-file", path("token"),
            "--within", "\(seconds)",
        ])
    }

    private func shown(_ log: String) throws -> String {
        try Processes.run([executable("foldback"), "at", path(log), "1"]).output
    }

    @Test func `two logs meet at a server, and what goes wrong is said`() throws {
        let (server, address) = try startServer()
        defer { end(server) }
        try record(2, in: "ann.log")
        try record(3, in: "ann.log")
        let stranger = try sync("ann.log", address, token: "wrong")
        #expect(stranger.status == 1, "\(stranger)")
        #expect(stranger.output.contains("No user is signed in"), "\(stranger)")

        let first = try sync("ann.log", address)
        #expect(first.status == 0 && first.output.contains("Everything is saved"), "\(first)")
        let second = try sync("bob.log", address)
        #expect(second.status == 0, "\(second)")
        #expect(try shown("bob.log").contains("milk: 3"))

        end(server)
        try record(4, in: "ann.log")
        let alone = try sync("ann.log", address, within: 1)
        #expect(alone.status == 1 && alone.output.contains("could not be reached"), "\(alone)")
        let status = try Processes.run([executable("foldback"), "status", path("ann.log")])
        #expect(status.output.contains("pending     1"), "\(status)")
    }

    @Test func `what waits for a draft is left, and the exit code says so`() throws {
        let (server, address) = try startServer()
        defer { end(server) }
        let commands = [
            #"{"do":"record","held":true,"event":{"op":"set","key":"milk","value":1}}"#,
            #"{"do":"record","event":{"op":"set","key":"bread","value":2}}"#,
            #"{"do":"record","event":{"op":"set","key":"milk","value":3}}"#,
        ]
        try ReplayStory.makeLog(URL(filePath: path("ann.log")), commands, kind: .downlink)
        let first = try sync("ann.log", address)
        #expect(
            first.status == 1 && first.output.contains("left: 1; they wait for a draft"), "\(first)"
        )
        #expect(try sync("bob.log", address).status == 0)
        #expect(try shown("bob.log").contains("bread: 2"))
    }

    @Test func `what a server has lost is there again after a sync`() throws {
        let (first, address) = try startServer()
        defer { end(first) }
        try record(2, in: "ann.log")
        #expect(try sync("ann.log", address).status == 0)
        end(first)
        for file in try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        where file.hasPrefix("server.sqlite") {
            try FileManager.default.removeItem(atPath: path(file))
        }
        let port = try #require(URL(string: address)?.port)
        let (second, _) = try startServer(on: port)
        defer { end(second) }
        let again = try sync("ann.log", address)
        #expect(again.status == 0 && again.output.contains("Everything is saved"), "\(again)")
        #expect(try sync("bob.log", address).status == 0)
        #expect(try shown("bob.log").contains("milk: 2"))
    }
}
