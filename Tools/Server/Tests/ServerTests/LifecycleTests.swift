import Foundation
import Processes
import Synchronization
import Testing

@testable import Serving

/// Question: how does a server start, stop, and say what is wrong?
@Suite struct LifecycleTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// Starts a server that must not start, and returns what it says.
    private func refusal(
        _ environment: [String: String], _ arguments: [String] = []
    ) async throws -> ProcessEnd {
        let environment = TestServer.environment(folder).merging(environment) { $1 }
        return try await onThread {
            try run(TestServer.command() + arguments, environment: environment, secondsMax: 30)
        }
    }

    private static let body =
        #"{"replica":"r","through":0,"intents":[{"number":1,"format":[1,1],"time":0,"event":{"op":"set","key":"a","value":1}}]}"#

    // MARK: Start

    @Test(arguments: [
        ("FOLDBACK_LISTN", "x", "FOLDBACK_LISTN is not a name of this server"),
        ("FOLDBACK_LISTEN", "8787", "must be an address and a port"),
        ("FOLDBACK_LISTEN", "localhost:99999", "must be an address and a port"),
        ("FOLDBACK_LISTEN", "0.0.0.0:0", "has no TLS"),
        ("FOLDBACK_ADMIN_LISTEN", "[::]:0", "has no TLS"),
        ("FOLDBACK_PLAINTEXT", "yes", "must be \"behind-proxy\""),
        ("FOLDBACK_ACCESS", "some", "\"all\" or \"own\""),
        ("FOLDBACK_AUDIENCE", "", "must not be empty"),
        ("FOLDBACK_CONNECTIONS", "0", "a number from 1"),
        ("FOLDBACK_KEYS", "/none.json", "cannot be read"),
    ])
    func `a wrong name or value in the environment stops the start`(
        name: String, value: String, words: String
    ) async throws {
        let end = try await refusal([name: value])
        #expect(end.status == 1)
        #expect(end.errors.contains(words), "\(end.errors)")
    }

    @Test func `help names everything in the environment`() async throws {
        let end = try await refusal([:], ["--help"])
        #expect(end.status == 0)
        for (name, _, _) in Configuration.names { #expect(end.output.contains(name)) }
    }

    @Test func `a port that is taken is named`() async throws {
        let server = try await TestServer.start(in: folder)
        let end = try await refusal(["FOLDBACK_LISTEN": "127.0.0.1:\(server.port)"])
        #expect(end.status == 1)
        #expect(end.errors.contains("127.0.0.1:\(server.port)"), "\(end.errors)")
    }

    @Test func `a second server on the same data decides nothing`() async throws {
        let first = try await TestServer.start(in: folder)
        let token = try await TestServer.token("ann", in: folder)
        let second = try await TestServer.start(in: folder)
        let text = requestText("POST", "/v1/spaces/main/intents", token: token, body: Self.body)
        #expect(try await answer(of: first.port, text)?.status == 200)
        #expect(try await answer(of: second.port, text)?.status == 503)
        #expect(try await first.stop().status == 0)
        // The second one takes over when it tries again.
        var status: Int? = 503
        for _ in 0..<100 where status == 503 {
            try await Task.sleep(for: .milliseconds(100))
            status = try await answer(of: second.port, text)?.status
        }
        #expect(status == 200)
    }

    // MARK: Keys

    @Test func `the own key is made once, and only its user can read it`() throws {
        let data = folder.url.appending(path: "data", directoryHint: .isDirectory)
        let made = try OwnKey(in: data)
        let read = try OwnKey(in: data)
        #expect(made.isNew && !read.isNew)
        #expect(made.bytes == read.bytes && made.bytes.count == 32)
        let file = data.appending(path: "key")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        #expect(throws: ConfigurationError.self) { try OwnKey(in: data) }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try Data("short".utf8).write(to: file)
        #expect(throws: ConfigurationError.self) { try OwnKey(in: data) }
        #expect(try String(contentsOf: file, encoding: .utf8) == "short")
    }

    // MARK: Health

    @Test func `health and metrics are on a port of their own`() async throws {
        let server = try await TestServer.start(in: folder)
        let admin = try #require(server.admin?.port)
        #expect(try await answer(of: admin, requestText("GET", "/health/live"))?.status == 200)
        #expect(try await answer(of: admin, requestText("GET", "/health/ready"))?.status == 200)
        #expect(try await answer(of: admin, requestText("POST", "/health/ready"))?.status == 405)
        #expect(try await answer(of: admin, requestText("GET", "/other"))?.status == 404)
        _ = try await answer(of: server.port, requestText("GET", "/v1/spaces/main/changes"))
        let metrics = try await answer(of: admin, requestText("GET", "/metrics"))
        #expect(metrics?.body.contains("foldback_requests_total{status=\"401\"} 1\n") == true)
        #expect(try await answer(of: server.port, requestText("GET", "/metrics"))?.status == 404)
    }

    @Test func `a damaged space is named by health, and others are served`() async throws {
        let first = try await TestServer.start(in: folder)
        let token = try await TestServer.token("ann", in: folder)
        func text(_ space: String) -> String {
            requestText("POST", "/v1/spaces/\(space)/intents", token: token, body: Self.body)
        }
        #expect(try await answer(of: first.port, text("bad"))?.status == 200)
        #expect(try await first.stop().status == 0)
        let log = folder.url.appending(path: "spaces/bad/data.mdb")
        let size = try FileManager.default.attributesOfItem(atPath: log.path)[.size] as? Int
        try Data(repeating: 0xFF, count: size ?? 0).write(to: log)
        let second = try await TestServer.start(in: folder)
        #expect(try await answer(of: second.port, text("bad"))?.status == 503)
        #expect(try await answer(of: second.port, text("good"))?.status == 200)
        let admin = try #require(second.admin?.port)
        let ready = try await answer(of: admin, requestText("GET", "/health/ready"))
        #expect(ready?.status == 200)
        #expect(ready?.body.contains(#""bad":"#) == true, "\(ready?.body ?? "")")
        let metrics = try await answer(of: admin, requestText("GET", "/metrics"))
        #expect(metrics?.body.contains("foldback_spaces_failed 1\n") == true)
    }

    // MARK: Stop

    @Test func `SIGTERM ends polls, and the process ends well`() async throws {
        let server = try await TestServer.start(in: folder)
        let token = try await TestServer.token("ann", in: folder)
        let text = requestText("GET", "/v1/spaces/main/changes?wait=55", token: token)
        let polls = (0..<20).map { _ in Task { try await answer(of: server.port, text) } }
        var arePolling = false
        for _ in 0..<200 {
            let metrics = try await answer(
                of:
                    try #require(server.admin?.port), requestText("GET", "/metrics"))
            arePolling = metrics?.body.contains("foldback_polls_open 20\n") == true
            if arePolling { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(arePolling)
        // An idle connection, and one in the middle of its headers, hold nothing up.
        let idle = try RawConnection(server.port)
        idle.send("GET / HTTP/1.1\r\nHost:")
        let (status, time) = try await server.stop()
        #expect(status == 0)
        #expect(time < .seconds(20), "it took \(time)")
        for poll in polls { #expect(try await poll.value?.status == 503) }
        idle.endSending()
    }

    @Test func `each answer that left before the end is in the log, also after two SIGTERMs`()
        async throws
    {
        let server = try await TestServer.start(in: folder)
        let token = try await TestServer.token("ann", in: folder)
        let answered = Mutex(0)
        let port = server.port
        let sending = Task {
            try await onOwnThread {
                let connection = try RawConnection(port)
                while true {
                    let number = answered.withLock { $0 } + 1
                    let body = Self.body.replacing("\"number\":1", with: "\"number\":\(number)")
                    connection.send(
                        requestText("POST", "/v1/spaces/main/intents", token: token, body: body))
                    guard connection.answer()?.body.contains("accepted") == true else { return }
                    answered.withLock { $0 = number }
                }
            }
        }
        while answered.withLock({ $0 }) < 30 { try await Task.sleep(for: .milliseconds(5)) }
        server.process.signal(SIGTERM)
        server.process.signal(SIGTERM)
        #expect(try await server.stop().status == 0)
        try await sending.value
        let last = answered.withLock { $0 }
        let again = try await TestServer.start(in: folder)
        let page = try await answer(
            of: again.port,
            requestText("GET", "/v1/spaces/main/changes?after=\(last - 1)", token: token))
        #expect(
            page?.body.contains(#""origin":{"intent":\#(last),"replica":"r"}"#) == true,
            "\(last): \(page?.body ?? "")")
    }

    @Test func `a running space is backed up`() async throws {
        let server = try await TestServer.start(in: folder)
        let token = try await TestServer.token("ann", in: folder)
        let text = requestText("POST", "/v1/spaces/main/intents", token: token, body: Self.body)
        #expect(try await answer(of: server.port, text)?.status == 200)
        let copy = folder.url.appending(path: "copy").path
        #expect(try await refusal([:], ["backup", "main", copy]).status == 0)
        #expect(FileManager.default.fileExists(atPath: "\(copy)/data.mdb"))
        let missing = try await refusal([:], ["backup", "none", copy])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("none"), "\(missing.errors)")
    }

    @Test(arguments: [true, false])
    func `a backup put back has another lineage, unless it is adopted`(isAdopted: Bool)
        async throws
    {
        let server = try await TestServer.start(in: folder)
        let token = try await TestServer.token("ann", in: folder)
        func lineage(of server: TestServer) async throws -> Substring? {
            let request = requestText("GET", "/v1/spaces/main/changes?after=0", token: token)
            return try await answer(of: server.port, request)?.body
                .firstMatch(of: /"lineage":"([^"]+)"/)?.1
        }
        let first = try #require(try await lineage(of: server))
        let copy = folder.url.appending(path: "copy")
        #expect(try await refusal([:], ["backup", "main", copy.path]).status == 0)
        #expect(try await server.stop().status == 0)
        let place = folder.url.appending(path: "spaces/main")
        try FileManager.default.removeItem(at: place)
        try FileManager.default.moveItem(at: copy, to: place)
        let again = try await TestServer.start(
            "foldback-server", isAdopted ? ["serve", "--adopt"] : [], in: folder)
        #expect((try await lineage(of: again) == first) == isAdopted)
        #expect(try await again.stop().status == 0)
    }
}

/// Question: does a fault that every request meets hide the rest of the server's log?
@Suite struct RepetitionsTests {
    @Test func `a line is written once in ten seconds, and then says how often it was left out`() {
        let (lines, start) = (Repetitions(), ContinuousClock.now)
        #expect(lines.note("full", at: start) == 0)
        for second in 1...9 {
            #expect(lines.note("full", at: start.advanced(by: .seconds(second))) == nil)
        }
        #expect(lines.note("other", at: start.advanced(by: .seconds(9))) == 0)
        #expect(lines.note("full", at: start.advanced(by: .seconds(10))) == 9)
        #expect(lines.note("full", at: start.advanced(by: .seconds(20))) == 0)
    }
}
