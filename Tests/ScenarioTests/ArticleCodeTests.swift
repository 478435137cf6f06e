import Foldback
import FoldbackHistory
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Stands for an app's HTTP client.
struct LikesClient: Sendable {
    let server: InProcessAuthority<Likes>

    func post(
        _ intents: [Submission<Likes.Event>], _ device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Likes.Event> {
        try await server.submit(intents, from: device)
    }

    func get(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Likes.Event> {
        try await server.changes(after: device)
    }
}

// Article FoldbackSync begins
struct LikesServer: Authority {
    let client: LikesClient  // your HTTP client

    func submit(
        _ intents: [Submission<Likes.Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Likes.Event> {
        try await client.post(intents, device)
    }

    func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Likes.Event> {
        try await client.get(after: device)
    }
}

func sync(_ store: Store<Likes>, with server: LikesServer) async throws {
    let sync = Sync(store, with: server, policy: .ordered)
    let running = Task { try await sync.run() }  // until the task is canceled
    sync.tell(.wentOnline)
    print(try await sync.fetch())  // caughtUp(through: 7)
    print(sync.status.message)  // Everything is saved on the server.
    running.cancel()
    try await running.value
}
// Article FoldbackSync ends

// Article FoldbackHistory begins
func explain(_ directory: URL) async throws {
    let reader = try LogReader(at: directory)
    for cause in try reader.causes(of: JSONPointer(["counts", "42"]), in: Likes.self) {
        print(cause.entry.sequence, cause.view.new ?? "absent")
    }
    let history = try reader.history().read(by: Likes.codec)
    let small = try await history.minimized(candidatesMax: 5_000) {
        try $0.snapshot(of: Likes.self).view.counts["42", default: 0] < 0
    }
    print(small.history.ndjson)
}
// Article FoldbackHistory ends

/// Proves that the code on the pages of the products compiles, runs, and is the same text.
@Suite struct ArticleCodeTests {
    @Test func `the example of FoldbackSync sends and fetches`() async throws {
        let store = Store.inMemory(Likes.self, confirmedBy: .downlink)
        let server = InProcessAuthority(Likes.self)
        try await sync(store, with: LikesServer(client: LikesClient(server: server)))
        await store.close()
    }

    @Test func `the example of FoldbackHistory explains a log`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Store.open(
            at: directory.log, Likes.self, confirmedBy: .acknowledgement, durability: .durable)
        _ = try await store.record(.unliked(post: "42"))
        await store.close()
        try await explain(directory.log)
    }

    /// CrashTests run the example.
    @Test func `the article about syncing shows code of the example app`() throws {
        let code = try ArticleCode(of: "Sources/FoldbackSync/FoldbackSync.docc/SyncAnApp.md")
        #expect(code.blocks.count >= 5)
        #expect(try code.missing(in: "Tools/Examples/shopping-list/ShoppingList.swift") == [])
    }

    @Test(arguments: ["FoldbackSync", "FoldbackHistory"])
    func `an article shows the code that this file runs`(_ module: String) throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let code = try #require(
            String(contentsOf: here, encoding: .utf8)
                .components(separatedBy: "// Article \(module) begins\n").dropFirst().first?
                .components(separatedBy: "// Article \(module) ends").first)
        let article = try String(
            contentsOf: root.appending(path: "Sources/\(module)/\(module).docc/\(module).md"),
            encoding: .utf8)
        #expect(article.contains("```swift\n\(code)```\n"))
    }
}
