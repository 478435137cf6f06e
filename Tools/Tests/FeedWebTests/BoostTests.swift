import Foldback
import FoldbackExamples
import Testing

@testable import feed_web

/// Question: does a person hear of each rejected boost once, and can they try again?
@MainActor @Suite struct BoostTests {
    private static let wait = "boost:seed.1.0"

    @Test func `a rejected boost is told once, by its wait or by the news`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.boost(post: "seed.1.0"), as: "mia")
            #expect(world.stage.held.map(\.id) == ["mia/1"])
            await #expect(throws: Refusal.self) {
                try await world.perform(.boost(post: "seed.1.0"), as: "mia")
            }
            try await world.perform(.reject(id: "mia/1", reason: "Not one."))
            let shown = try #require(screen.waits.shown[Self.wait])
            #expect(shown.actions == ["restart"] && shown.recovery?.contains("Not one.") == true)
            #expect(Self.announcements(screen, "Not one.") == 1)

            // From the mark, in three windows: two at once, and one while these restart the boost.
            let both = (1...2).map { _ in
                Task { try await screen.perform(.retry(number: 1), from: nil) }
            }
            while screen.waits.running.isEmpty { await Task.yield() }
            var numbers = [try await screen.perform(.retry(number: 1), from: nil)]
            for window in both { numbers.append(try await window.value) }
            await world.settle()
            #expect(numbers.contains(2) && world.stage.held.map(\.id) == ["mia/2"])
            #expect(screen.waits.running == [Self.wait])
            #expect(screen.model.rejections.isEmpty)
            let status = try screen.replica.store.intent(2)
            #expect(status.retries == 1)
            let late = try await screen.perform(.retry(number: 1), from: nil)
            #expect(late == 2)
            try await world.perform(.reject(id: "mia/2", reason: "Not two."))
            #expect(Self.announcements(screen, "Not two.") == 1)

            // From the wait.
            try await world.perform(.wait(wait: Self.wait, action: .restart), as: "mia")
            #expect(world.stage.held.map(\.id) == ["mia/3"])
            try await world.perform(.advance(seconds: 12))
            try await world.perform(
                .wait(wait: Self.wait, action: .continueInBackground), as: "mia")
            #expect(screen.waits.running.isEmpty)
            try await world.perform(.reject(id: "mia/3", reason: "Not three."))
            #expect(Self.announcements(screen, "Boost rejected. Not three.") == 1)
            #expect(Self.announcements(screen, "Not three.") == 1)
            #expect(screen.waits.shown[Self.wait] == nil)

            let last = try await screen.perform(.retry(number: 3), from: nil)
            await world.settle()
            #expect(last == 4)
            try await world.perform(.release(id: nil))
            #expect(screen.model.view.feed.posts["seed.1.0"]?.reach ?? 0 > 0)
            #expect(screen.model.rejections.isEmpty)
        }
    }

    @Test func `a stalled boost is sent again, and a canceled boost is taken back`() async throws {
        try await withWorld { world, screen, _ in
            try await world.perform(.offline(replica: "mia"))
            try await world.perform(.boost(post: "seed.1.0"), as: "mia")
            try await world.perform(.advance(seconds: 12))
            let shown = try #require(screen.waits.shown[Self.wait])
            #expect(shown.actions == ["cancel", "continueInBackground"], "\(shown)")
            try await world.perform(.wait(wait: Self.wait, action: .cancel), as: "mia")
            #expect(screen.waits.running.isEmpty && screen.replica.store.status.pendingCount == 0)
            try await world.perform(.online(replica: "mia"))

            world.stage.hold()
            try await world.perform(.boost(post: "seed.1.0"), as: "mia")
            try await world.perform(.advance(seconds: 31))
            let stalled = try #require(screen.waits.shown[Self.wait])
            #expect(stalled.actions.contains("restart"), "\(stalled)")
            try await world.perform(.wait(wait: Self.wait, action: .restart), as: "mia")
            #expect(screen.waits.running == [Self.wait])
            try await world.perform(.reject(id: "mia/2", reason: "No."))
            try await world.perform(.dismiss(number: 2), as: "mia")
            #expect(screen.waits.shown[Self.wait] == nil && screen.model.rejections.isEmpty)
        }
    }

    private static func announcements(_ screen: FeedScreen, _ words: String) -> Int {
        let bytes = screen.publisher.hub.events(after: 0).bytes
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            .flatMap { $0.split(separator: "\"announce\":\"") }.dropFirst()
            .count { $0.split(separator: "\"")[0].contains(words) }
    }
}
