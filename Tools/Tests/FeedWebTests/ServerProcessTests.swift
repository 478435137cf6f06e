import BrowserDriver
import Foldback
import Foundation
import Processes
import Testing

@testable import feed_web

/// These tests ask whether the server comes back after a crash, and ends when it should. A server
/// that stays after its terminal is closed keeps the port and the files.
@Suite struct ServerProcessTests {
    @Test func `a killed server is back within a second, on the same port and files`() async throws
    {
        let clock = ContinuousClock()
        let started = clock.now
        let server = try await ServerProgram.start()
        // A machine that runs other tests may need longer to start any process.
        let pauseMax = max(Duration.seconds(1), started.duration(to: clock.now) * 2)
        var pauses: [Duration] = []
        for round in 1...3 {
            try await server.perform(["do": "post", "text": .string("post \(round)")])
            let pid = try await server.childPID()
            kill(pid, SIGKILL)
            let start = clock.now
            // The supervisor holds the socket, so the request waits for the next process.
            let stage = try await server.client.send("GET", "/stage").body
            pauses.append(start.duration(to: clock.now))
            #expect(stage["pid"]?.integerValue != Int64(pid))
            #expect(stage["restarts"]?.integerValue == Int64(round))
            #expect(stage["head"]?.integerValue ?? 0 >= Int64(round - 1))
        }
        // A busy machine may delay some of them.
        #expect(pauses.contains { $0 < pauseMax }, "\(pauses), at most \(pauseMax)")
    }

    @Test func `a device's log is shown by a process that outlives the server`() async throws {
        let server = try await ServerProgram.start()
        try await server.perform(["do": "post", "text": "Hello"])
        let first = try await server.client.send("GET", "/r/mia/log?intent=1")
        let address = try #require(first.location)
        #expect(first.status == 303)
        #expect(address.hasPrefix("http://127.0.0.1:") && address.hasSuffix("#tab=intent&story=1"))
        let port = try #require(URL(string: address)?.port.flatMap(UInt16.init))
        let inspector = JSONClient(port: port)
        #expect(try await inspector.send("GET", "/").status == 401)
        // The file with the address has its secret.
        let file = server.data.url.appending(path: "inspector-mia").path
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        kill(try await server.childPID(), SIGKILL)
        let second = try await server.client.send("GET", "/r/mia/log")
        #expect(second.location == address.split(separator: "#").first.map(String.init))
        #expect(server.end(by: .input) == 0)
        #expect((try? await inspector.send("GET", "/")) == nil)
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func `a removal of the logs that was cut off goes on`() async throws {
        let server = try await ServerProgram.start()
        let head = try await server.head()
        try await server.perform(["do": "post", "text": "Hello"])
        let data = server.data.url
        try Data().write(to: Child.removalFile(in: data))
        try FileManager.default.removeItem(at: data.appending(path: "replica-mia"))
        kill(try await server.childPID(), SIGKILL)
        // An authority with the old verdict on mia's first intent would not accept another one.
        let posted = try await server.client.send(
            "POST", "/r/mia/do", ["do": "post", "text": "First"])
        #expect(posted.body["number"] == 1)
        #expect(try await server.head() == head + 1)
        #expect(!FileManager.default.fileExists(atPath: Child.removalFile(in: data).path))
    }

    @Test func `starting again leaves nothing of before`() async throws {
        let server = try await ServerProgram.start()
        let head = try await server.head()
        try await server.perform(["do": "post", "text": "Hello"])
        _ = try await server.client.send("GET", "/r/mia/log")
        _ = try await server.client.send("POST", "/stage", ["do": "hold"])
        _ = try? await server.client.send("POST", "/stage", ["do": "startAgain"])
        var stage = JSON.null
        // The process ends shortly after its answer.
        while stage["restarts"] != 1 {
            stage = (try? await server.client.send("GET", "/stage").body) ?? .null
        }
        #expect(stage["head"]?.integerValue == head && stage["holding"] == false)
        let posted = try await server.client.send(
            "POST", "/r/mia/do", ["do": "post", "text": "First"])
        #expect(posted.body["number"] == 1)
    }

    @Test(arguments: [ServerProgram.Ending.input, .signal(SIGTERM), .signal(SIGINT)])
    func `the end of the input or a signal ends both processes`(
        _ ending: ServerProgram.Ending
    ) async throws {
        let server = try await ServerProgram.start()
        let pid = try await server.childPID()
        #expect(server.end(by: ending) == 0)
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
        await #expect(throws: ConnectionError.self) {
            try await server.client.send("GET", "/stage")
        }
    }

    @Test func `the child and a log's page end with a supervisor that is killed`() async throws {
        let server = try await ServerProgram.start()
        let address = try await server.client.send("GET", "/r/mia/log").location
        let port = try #require(address.flatMap { URL(string: $0)?.port }.flatMap(UInt16.init))
        #expect(server.end(by: .signal(SIGKILL)) == SIGKILL)
        // They still accept connections until they have noticed.
        for client in [server.client, JSONClient(port: port)] {
            while (try? await client.send("GET", "/stage")) != nil { await Task.yield() }
        }
    }

    @Test func `a taken port is an error at once, and not a question of usage`() async throws {
        let server = try await ServerProgram.start()
        let other = try ServerProgram(["--port", "\(server.port)"])
        #expect(other.waitUntilExit() == 1)
        #expect(
            other.lines == ["Error: port \(server.port) cannot be used: Address already in use"])
    }

    @Test func `a second server on the same files ends at once`() async throws {
        let server = try await ServerProgram.start()
        let other = try ServerProgram(["--port", "0", "--data", server.data.url.path])
        #expect(other.waitUntilExit() == 1)
        let lines = other.lines
        #expect(
            lines.count == 1 && lines[0].contains(server.data.url.lastPathComponent), "\(lines)")
    }

    @Test(arguments: ["seed", "authority", "mia,mia", "é", ""])
    func `a name that a device cannot have is an error of usage`(_ names: String) throws {
        let server = try ServerProgram(["--port", "0", "--replicas", names])
        #expect(server.waitUntilExit() == 64)
    }

    @Test func `the server goes on if nobody reads its output`() async throws {
        let port = try ListeningSocket.freePort()
        let server = try ServerProgram(["--port", "\(port)"], readsOutput: false)
        let client = JSONClient(port: port)
        while server.isRunning, (try? await client.send("GET", "/stage")) == nil {
            await Task.yield()
        }
        #expect(server.isRunning)
    }

    @Test func `without a directory, the files end with the server`() async throws {
        let server = try await ServerProgram.start(hasData: false)
        let files = { try FileManager.default.contentsOfDirectory(atPath: server.data.url.path) }
        let names = try files()
        #expect(names.count == 1 && names.allSatisfy { $0.hasPrefix("feed-web-") })
        #expect(server.end(by: .signal(SIGTERM)) == 0)
        #expect(try files() == [])
    }

    @Test(
        .enabled(
            if: Strace.isThere,
            "strace is not installed, or may not trace: apt-get install strace"))
    func `a decision is flushed before anybody sees it`() async throws {
        let trace = try Folder()
        let file = trace.url.appending(path: "trace")
        let server = try await ServerProgram.start(tracingTo: file)
        let before = try await server.head()
        try await server.perform(["do": "post", "text": "Hello"])
        let head = try await server.head()
        #expect(head == before + 1)
        #expect(server.end(by: .input) == 0)
        let calls = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let shown = try #require(calls.firstIndex { $0.contains("head\\\":\(head),") })
        let asked = try #require(calls.firstIndex { $0.contains("\\\"Hello\\\"") })
        // A relaxed log writes the same bytes, and flushes none of them.
        let isFlushed = calls[asked..<shown].contains { line in
            line.contains("fdatasync(") && line.contains("/authority/data.mdb>")
        }
        #expect(isFlushed, "\(calls[asked...shown].joined(separator: "\n"))")
    }
}

extension ListeningSocket {
    /// Returns a port that nobody listens on now.
    fileprivate static func freePort() throws -> UInt16 {
        let socket = try ListeningSocket(0)
        defer { close(socket.file) }
        return socket.port
    }
}
