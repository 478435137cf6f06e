import Foldback
import FoldbackExamples
import Testing

@testable import feed_web

/// Question: does undo leave the feed of all devices as it was before (F21)?
@MainActor @Suite struct UndoTests {
    private static let actions: [ReplicaCommand] = [
        .like(post: "seed.1.0"), .follow(name: "ada"), .post(text: "Hello"),
    ]

    @Test(arguments: 0..<3, [false, true])
    func `what can be undone is undone and redone, before the answer and after it`(
        index: Int, isAnswered: Bool
    ) async throws {
        try await withWorld { world, screen, _ in
            let command = Self.actions[index]
            let before = screen.model.view.shown
            if !isAnswered { world.stage.hold() }
            try await world.perform(command, as: "mia")
            let after = screen.model.view.shown
            #expect(before != after && screen.undo.canUndo)
            for _ in 1...2 {
                try await world.perform(.undo, as: "mia")
                #expect(screen.model.view.shown == before)
                #expect(screen.undo.canRedo)
                try await world.perform(.redo, as: "mia")
                #expect(screen.model.view.shown == after)
            }
            try await world.perform(.undo, as: "mia")
            if !isAnswered { try await world.perform(.release(id: nil)) }
            #expect(screen.model.view.shown == before)
            #expect(world.authority.feed.followers["ada", default: []].isEmpty)
            #expect(world.authority.feed.posts["seed.1.0"]?.likes.contains("mia") == false)
            #expect(screen.model.rejections.isEmpty)
            #expect(screen.replica.store.status.pendingCount == 0)
        }
    }

    @Test func `a deleted post comes back, and only its author can do that`() async throws {
        try await withWorld { world, screen, _ in
            try await world.perform(.post(text: "Hello"), as: "mia")
            let before = screen.model.view.shown
            try await world.perform(.delete(post: "mia.1.0"), as: "mia")
            let restored = try await world.authority.decide(
                "ben", 1, .restored(post: "mia.1.0"))
            #expect(restored.reason == "This post is mia's.")
            try await world.perform(.undo, as: "mia")
            #expect(screen.model.view.shown == before && screen.model.rejections.isEmpty)
            #expect(screen.undo.undoName == "post" && screen.undo.redoName == "delete")
        }
    }

    @Test func `quick presses of a toggle without a network leave one intent or none`()
        async throws
    {
        try await withWorld { world, screen, _ in
            try await world.perform(.offline(replica: "mia"))
            for count in 1...5 {
                let isOn = count % 2 == 1
                try await world.perform(
                    isOn ? .like(post: "seed.1.0") : .unlike(post: "seed.1.0"), as: "mia")
                #expect(screen.replica.store.status.pendingCount == (isOn ? 1 : 0))
                #expect(
                    screen.model.view.feed.posts["seed.1.0"]?.likes.contains("mia") == isOn)
                #expect(screen.undo.undoName == (isOn ? "like" : nil))
            }
        }
    }

    @Test func `a comment is not offered, and a rejected like is not either`() async throws {
        try await withWorld { world, screen, _ in
            try await world.perform(.comment(post: "seed.1.0", text: "Hi"), as: "mia")
            #expect(!screen.undo.canUndo)
            try await world.perform(.rejectNext(on: true))
            try await world.perform(.like(post: "seed.1.0"), as: "mia")
            #expect(!screen.undo.canUndo && screen.model.rejections.count == 1)
        }
    }
}

extension Timeline {
    /// What people see. A post that is posted again has another id.
    fileprivate var shown: [String] {
        newestFirst.filter { !$0.post.isDeleted }.map {
            "\($0.post.by): \($0.post.text) \($0.post.likes.sorted())"
        }
            + feed.followers.filter { !$0.value.isEmpty }.map { "\($0.key) \($0.value.sorted())" }
    }
}
