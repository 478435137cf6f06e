import Foldback
import FoldbackHTTP
import FoldbackSync
import Foundation
import Synchronization
import TestSupport
import Testing

/// Answers requests from a list, and keeps them.
private final class ScriptedTransport: HTTPTransport {
    private let state: Mutex<(answers: [ClientResponse], requests: [ClientRequest])>

    init(_ answers: [ClientResponse]) { state = Mutex((answers, [])) }

    var requests: [ClientRequest] { state.withLock { $0.requests } }

    func send(_ request: ClientRequest) async throws(AuthorityFailure) -> ClientResponse {
        state.withLock { state in
            state.requests.append(request)
            return state.answers.removeFirst()
        }
    }
}

/// Question: does the client send what the interface says, and what does it make of each answer?
@Suite struct HTTPAuthorityTests {
    private static let device = SyncPoint(
        lineage: Lineage("first+1 &"), through: 90, digest: RunningDigest("5f0c"))

    private static func answer(
        _ status: Int, _ body: String, type: String = "application/problem+json",
        headers: [String: String] = [:]
    ) -> ClientResponse {
        ClientResponse(
            status: status, headers: headers.merging(["Content-Type": type]) { $1 },
            body: Array(body.utf8))
    }

    private static let page = answer(
        200, #"{"events":[],"through":95,"more":false}"#, type: "application/json; charset=utf-8")

    private func client(_ transport: ScriptedTransport) -> HTTPAuthority<Move> {
        HTTPAuthority(
            URL(string: "https://sync.example.com/app")!, space: "main", token: "t",
            transport: transport)
    }

    private func intents(_ count: UInt64) throws -> [Submission<Move>] {
        try (1...count).map { number in
            let event = Move.set("a", Int(number))
            return Submission(
                id: IntentID(replica: try #require(ReplicaID("r")), number: IntentNumber(number)),
                event: event,
                recorded: RecordedEvent(
                    format: Board.codec.format, bytes: try Board.codec.encode(event)),
                time: Timestamp(millisecondsSince1970: 0), info: [:])
        }
    }

    @Test func `a request of changes names everything that the device knows`() async throws {
        let transport = ScriptedTransport([Self.page, Self.page, Self.page, Self.page])
        let client = client(transport)
        #expect(try await client.changes(after: Self.device).through == 95)
        let first = SyncPoint(lineage: nil, through: 0)
        _ = try await client.changes(after: first, waiting: .milliseconds(10))
        _ = try await client.changes(after: first, waiting: .seconds(25))
        _ = try await client.changes(after: first, waiting: .seconds(3_600))
        let base = "https://sync.example.com/app/v1/spaces/main/changes"
        #expect(
            transport.requests.map(\.url.absoluteString) == [
                "\(base)?after=90&lineage=first%2B1%20%26&digest=5f0c", "\(base)?after=0&wait=1",
                "\(base)?after=0&wait=25", "\(base)?after=0&wait=55",
            ])
        #expect(
            transport.requests.map(\.limit) == [
                .seconds(60), .milliseconds(60_010), .seconds(85), .seconds(115),
            ])
        let request = try #require(transport.requests.first)
        #expect(request.method == "GET" && request.headers["Authorization"] == "Bearer t")
    }

    @Test func `a request with intents has their bytes`() async throws {
        let verdicts = #"{"verdicts":[{"number":1,"accepted":{"position":91}}],"head":91}"#
        let transport = ScriptedTransport([
            Self.answer(200, verdicts, type: "application/json")
        ])
        let intents = try intents(1)
        let answer = try await client(transport).submit(intents, from: Self.device)
        #expect(answer[intents[0].id] == .accepted(position: 91, replacement: nil))
        let request = try #require(transport.requests.first)
        #expect(request.method == "POST" && request.url.path().hasSuffix("/main/intents"))
        #expect(request.headers["Content-Type"] == "application/json")
        #expect(request.body == SubmitRequest(intents, from: Self.device).jsonBytes())
    }

    // MARK: The failure table

    @Test(arguments: [
        (answer(500, ""), AuthorityFailure.failed(reason: "status 500")),
        (answer(502, "<html>", type: "text/html"), .failed(reason: "status 502")),
        (answer(504, "[]"), .failed(reason: "status 504")),
        (answer(404, #"{"title":"Not Found"}"#), .failed(reason: "status 404: Not Found")),
        (answer(418, #"{"detail":"tea"}"#), .failed(reason: "status 418: tea")),
        (answer(400, #"{"code":"bad"}"#), .failed(reason: "status 400")),
        (answer(401, ""), .unauthenticated(reason: "status 401")),
        (answer(408, #"{"detail":"slow"}"#), .unreachable(reason: "status 408: slow")),
        (answer(403, #"{"detail":"no"}"#), .unauthenticated(reason: "status 403: no")),
        (
            answer(429, "", headers: ["Retry-After": "7"]),
            .unavailable(after: .seconds(7), reason: "status 429")
        ),
        (answer(503, ""), .unavailable(after: nil, reason: "status 503")),
        (
            answer(503, "", headers: ["retry-after": "Fri, 27 Nov 2026 03:00:00 GMT"]),
            .unavailable(after: nil, reason: "status 503")
        ),
        (
            answer(503, "", headers: ["retry-after": "-3"]),
            .unavailable(after: .zero, reason: "status 503")
        ),
        (answer(409, #"{"code":"superseded","shared":90}"#), .superseded(shared: 90)),
        (answer(409, #"{"shared":0}"#, type: "application/json"), .superseded(shared: 0)),
        (answer(409, #"{"shared":-1}"#), .failed(reason: "status 409")),
        (answer(409, "conflict", type: "text/plain"), .failed(reason: "status 409")),
        (
            answer(302, "", headers: ["Location": "https://portal.example.com"]),
            .unreachable(reason: "the address leads to https://portal.example.com")
        ),
        (
            answer(200, "<html>Sign in</html>", type: "text/html"),
            .unreachable(reason: "something else than the server answered, without JSON")
        ),
    ])
    func `each status has its failure`(
        answer: ClientResponse, failure: AuthorityFailure
    ) async throws {
        // A refused token is asked for again, and the token here stays the same.
        let intents = try intents(2)
        await #expect(throws: failure) {
            _ = try await client(ScriptedTransport([answer])).submit(intents, from: Self.device)
        }
        await #expect(throws: failure) {
            _ = try await client(ScriptedTransport([answer])).changes(after: Self.device)
        }
    }

    @Test(arguments: ["", "{", "{}", #"{"events":1}"#, "[[[["])
    func `an answer that cannot be read says so`(body: String) async throws {
        let answer = Self.answer(200, body, type: "application/json")
        let intents = try intents(1)
        for isPage in [true, false] {
            do {
                let client = client(ScriptedTransport([answer]))
                if isPage {
                    _ = try await client.changes(after: Self.device)
                } else {
                    _ = try await client.submit(intents, from: Self.device)
                }
                Issue.record("it was read")
            } catch {
                guard case .invalidAnswer = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    // MARK: Rejections

    @Test(arguments: [400, 413, 422])
    func `A4: a coded refusal of one intent is a rejection, and that of several is a failure`(
        status: Int
    ) async throws {
        let body = #"{"code":"too-large","detail":"4 MiB at most"}"#
        let alone = try intents(1)
        let answer = Self.answer(status, body)
        let verdicts = try await client(ScriptedTransport([answer])).submit(
            alone, from: Self.device)
        #expect(
            verdicts[alone[0].id]
                == .rejected(Rejection(code: "too-large", message: "4 MiB at most")))
        // A proxy may have the same limit, and knows nothing of intents.
        let proxy = Self.answer(status, "<html>413</html>", type: "text/html")
        await #expect(throws: AuthorityFailure.failed(reason: "status \(status)")) {
            _ = try await client(ScriptedTransport([proxy])).submit(alone, from: Self.device)
        }
    }

    // MARK: Tokens

    @Test func `a refused token is renewed once for all calls, and a call is repeated once`()
        async throws
    {
        let refused = Mutex<[String?]>([])
        let transport = TokenTransport(valid: "fresh")
        let client = HTTPAuthority<Move>(
            URL(string: "http://localhost")!, space: "main", transport: transport
        ) { old async throws(AuthorityFailure) in
            refused.withLock { $0.append(old) }
            try? await Task.sleep(for: .milliseconds(20))
            return old == nil ? "old" : "fresh"
        }
        try await withThrowingTaskGroup { group in
            for _ in 1...20 {
                group.addTask { try await client.changes(after: Self.device) }
            }
            try await group.waitForAll()
        }
        #expect(refused.withLock { $0 } == [nil, "old"])
        #expect(transport.refusedCount == 20)
        transport.expire()
        await #expect(throws: AuthorityFailure.unauthenticated(reason: "status 401")) {
            _ = try await client.changes(after: Self.device)
        }
        #expect(refused.withLock { $0 } == [nil, "old", "fresh"])
    }

    @Test func `a failed renewal keeps the old token, and names it again`() async throws {
        let refused = Mutex<[String?]>([])
        let client = HTTPAuthority<Move>(
            URL(string: "http://localhost")!, space: "main",
            transport: TokenTransport(valid: "fresh")
        ) { old async throws(AuthorityFailure) in
            let count = refused.withLock { refused in
                refused.append(old)
                return refused.count
            }
            if count == 1 { return "old" }
            if count == 2 { throw .unreachable(reason: "no network") }
            return old == "old" ? "fresh" : "old"
        }
        await #expect(throws: AuthorityFailure.unreachable(reason: "no network")) {
            _ = try await client.changes(after: Self.device)
        }
        _ = try await client.changes(after: Self.device)
        #expect(refused.withLock { $0 } == [nil, "old", "old"])
    }

    @Test func `a token that never comes ends the call, and the next call asks again`()
        async throws
    {
        let state = Mutex<(count: Int, held: CheckedContinuation<Void, Never>?)>((0, nil))
        let client = HTTPAuthority<Move>(
            URL(string: "http://localhost")!, space: "main",
            limits: ClientLimits(call: .milliseconds(50)), transport: TokenTransport(valid: "t")
        ) { _ async throws(AuthorityFailure) in
            let isFirst = state.withLock { state in
                state.count += 1
                return state.count == 1
            }
            // It does not notice a cancellation.
            if isFirst {
                await withCheckedContinuation { continuation in
                    state.withLock { $0.held = continuation }
                }
            }
            return isFirst ? "stale" : "t"
        }
        do {
            _ = try await client.changes(after: Self.device)
            Issue.record("there was a token")
        } catch { #expect("\(error)".contains("no answer within")) }
        var answer: Changes<Move>?
        while answer == nil { answer = try? await client.changes(after: Self.device) }
        // What comes late does not replace the newer token.
        state.withLock { $0.held?.resume() }
        for _ in 0..<1_000 { await Task.yield() }
        _ = try await client.changes(after: Self.device)
        #expect(state.withLock { $0.count } == 2)
    }

    @Test func `a token that cannot be had is asked for again by the next call`() async throws {
        let count = Mutex(0)
        let transport = TokenTransport(valid: "t")
        let client = HTTPAuthority<Move>(
            URL(string: "http://localhost")!, space: "main", transport: transport
        ) { _ async throws(AuthorityFailure) in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { throw .unreachable(reason: "no network") }
            return "t"
        }
        await #expect(throws: AuthorityFailure.unreachable(reason: "no network")) {
            _ = try await client.changes(after: Self.device)
        }
        _ = try await client.changes(after: Self.device)
    }
}

/// A server with one valid token.
private final class TokenTransport: HTTPTransport {
    private let state: Mutex<(valid: String?, refusedCount: Int)>

    init(valid: String) { state = Mutex((valid, 0)) }

    var refusedCount: Int { state.withLock { $0.refusedCount } }

    func expire() { state.withLock { $0.valid = nil } }

    func send(_ request: ClientRequest) async throws(AuthorityFailure) -> ClientResponse {
        state.withLock { state in
            guard let valid = state.valid, request.headers["Authorization"] == "Bearer \(valid)"
            else {
                state.refusedCount += 1
                return ClientResponse(status: 401)
            }
            return ClientResponse(
                status: 200, headers: ["Content-Type": "application/json"],
                body: Array(#"{"events":[],"through":0,"more":false}"#.utf8))
        }
    }
}
