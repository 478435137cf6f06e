import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from a first page whose examples no compiler had seen.
@MainActor @Suite struct FrontPageTests {
    private let store = Store.inMemory(FrontPage.self, confirmedBy: .acknowledgement)

    @Test func `the first page's model shows a like, and then why it was refused`() async throws {
        let post = try await store.record(.posted(text: "hello")).id
        let id = EventContext(.intent(post)).id()
        let words = try await like(id, in: store)
        #expect(words == ["1 likes", "0 likes, refused: not your post"])
    }

    private func like(_ id: String, in store: Store<FrontPage>) async throws -> [String] {
        var shown: [String] = []
        func show(_ text: String) { shown.append(text) }

        let model = OptimisticModel(store)
        let receipt = try await model.perform(.liked(post: id))
        show("\(model.view.posts[id]?.likes ?? 0) likes")

        try await store.reject(receipt.number, message: "not your post")
        await model.adoptCommits()
        if case .rejected(let rejection)? = model.status(of: id).worst {
            show("\(model.view.posts[id]?.likes ?? 0) likes, refused: \(rejection.message)")
        }
        return shown
    }

    @Test func `the first page's like is undone`() async throws {
        let post = try await store.record(.posted(text: "hello")).id
        let id = EventContext(.intent(post)).id()
        let model = OptimisticModel(store)
        let undo = model.undoModel()
        try await undo.perform(.liked(post: id), named: "Like")
        if undo.canUndo { try await undo.undo() }
        #expect(model.view.posts[id]?.likes == 0 && undo.redoName == "Like")
    }

    @Test func `the first page's list shows a refused post as a ghost`() async throws {
        let model = OptimisticModel(store)
        let posts = ListModel<String, Post>(of: model) { list, feed in
            list.section("posts")
            for ghost in list.ghosts { list.ghost(ghost) }
            list.items(feed.newest)
        } ghost: { intent, feed in
            guard case .posted(let text) = intent.event else { return nil }
            return Post(id: intent.id(), text: text)
        }
        let receipt = try await model.perform(.posted(text: "hello"))
        try await store.reject(receipt.number, message: "no")
        await model.adoptCommits()
        let rows = posts.snapshot.sections.flatMap(\.rows)
        #expect(rows.map(\.content?.text) == ["hello"])
        #expect(rows.map(\.isGhost) == [true])
        #expect(rows.map(\.status.worst) == [.rejected(Rejection(message: "no"))])
    }
}
