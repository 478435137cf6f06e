import FlyingFox
import FlyingSocks
import Foundation
import Testing

@testable import feed_web

/// These tests ask whether each request gets the status that a page can act on. An error that came as
/// a success would look like an answer without content.
@MainActor @Suite struct ServerTests {
    @Test(arguments: [
        ("GET", "/nothing", "", 404), ("GET", "/r/nobody/state", "", 404),
        ("POST", "/r/nobody/do", #"{"do":"load"}"#, 404), ("DELETE", "/stage", "", 405),
        ("POST", "/stage", "", 400), ("POST", "/stage", #"{"do":"dance"}"#, 400),
        ("POST", "/stage", #"{"do":"reject"}"#, 400),
        ("POST", "/r/mia/do", #"{"do":"post","text":" "}"#, 400),
        ("POST", "/stage", #"{"do":"release","id":"mia/1"}"#, 200),
        ("POST", "/r/mia/do", #"{"do":"extend","edge":"end"}"#, 200),
        ("GET", "/r/mia/state?scene=archive", "", 200), ("GET", "/r/mia/state", "", 200),
        ("GET", "/", "", 302), ("GET", "/?replica=mia", "", 200), ("GET", "/feed.css", "", 200),
    ])
    func `a request has its status`(
        _ method: String, _ path: String, _ body: String, _ status: Int
    ) async throws {
        try await withWorld(isLoaded: false) { world, _, _ in
            let answer = await Self.answer(world, method, path, Data(body.utf8))
            #expect(answer.statusCode.code == status)
        }
    }

    @Test func `an address without a replica keeps its scene`() async throws {
        try await withWorld(isLoaded: false) { world, _, _ in
            let answer = await Self.answer(world, "GET", "/?scene=waits")
            #expect(answer.headers[.location] == "/?replica=mia&scene=waits")
        }
    }

    @Test func `the answer to an endless body ends the connection`() async throws {
        try await withWorld(isLoaded: false) { world, _, _ in
            let answer = await Self.answer(
                world, "POST", "/stage", Data(count: Gate.bytesReadMax + 1))
            #expect(answer.statusCode.code == 413)
            await #expect(throws: SocketError.self) { try await answer.bodyData }
        }
    }

    @Test func `asking for the state loads nothing`() async throws {
        try await withWorld(isLoaded: false) { world, _, _ in
            _ = await Self.answer(world, "GET", "/r/mia/state")
            let screen = try world.screen("mia")
            #expect(screen.feed == nil)
            _ = await Self.answer(world, "POST", "/r/mia/do", Data(#"{"do":"chart"}"#.utf8))
            #expect(screen.feed != nil)
        }
    }

    @Test func `a failed archive is an error, and works later`() async throws {
        try await withWorld(isLoaded: false) { world, _, folder in
            let file = folder.url.appending(path: "archive")
            try Data("not a log".utf8).write(to: file)
            let failed = await Self.answer(world, "GET", "/r/mia/events?scene=archive")
            #expect(failed.statusCode.code >= 400)
            try FileManager.default.removeItem(at: file)
            let answer = await Self.answer(world, "GET", "/r/mia/events?scene=archive")
            #expect(answer.statusCode.code == 200)
        }
    }

    @Test func `a page that comes back gets the events that it missed`() async throws {
        let hub = Hub(boot: "b", .sample())
        let seen = hub.revision
        hub.show(.sample(signedIn: false), [], WireEdits(), [])
        let texts = await Self.texts(
            hub, after: seen, [{ $0.show(.sample(), [], WireEdits(), []) }, { $0.beat() }])
        #expect(
            texts == [
                "id: b-1\ndata: {\"revision\":\"b-1\",\"signedIn\":false}\n\n",
                "id: b-2\ndata: {\"revision\":\"b-2\",\"signedIn\":true}\n\n", ": connected\n\n",
            ])
    }

    @Test func `a page that missed nothing sees that it is connected`() async throws {
        let hub = Hub(boot: "b", .sample())
        #expect(await Self.texts(hub, after: hub.revision) == [": connected\n\n"])
    }

    /// Returns what a page reads at first, and after each of some changes.
    private nonisolated static func texts(
        _ hub: Hub, after id: String, _ changes: [@MainActor @Sendable (Hub) -> Void] = []
    ) async -> [String] {
        var events = EventStream(hub: hub, lastID: id).makeAsyncIterator()
        var texts = [String(decoding: await events.nextBuffer(suggested: 1) ?? [], as: UTF8.self)]
        for change in changes {
            await change(hub)
            let bytes = await events.nextBuffer(suggested: 1) ?? []
            texts.append(String(decoding: bytes, as: UTF8.self))
        }
        return texts
    }

    private static func answer(
        _ world: World, _ method: String, _ target: String, _ body: Data = Data()
    ) async -> HTTPResponse {
        let parts = URLComponents(string: target)!
        let query = (parts.queryItems ?? []).map {
            HTTPRequest.QueryItem(name: $0.name, value: $0.value ?? "")
        }
        let request = HTTPRequest(
            method: HTTPMethod(method), version: .http11, path: parts.path, query: query,
            headers: [.host: "127.0.0.1:8080", .contentType: "application/json"], body: body)
        return await Server(world: world, gate: Gate(port: 8080)).handleRequest(request)
    }
}
