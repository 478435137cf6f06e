import Foldback
import Foundation
import TestSupport
import Testing

// README example begins
struct Likes: Projection, Codable {
    enum Event: Codable, Sendable { case liked(post: String), unliked(post: String) }
    private(set) var counts: [String: Int] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .liked(let post): counts[post, default: 0] += 1
        case .unliked(let post): counts[post, default: 0] -= 1
        }
    }
}

func like(in directory: URL) async throws {
    let store = try await Store.open(
        at: directory, Likes.self, confirmedBy: .acknowledgement, durability: .durable)
    let receipt = try await store.record(.liked(post: "42"), once: "like 42")
    print(store.view.counts)  // ["42": 1]: on disk and on screen, offline too
    try await store.reject(receipt.number, message: "not your post")  // the server's answer, later
    print(store.view.counts, store.rejections)  // [:] [1]: nobody wrote undo code
    await store.close()
}
// README example ends

/// The example in the README must compile, run, and be up to date.
@Suite struct ReadmeTests {
    @Test func `the example of the README works`() async throws {
        let directory = TemporaryDirectory()
        try await like(in: directory.log)
        let store = try await Store.open(
            at: directory.log, Likes.self, confirmedBy: .acknowledgement, durability: .durable)
        #expect(store.view.counts == [:])
        #expect(store.rejections == [1])
        #expect(try store.intent(1).rejection?.message == "not your post")
        await store.close()
    }

    @Test func `the README shows exactly this example`() throws {
        let here = URL(filePath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = try String(contentsOf: here, encoding: .utf8)
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let example = try #require(
            source.components(separatedBy: "// README example begins\n").dropFirst().first?
                .components(separatedBy: "// README example ends").first)
        #expect(
            readme.contains(
                "import Foldback\nimport Foundation\n\n" + example.trimmingCharacters(in: .newlines)
            ))
    }
}
