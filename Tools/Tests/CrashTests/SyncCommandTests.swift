import Foundation
import Processes
import Testing

/// Question: does `foldback sync` bring the logs of two devices together over a server, and say what is
/// wrong?
@Suite struct SyncCommandTests {
    private let directory = DiskDirectory()

    /// Starts the server in Python, which knows one token.
    private func startServer() throws -> (process: RunningProcess, address: String) {
        let process = try RunningProcess(
            [
                "python3", "-u", ReplayStory.root.appending(path: "Tools/Server/reference.py").path,
                "--listen", "127.0.0.1:0", "--data",
                directory.url.appending(path: "server.sqlite").path,
            ], errors: .inherited)
        while let line = process.nextLine() {
            guard let place = line.range(of: "listening on ") else { continue }
            return (process, String(line[place.upperBound...]))
        }
        throw CocoaError(.executableLoad)
    }

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func sync(_ log: String, _ address: String, token: String = "secret") throws
        -> ProcessEnd
    {
        try Data("\(token)\n".utf8).write(to: URL(filePath: path("token")))
        return try Processes.run([
            executable("foldback"), "sync", path(log), address, "--token-file", path("token"),
            "--within", "20",
        ])
    }

    @Test func `two logs meet at a server, and what goes wrong is said`() throws {
        let (server, address) = try startServer()
        defer { server.signal(SIGKILL) }
        let commands = [
            #"{"do":"record","event":{"op":"set","key":"milk","value":2}}"#,
            #"{"do":"record","event":{"op":"set","key":"milk","value":3}}"#,
        ]
        try ReplayStory.makeLog(URL(filePath: path("ann.log")), commands, kind: .downlink)
        let stranger = try sync("ann.log", address, token: "wrong")
        #expect(stranger.status == 1, "\(stranger)")
        #expect(stranger.output.contains("No user is signed in"), "\(stranger)")

        let first = try sync("ann.log", address)
        #expect(first.status == 0 && first.output.contains("Everything is saved"), "\(first)")
        let second = try sync("bob.log", address)
        #expect(second.status == 0, "\(second)")
        let shown = try Processes.run([executable("foldback"), "at", path("bob.log"), "1"])
        #expect(shown.output.contains("milk: 3"), "\(shown)")

        server.signal(SIGKILL)
        server.waitUntilExit()
        try ReplayStory.makeLog(
            URL(filePath: path("ann.log")), [commands[1]], kind: .downlink)
        let alone = try Processes.run([
            executable("foldback"), "sync", path("ann.log"), address, "--token-file",
            path("token"), "--within", "1",
        ])
        #expect(alone.status == 1 && alone.output.contains("could not be reached"), "\(alone)")
        let status = try Processes.run([executable("foldback"), "status", path("ann.log")])
        #expect(status.output.contains("pending     1"), "\(status)")
    }
}
