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
            try await world.authority.decide("ada", 1, .commented(post: "seed.1.0", text: "Hi"))
            for id in ["ada.1.0", "nothing", "person:ben", ""] {
                await #expect(throws: Refusal.self) {
                    try await world.perform(.open(post: id), as: "mia")
                }
            }
            #expect(screen.list.failure == nil && screen.opened.isEmpty)
            try await world.perform(.post(text: "Hello"), as: "mia")
            #expect(screen.shown.first?.text == "Hello")
        }
    }

    @Test func `a deleted post is not offered, and opening it is refused`() async throws {
        try await withWorld { world, screen, _ in
            try await world.perform(.offline(replica: "mia"))
            try await world.authority.decide("ben", 1, .posted("New"))
            #expect(world.postsUnknown(to: screen).map(\.id) == ["ben.1.0"])
            try await world.authority.delete("ben.1.0", by: "ben")
            #expect(world.postsUnknown(to: screen).isEmpty)
            await #expect(throws: Refusal.self) {
                try await world.perform(.open(post: "ben.1.0"), as: "mia")
            }
            try await world.authority.delete("seed.1.0", by: "ada")
            try await world.perform(.online(replica: "mia"))
            await #expect(throws: Refusal.self) {
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
            #expect(screen.shown.first?.id == "seed.1.0")
            try await world.authority.delete("seed.1.0", by: "ada")
            try await world.perform(.release(id: nil))
            #expect(screen.opened.isEmpty)
            #expect(!screen.shown.contains { $0.id == "seed.1.0" })
            #expect(screen.waits.shown["open:seed.1.0"]?.recovery?.contains("not exist") == true)
        }
    }

    @Test func `what was done on a deleted post stays in its place, and is counted once`()
        async throws
    {
        try await withWorld { world, screen, _ in
            // The comments on a post vanish with it.
            let posts = screen.shown.filter { $0.kind == "post" }.map(\.id)
            let (first, second) = (posts[0], posts[1])
            world.stage.hold()
            try await world.perform(.comment(post: first, text: "Too late"), as: "mia")
            try await world.perform(.like(post: second), as: "mia")
            for post in [first, second] {
                try await world.authority.delete(
                    post, by: try #require(world.authority.feed.author(of: post)))
            }
            await world.settle()
            #expect(screen.shown.map(\.id) == [first, "mia.1.0", second] + posts.dropFirst(2))
            let rows = screen.shown
            #expect(rows[0...2].map(\.kind) == ["gone", "comment", "gone"])
            #expect(rows[0...2].map(\.state) == ["settled", "conflicted", "conflicted"])
            #expect(rows[2].text == "This post is deleted.")
            let account = screen.content(screen.wireFeed).account
            #expect(account.pending == 0 && account.conflicted == 2)

            // After the rejections, only Dismiss is offered, because no retry can succeed.
            try await world.perform(.release(id: nil))
            let marks = screen.shown.flatMap(\.marks)
            #expect(marks.map(\.state) == ["rejected", "rejected"])
            #expect(marks.allSatisfy { $0.actions == ["dismiss"] })
            for mark in marks {
                try await world.perform(.dismiss(number: IntentNumber(mark.number)), as: "mia")
            }
            #expect(screen.shown.map(\.id) == Array(posts.dropFirst(2)))
        }
    }

    @Test func `lanes show the latest intents with their answers`() async throws {
        try await withWorld { world, screen, _ in
            let post = screen.shown[0].id
            world.stage.hold()
            for text in ["No", "Yes", "Late"] {
                try await world.perform(.comment(post: post, text: text), as: "mia")
            }
            try await world.perform(.reject(id: "mia/1", reason: "No."))
            try await world.perform(.release(id: "mia/2"))
            let log = screen.content(screen.wireFeed).log
            #expect(log.lanes.map(\.state) == ["rejected", "confirmed", "pending"])
            #expect(log.lanes.map(\.what) == ["comment", "comment", "comment"])
            let entries = try screen.replica.store.entries(from: 1, countMax: .max)
            for lane in log.lanes {
                let about = entries.filter { entry in
                    // Other replicas have intents with the same numbers.
                    let own = entry.origins.filter { $0.replica == entry.replica }
                    return (entry.intentNumbers + own.map(\.number))
                        .contains { $0.value == lane.number }
                }
                #expect(lane.from == about.first?.sequence.value)
                // The second comment is first accepted, and then confirmed.
                #expect(lane.to == (about.count > 1 ? about.last?.sequence.value : nil))
            }
            #expect(log.last == screen.replica.store.status.sequence.value)
        }
    }

    @Test func `a held upload has no fraction before the stage reports one`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.upload(text: "A picture"), as: "mia")
            try await world.perform(.advance(seconds: 1))
            #expect(screen.waits.shown["upload"]?.indicator == "bar")
            #expect(screen.waits.shown["upload"]?.fraction == nil)
            try await world.perform(.fraction(wait: "upload", value: 0.5))
            #expect(screen.waits.shown["upload"]?.fraction == 0.5)
        }
    }

    /// The server makes the person wait, and not the connection.
    @Test func `a held load says that the server holds it`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.load, as: "mia")
            for _ in 0..<6 { try await world.perform(.advance(seconds: 10)) }
            let wait = try #require(screen.waits.shown["feed"])
            #expect("\(wait)".contains("The server holds this request"), "\(wait)")
            #expect(!"\(wait)".contains("connection"), "\(wait)")
        }
    }

    @Test func `only the offered actions of a wait are carried out`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.chart, as: "mia")
            for action in WaitAction.allCases {
                await #expect(throws: Refusal.self) {
                    try await world.perform(.wait(wait: "chart", action: action), as: "mia")
                }
            }
            await #expect(throws: Refusal.self) {
                try await world.perform(.wait(wait: "nothing", action: .cancel), as: "mia")
            }
            #expect(screen.chart?.data.isLoading == true)
            try await world.perform(.advance(seconds: 10))
            try await world.perform(.wait(wait: "chart", action: .cancel), as: "mia")
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
