import Foldback
import FoldbackHTTP
import FoldbackServer
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Calls a handler in place of a server, so that the bodies are bytes on the way.
struct HandlerTransport: HTTPTransport {
    let handler: Handler<Move>

    func send(_ request: ClientRequest) async throws(AuthorityFailure) -> ClientResponse {
        let authorization = request.headers["Authorization"] ?? ""
        let response = await handler.respond(
            to: ServerRequest(
                method: request.method, path: request.url.path(percentEncoded: true),
                query: request.url.query(percentEncoded: true) ?? "",
                bearer: String(authorization.trimmingPrefix("Bearer ")), body: request.body))
        return ClientResponse(
            status: response.status, headers: response.headers, body: response.body)
    }
}

/// Question: does the handler keep the contract on the wire, and answer every bad request?
@Suite struct HandlerTests {
    private let directory = TemporaryDirectory()
    private let spaces: Spaces<BoardRules>

    init() {
        spaces = Spaces(in: directory.url, rules: BoardRules(refused: ["cem"]))
    }

    private var handler: Handler<Move> {
        Handler(spaces) { bearer in bearer.flatMap(Account.init) }
    }

    private func client(of handler: Handler<Move>) -> HTTPAuthority<Move> {
        HTTPAuthority(
            URL(string: "http://localhost")!, space: "main", token: "ann",
            transport: HandlerTransport(handler: handler))
    }

    @Test func `a space and an authority in memory pass the suite through the handler`() async {
        let memory = CheckAuthorityTests.memory()
        let other = Handler(codec: Board.codec) { _ in
            .ann
        } authority: { _, _ in
            memory
        }
        for (handler, skipped) in [(handler, 0), (other, 1)] {
            let report = await checkAuthority(
                client(of: handler), samples: CheckAuthorityTests.samples, seed: 1)
            #expect(report.isClean && report.passed.count == 19 - skipped, "\(report)")
            #expect(report.skipped.count == skipped)
        }
        await spaces.close()
    }

    @Test func `an outbox and a downlink work through the handler`() async throws {
        let client = client(of: handler)
        let store = Store.inMemory(Board.self, confirmedBy: .downlink)
        for number in 1...3 { _ = try await store.record(.set("a", number)) }
        let outbox = Outbox(store, to: client, policy: .ordered)
        let sending = Task { try await outbox.run() }
        while store.status.pendingCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
        sending.cancel()
        try await sending.value
        _ = try await Downlink(store, from: client, policy: .ordered).fetch()
        #expect(store.overlay.isEmpty && store.confirmed.cells == ["a": 3])
        await spaces.close()
    }

    @Test(arguments: [false, true])
    func `N13: an intent that the server cannot read is postponed, and ends its lane`(
        hasLanes: Bool
    ) async throws {
        let unread = RecordedEvent(format: EventFormat(codec: 200, version: 1), bytes: [1])
        // Intent 3 is in the lane of intent 2.
        let lanes = hasLanes ? [0, 1, 1, 2] : [nil, nil, nil, nil]
        let intents = lanes.enumerated().map { index, lane in
            let intent = sent(UInt64(index + 1), .set("key \(index)", 1))
            return Submission(
                id: intent.id, event: intent.recorded,
                recorded: index == 1 ? unread : intent.recorded, time: intent.time, info: [:],
                lane: lane)
        }
        let request = SubmitRequest(intents, from: SyncPoint(lineage: nil, through: 0))
        let response = await handler.respond(
            to: ServerRequest(
                method: "POST", path: "/v1/spaces/main/intents", bearer: "ann",
                body: request.jsonBytes()))
        let answer = try Verdicts<Move>(jsonBytes: response.body, answering: nil)
        #expect(answer[id(1)] == .accepted(position: 2, replacement: nil))
        #expect(
            answer[id(2)]
                == .later(after: .seconds(3_600), reason: "the server is older than the app"))
        #expect(Set(answer.byIntent.keys) == Set((hasLanes ? [1, 2, 4] : [1, 2]).map { id($0) }))
        await spaces.close()
    }

    private static let twice = #"{"number":1,"format":[200,3],"bytes":"cyBhIDE="}"#

    @Test(arguments: [
        ("GET", "/v1/spaces/main/intents", "ann", "", 405),
        ("POST", "/v1/spaces/main/changes", "ann", "", 405),
        ("GET", "/v1/spaces/../changes", "ann", "", 404),
        ("GET", "/v1/spaces/%2e%2e/changes", "ann", "", 404),
        ("GET", "/v1/spaces/.hidden/changes", "ann", "", 404),
        ("GET", "/v1/spaces//changes", "ann", "", 404), ("GET", "/", "ann", "", 404),
        ("GET", "", "ann", "", 404), ("GET", "/v1/spaces/main/changes/", "ann", "", 404),
        ("GET", "/v1/spaces/main/changes", "", "", 401),
        ("GET", "/v1/spaces/main/changes", "cem", "", 403),
        ("POST", "/v1/spaces/main/intents", "ann", "", 400),
        ("POST", "/v1/spaces/main/intents", "ann", "{}", 400),
        ("POST", "/v1/spaces/main/intents", "ann", "{\"through\":-1,\"intents\":[]}", 400),
        ("POST", "/v1/spaces/main/intents", "ann", "[[[[", 400),
        (
            "POST", "/v1/spaces/main/intents", "ann",
            String(repeating: "[", count: 200_000), 400
        ),
        (
            "POST", "/v1/spaces/main/intents", "ann",
            "{\"through\":0,\"through\":0,\"intents\":[]}", 400
        ),
        (
            "POST", "/v1/spaces/main/intents", "ann",
            #"{"replica":"a","through":0,"intents":[\#(twice),\#(twice)]}"#, 400
        ),
        (
            "POST", "/v1/spaces/main/intents", "ann",
            #"{"replica":"a\u0000","through":0,"intents":[\#(twice)]}"#, 400
        ),
        ("POST", "/v1/spaces/main/intents", "ann", String(repeating: " ", count: 4 << 20 | 1), 413),
    ])
    func `a bad request gets a problem document`(
        method: String, path: String, bearer: String, body: String, status: Int
    ) async throws {
        let response = await handler.respond(
            to: ServerRequest(
                method: method, path: path, bearer: bearer.isEmpty ? nil : bearer,
                body: Array(body.utf8)))
        #expect(response.status == status)
        #expect(response.headers["Content-Type"] == "application/problem+json")
        let problem = try JSON(parsing: response.body)
        #expect(problem["status"] == .integer(Int64(status)) && problem["detail"] != nil)
        await spaces.close()
    }

    @Test(arguments: [
        "after=-1", "after=x", "after=+1", "wait=1.5", "wait=x", "lineage=", "digest=",
        "digest=\(String(repeating: "5", count: 256))", "after=1&after=1", "after=%zz",
        "lineage=%ff", "after", "after=18446744073709551616",
    ])
    func `a request of changes with a wrong query is refused`(query: String) async {
        let response = await handler.respond(
            to: ServerRequest(
                method: "GET", path: "/v1/spaces/main/changes", query: query, bearer: "ann"))
        #expect(response.status == 400)
        await spaces.close()
    }

    @Test func `a client does not get the reason of a failure, and the server's log does`()
        async throws
    {
        let reports = Mutex<[AuthorityFailure]>([])
        let failures: [(AuthorityFailure, Int)] = [
            (.failed(reason: "/srv/secret"), 500),
            (.unavailable(after: .milliseconds(1_500), reason: "/srv/secret"), 503),
            (.unreachable(reason: "/srv/secret"), 503),
            (.invalidAnswer(reason: "/srv/secret"), 502),
        ]
        for (failure, status) in failures {
            let stub = StubAuthority<Move>([.fail(failure)])
            let handler = Handler(
                codec: Board.codec, authenticate: { _ in .ann },
                report: { failure in reports.withLock { $0.append(failure) } },
                authority: { _, _ in stub })
            let request = SubmitRequest(
                [sent(1, .set("a", 1))], from: SyncPoint(lineage: nil, through: 0))
            let response = await handler.respond(
                to: ServerRequest(
                    method: "POST", path: "/v1/spaces/main/intents", body: request.jsonBytes()))
            #expect(response.status == status)
            #expect(!String(decoding: response.body, as: UTF8.self).contains("secret"))
            if case .unavailable = failure { #expect(response.headers["Retry-After"] == "2") }
        }
        #expect(reports.withLock { $0 } == failures.map(\.0))
        await spaces.close()
    }
}
