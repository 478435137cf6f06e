import Foldback
import FoldbackExamples
import FoldbackUI
import Testing

@testable import feed_web

/// These tests ask whether commands that a page should not send leave the screen usable. The page may
/// be old, or may have been changed by a person.
@MainActor @Suite struct ScreenTests {
    @Test func `only posts can be opened`() async throws {
        try await withWorld { world, screen, _ in
            _ = try await world.authority.decide(
                intent("ada", 1), event("ada", .commented(post: "seed.1.0", text: "Hi")), .byRules)
            for id in ["ada.1.0", "nothing", "person:ben", ""] {
                await #expect(throws: RefusedCommand.self) {
                    try await world.perform(.open(post: id), as: "mia")
                }
            }
            #expect(screen.list.failure == nil && screen.opened.isEmpty)
            try await world.perform(.post("Hello"), as: "mia")
            #expect(screen.list.snapshot.sections.flatMap(\.rows).first?.content?.text == "Hello")
        }
    }

    @Test func `a deleted post is not offered, and opening it is refused`() async throws {
        try await withWorld { world, screen, _ in
            try await world.perform(.setOnline(false, replica: "mia"))
            _ = try await world.authority.decide(
                intent("ben", 1), event("ben", .posted("New")), .byRules)
            #expect(world.stageView.postsUnknown(to: screen).map(\.id) == ["ben.1.0"])
            try await world.authority.delete("ben.1.0", by: "ben")
            #expect(world.stageView.postsUnknown(to: screen).isEmpty)
            await #expect(throws: RefusedCommand.self) {
                try await world.perform(.open(post: "ben.1.0"), as: "mia")
            }
            try await world.authority.delete("seed.1.0", by: "ada")
            try await world.perform(.setOnline(true, replica: "mia"))
            await #expect(throws: RefusedCommand.self) {
                try await world.perform(.open(post: "seed.1.0"), as: "mia")
            }
        }
    }

    @Test func `a post that is deleted while it is opened leaves no row, and a word`() async throws
    {
        try await withWorld(isLoaded: false) { world, screen, _ in
            // The first load is held, so the device knows no post.
            world.stage.hold()
            try await world.perform(.open(post: "seed.1.0"), as: "mia")
            #expect(screen.list.snapshot.sections.flatMap(\.rows).first?.id == .item("seed.1.0"))
            try await world.authority.delete("seed.1.0", by: "ada")
            try await world.perform(.release(nil))
            #expect(screen.opened.isEmpty)
            let rows = screen.list.snapshot.sections.flatMap(\.rows)
            #expect(!rows.contains { $0.id == .item("seed.1.0") })
            #expect(screen.waits.shown["open:seed.1.0"]?.recovery?.contains("not exist") == true)
        }
    }

    @Test func `a held upload has no fraction before the stage reports one`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.upload("A picture"), as: "mia")
            try await world.perform(.advance(seconds: 1))
            #expect(screen.waits.shown["upload"]?.indicator == .bar(nil))
            try await world.perform(.fraction(.wait("upload"), 0.5))
            #expect(screen.waits.shown["upload"]?.indicator == .bar(0.5))
        }
    }

    @Test func `only the offered actions of a wait are carried out`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.chart, as: "mia")
            for action in WaitAction.allCases {
                await #expect(throws: RefusedCommand.self) {
                    try await world.perform(.wait("chart", action), as: "mia")
                }
            }
            await #expect(throws: RefusedCommand.self) {
                try await world.perform(.wait("nothing", .cancel), as: "mia")
            }
            #expect(screen.chart?.data.isLoading == true)
            try await world.perform(.advance(seconds: 10))
            try await world.perform(.wait("chart", .cancel), as: "mia")
            #expect(screen.chart?.data.isLoading == false)
        }
    }

    @Test func `a boost that cannot be recorded leaves no wait`() async throws {
        try await withWorld { world, screen, _ in
            await screen.replica.store.close()
            await #expect(throws: CommandError.self) {
                try await screen.perform(.boost(post: "seed.1.0"), from: nil)
            }
            #expect(screen.waits.shown["boost:seed.1.0"] == nil)
        }
    }
}
