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

/// What the README says is compiled, run, and the same text.
@Suite struct ReadmeTests {
    @Test func `the README's example does what it says`() async throws {
        let directory = TemporaryDirectory()
        try await like(in: directory.log)
        let store = try await Store.open(
            at: directory.log, Likes.self, confirmedBy: .acknowledgement, durability: .durable)
        #expect(store.view.counts == [:])
        #expect(store.rejections == [1])
        #expect(try store.intent(1).rejection?.message == "not your post")
        await store.close()
    }

    @Test func `the README shows this example, to the letter`() throws {
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
