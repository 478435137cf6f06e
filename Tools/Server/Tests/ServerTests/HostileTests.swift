import Foldback
import FoldbackServer
import Foundation
import Processes
import Testing

@testable import Serving

/// Question: what does a client get that sends something else than requests?
///
/// The last line of most tests asks the server for a page: it must still serve.
@Suite(.serialized) struct HostileTests {
    private let server: TestServer
    private let token: String
    private let folder: Folder

    init() async throws {
        folder = try Folder()
        server = try await TestServer.start(
            in: folder, environment: ["FOLDBACK_ACCESS": "own"])
        token = try await TestServer.token("ann", in: folder)
    }

    private static let path = "/v1/spaces/ann/changes"

    /// Sends text on a connection of its own, and returns the answer; nil if the connection just ends.
    private func answer(to text: String) async throws -> RawAnswer? {
        try await ServerTests.answer(of: server.port, text)
    }

    private func requireServing() async throws {
        let answer = try await answer(to: requestText("GET", Self.path, token: token))
        #expect(answer?.status == 200)
    }

    private func post(_ body: String, _ headers: [String] = []) async throws -> RawAnswer? {
        try await answer(
            to: requestText(
                "POST", "/v1/spaces/ann/intents", token: token, headers: headers, body: body))
    }

    // MARK: Paths and names

    @Test(arguments: [
        "/v1/spaces/../ann/changes", "/v1/spaces/ann/../ann/changes",
        "/v1/spaces/..%2fann/changes", "/v1/spaces/%2e%2e/changes", "/v1/spaces/ann%2fx/changes",
        "/v1/spaces/ann%00/changes", "/v1/spaces//changes", "//v1/spaces/ann/changes",
        "/v1/spaces/ann/changes/", "/v1/spaces/.hidden/changes", "/v1/spaces/ann/other", "/", "*",
        "/etc/passwd", "/v1/spaces/%C3%A4/changes", "/health/ready", "/metrics",
    ])
    func `a path of something else is not found`(path: String) async throws {
        let answer = try await answer(to: requestText("GET", path, token: token))
        #expect([404, 400].contains(answer?.status))
        try await requireServing()
    }

    /// A server must take this form (RFC 9112), and only the path counts.
    @Test func `an absolute address leads nowhere else`() async throws {
        let answer = try await answer(
            to: requestText("GET", "http://other.example\(Self.path)", token: token))
        #expect(answer?.status == 200)
        try await requireServing()
    }

    @Test(arguments: [
        "after=-1", "after=1.5", "after=+1", "after=18446744073709551616", "wait=x", "after=%zz",
        "after=1&after=2", "lineage=", "after=0&digest=",
    ])
    func `a query that cannot be read is refused`(query: String) async throws {
        let answer = try await answer(
            to: requestText("GET", "\(Self.path)?\(query)", token: token))
        #expect(answer?.status == 400)
        #expect(answer?.head.contains("application/problem+json") == true)
        try await requireServing()
    }

    /// N10: nobody learns which spaces and replicas there are.
    @Test func `a foreign space answers as an unknown one`() async throws {
        let foreign = try await answer(
            to: requestText("GET", "/v1/spaces/bob/changes", token: token))
        let unknown = try await answer(
            to: requestText("GET", "/v1/spaces/nobody/changes", token: token))
        #expect(foreign?.status == 403)
        #expect(foreign?.body == unknown?.body)
        try await requireServing()
    }

    @Test(arguments: ["/v1/spaces/ann/changes", "/v1/spaces/ann/intents", "/nothing"])
    func `HEAD gets an answer without a body`(path: String) async throws {
        let (port, token) = (server.port, token)
        let bytes = try await onOwnThread {
            let connection = try RawConnection(port)
            connection.send(requestText("HEAD", path, token: token))
            var all = connection.read()
            while case let more = connection.read(), !more.isEmpty { all += more }
            return all
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 4") && text.hasSuffix("\r\n\r\n"), "\(text)")
        try await requireServing()
    }

    @Test func `a body without a token is not read`() async throws {
        let answer = try await answer(
            to: requestText(
                "POST", "/v1/spaces/ann/intents", headers: ["Content-Length: 4000000"]))
        #expect(answer?.status == 401)
        try await requireServing()
    }

    @Test func `a poll with an encoded name is a poll`() async throws {
        let (port, token) = (server.port, token)
        let connection = try await onOwnThread {
            let connection = try RawConnection(port)
            connection.send(requestText("GET", "\(Self.path)?w%61it=55", token: token))
            return connection
        }
        try await requirePolls(1)
        connection.endSending()
        try await requirePolls(0)
    }

    /// N10: a replica belongs to the first account that used it.
    @Test func `a foreign replica answers as an unknown space`() async throws {
        let folder = try Folder()
        let server = try await TestServer.start(in: folder)
        let body = #"{"replica":"r","through":0,"intents":[\#(Self.intent)]}"#
        var answers: [RawAnswer?] = []
        for account in ["ann", "bob", "ann"] {
            let token = try await TestServer.token(account, in: folder)
            answers.append(
                try await ServerTests.answer(
                    of: server.port,
                    requestText("POST", "/v1/spaces/main/intents", token: token, body: body)))
        }
        #expect(answers.map { $0?.status } == [200, 403, 200])
        #expect(answers[0]?.body == answers[2]?.body)
        let unknown = try await answer(
            to: requestText("GET", "/v1/spaces/nobody/changes", token: token))
        #expect(answers[1]?.body == unknown?.body)
    }

    /// N8: a poll ends with its wait, and access is asked again for the next one.
    @Test func `a token that expires during a poll ends with the poll`() async throws {
        let key = try OwnKey(in: folder.url)
        let tokens = await Tokens(secret: key.bytes, audience: "foldback")
        let brief = try await tokens.token(
            of: try #require(Account("ann")), until: .inSeconds(2))
        let poll = requestText("GET", "\(Self.path)?wait=4", token: brief)
        #expect(try await answer(to: poll)?.status == 200)
        #expect(try await answer(to: poll)?.status == 401)
        try await requireServing()
    }

    // MARK: Bodies

    private static let intent =
        #"{"number":1,"format":[1,1],"event":{"op":"set","key":"a","value":1},"time":0}"#

    @Test(arguments: [
        "", "{", "[]", "null", "\u{0}", "{}", #"{"replica":1,"through":0,"intents":[]}"#,
        #"{"replica":"r","replica":"r","through":0,"intents":[]}"#,
        #"{"replica":"r","through":0,"through":1,"intents":[]}"#,
        #"{"replica":"r","through":0,"intents":[\#(intent),\#(intent)]}"#,
        #"{"replica":"r","through":1e999,"intents":[]}"#,
        #"{"replica":"\ud800","through":0,"intents":[]}"#,
        #"{"replica":"","through":0,"intents":[\#(intent)]}"#,
    ])
    func `a body that cannot be read as a request is refused`(body: String) async throws {
        let answer = try await post(body)
        #expect(answer?.status == 400)
        #expect(answer?.head.contains("application/problem+json") == true)
        try await requireServing()
    }

    @Test func `deep JSON is refused`() async throws {
        let depth = 500_000
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let body = #"{"replica":"r","through":0,"intents":[{"number":1,"event":\#(deep)}]}"#
        #expect(try await post(body)?.status == 400)
        #expect(try await post(String(repeating: #"{"a":"#, count: 200_000))?.status == 400)
        try await requireServing()
    }

    /// The deepest event that an app can record is decided, and its effect comes back to its author.
    @Test(arguments: [500, 504, 506]) func `a deep event comes back`(depth: Int) async throws {
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let event = #"{"op":"set","key":"deep","value":\#(deep)}"#
        let intent = #"{"number":1,"format":[1,1],"event":\#(event),"time":0}"#
        let answer = try await post(
            #"{"replica":"deep\#(depth)","through":0,"intents":[\#(intent)]}"#)
        #expect(answer?.status == 200)
        #expect(answer?.body.contains("accepted") == true)
        let page = try await self.answer(to: requestText("GET", Self.path, token: token))
        _ = try JSON(parsing: #require(page?.body))
    }

    @Test func `a large body is refused before it is read`() async throws {
        let answer = try await answer(
            to: requestText(
                "POST", "/v1/spaces/ann/intents", token: token,
                headers: ["Content-Length: 9223372036854775807"]))
        #expect(answer?.status == 413)
        try await requireServing()
    }

    @Test func `a large body in pieces is refused, and the rest is not read for long`() async throws
    {
        let (port, token) = (server.port, token)
        let (answer, sent) = try await onOwnThread {
            let connection = try RawConnection(port)
            connection.send(
                requestText(
                    "POST", "/v1/spaces/ann/intents", token: token,
                    headers: ["Transfer-Encoding: chunked"]))
            let piece = Array("10000\r\n\(String(repeating: " ", count: 0x10000))\r\n".utf8)
            var sent = 0
            while sent < 65_536, connection.send(piece) { sent += 1 }
            return (connection.answer(), sent)
        }
        // The answer may be lost, because the server closes while the client sends.
        #expect(answer == nil || answer?.status == 413)
        #expect(sent < 65_536, "4 GiB were read")
        try await requireServing()
    }

    @Test(arguments: [
        "Content-Length: 5\r\nContent-Length: 6", "Content-Length: -1", "Content-Length: x",
        "Transfer-Encoding: chunked\r\nContent-Length: 5", "Transfer-Encoding: gzip",
    ])
    func `lengths that contradict each other are refused`(header: String) async throws {
        let answer = try await answer(
            to: requestText(
                "POST", "/v1/spaces/ann/intents", token: token, headers: [header], body: "{}xyz"))
        #expect(answer == nil || answer?.status == 400)
        try await requireServing()
    }

    // MARK: Slow clients

    @Test(.timeLimit(.minutes(2))) func `a slow body ends, and costs others nothing`()
        async throws
    {
        let (port, token) = (server.port, token)
        async let slow = onOwnThread {
            let connection = try RawConnection(port)
            connection.send(
                requestText(
                    "POST", "/v1/spaces/ann/intents", token: token,
                    headers: ["Content-Length: 1000"]))
            var count = 0
            while count < 60, connection.send(" ") {
                count += 1
                Thread.sleep(forTimeInterval: 0.5)
            }
            return (connection.answer(), count)
        }
        try await requireServing()
        let (answer, count) = try await slow
        #expect(answer == nil || answer?.status == 408)
        #expect(35...45 ~= count, "it took \(count / 2) seconds")
    }

    @Test func `endless headers end the connection`() async throws {
        try await requireEnd(
            of: "GET \(Self.path) HTTP/1.1\r\n", then: "X: \(String(repeating: "x", count: 80))\r\n"
        )
    }

    @Test func `an endless line ends the connection`() async throws {
        try await requireEnd(of: "GET /", then: String(repeating: "x", count: 1 << 16))
    }

    /// Requires that a request without an end ends its connection. After its error, the server drops
    /// what comes, and closes after a second. How much that is depends on the machine.
    private func requireEnd(of start: String, then piece: String) async throws {
        let port = server.port
        let isEnded = try await onOwnThread {
            let connection = try RawConnection(port)
            connection.send(start)
            let end = ContinuousClock.now + .seconds(30)
            while ContinuousClock.now < end {
                if !connection.send(piece) { return true }
            }
            return false
        }
        #expect(isEnded, "the connection was open for 30 seconds")
        try await requireServing()
    }

    @Test(arguments: [
        "\u{16}\u{3}\u{1}", "GET /ä HTTP/1.1", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\r\n\r\n\r\n",
    ])
    func `another protocol ends the connection`(text: String) async throws {
        let port = server.port
        let bytes = try await onOwnThread {
            let connection = try RawConnection(port)
            connection.send(text + "\r\n\r\n")
            connection.endSending()
            return connection.read()
        }
        #expect(bytes.isEmpty || String(decoding: bytes, as: UTF8.self).contains(" 400 "))
        try await requireServing()
    }

    @Test func `a client that has sent all and closes its side gets no answer, and holds nothing`()
        async throws
    {
        let text = requestText("GET", "\(Self.path)?after=0&wait=55", token: token)
        let port = server.port
        _ = try await onOwnThread {
            let connection = try RawConnection(port)
            connection.send(text)
            connection.endSending()
            return connection.read()
        }
        try await requireServing()
        try await requirePolls(0)
    }

    private func requirePolls(_ count: Int) async throws {
        for _ in 0..<100 {
            let metrics = try await ServerTests.answer(
                of: try #require(server.admin?.port), requestText("GET", "/metrics"))
            if metrics?.body.contains("foldback_polls_open \(count)\n") == true { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("the server never had \(count) polls")
    }

    // MARK: Readers that do not read

    @Test(.timeLimit(.minutes(3))) func `N11: 200 readers that never read cost less than 64 MiB`()
        async throws
    {
        // Full pages.
        let text = String(repeating: "x", count: 60_000)
        for number in 1...40 {
            let event = #"{"op":"set","key":"k\#(number)","value":"\#(text)"}"#
            let intent = #"{"number":\#(number),"format":[1,1],"event":\#(event),"time":0}"#
            let body = #"{"replica":"large","through":0,"intents":[\#(intent)]}"#
            #expect(try await post(body)?.status == 200)
        }
        try await requireServing()
        let before = try server.memory
        let (port, token) = (server.port, token)
        let readers = try await onOwnThread {
            try (0..<200).map { _ in
                let connection = try RawConnection(port, receiveBuffer: 4_096)
                // They ask again and again, and read nothing.
                for _ in 0..<24 { connection.send(requestText("GET", Self.path, token: token)) }
                return connection
            }
        }
        // The pages fill the buffers of the system. Then nothing more is sent.
        var most = 0
        var isQuiet = false
        while !isQuiet {
            try await Task.sleep(for: .milliseconds(200))
            most = max(most, try server.memory)
            let start = ContinuousClock.now
            let answer = try await answer(to: requestText("GET", Self.path, token: token))
            isQuiet = answer?.status == 200 && start.duration(to: .now) < .milliseconds(300)
        }
        let grown = most - before
        #expect(grown < 64 << 20, "\(grown >> 20) MiB for \(readers.count) readers")
        print("200 readers that never read: \(grown >> 20) MiB")
    }
}
