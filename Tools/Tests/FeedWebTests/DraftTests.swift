import Foldback
import Foundation
import Testing

@testable import feed_web

/// Born from "Post with a photo", which kept the text outside of the log, so that a lost network or a
/// killed process lost it.
@MainActor @Suite struct DraftTests {
    @Test func `a post with a photo is a draft until its photo has arrived`() async throws {
        try await withWorld { world, screen, _ in
            try await world.perform(.offline(replica: "mia"))
            try await world.perform(.upload(text: "A picture"), as: "mia")
            #expect(screen.photo?.text == "The photo is not sent: The server cannot be reached.")
            #expect(screen.photo?.actions == ["retry", "withdraw"])
            #expect(screen.shown.first?.text == "A picture")
            // The network is back, so the photo is sent without a person, but not to its end.
            try await world.perform(.online(replica: "mia"))
            try await world.perform(.advance(seconds: 1))
            #expect(screen.photo?.text == "Sending the photo")
            try await world.perform(.offline(replica: "mia"))
            try await world.perform(.advance(seconds: 1))
            #expect(screen.photo?.actions == ["retry", "withdraw"])
            #expect(world.authority.feed.posts.count == 3)

            try await world.perform(.online(replica: "mia"))
            try await world.perform(.advance(seconds: 4))
            #expect(screen.photo == nil && screen.shown.first?.text == "A picture")
            #expect(world.authority.feed.posts["mia.1.0"]?.text == "A picture")
            #expect(screen.replica.store.status.pendingCount == 0)
        }
    }

    @Test func `a photo that the server refuses is sent again by a person, or discarded`()
        async throws
    {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            for text in ["One", "Two"] {
                try await world.perform(.upload(text: text), as: "mia")
                try await world.perform(.advance(seconds: 1))
            }
            // One after another.
            #expect(world.stage.held.map(\.text) == ["Upload: One"])
            try await world.perform(.reject(id: "mia/upload"))
            #expect(screen.photo?.text == "The photo is not sent: \(Stage.refusal)")
            #expect(world.stage.held.map(\.text) == ["Upload: Two"])
            try await world.perform(.withdraw(number: 2), as: "mia")
            #expect(world.stage.held.isEmpty && screen.shown.first?.text == "One")
            try await world.perform(.retry(number: 1), as: "mia")
            #expect(world.stage.held.map(\.text) == ["Upload: One"])
            try await world.perform(.release(id: "mia/upload"))
            // Now the post itself is held, which was a draft before.
            #expect(world.stage.held.map(\.text) == ["Photo: One"])
            try await world.perform(.release(id: nil))
            #expect(world.authority.feed.posts.values.contains { $0.text == "One" })
            #expect(!world.authority.feed.posts.values.contains { $0.text == "Two" })
        }
    }

    @Test func `a wait of a refused photo sends it again`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.upload(text: "A picture"), as: "mia")
            try await world.perform(.reject(id: "mia/upload"))
            #expect(screen.waits.shown["upload"]?.actions == ["restart"])
            try await world.perform(.wait(wait: "upload", action: .restart), as: "mia")
            #expect(world.stage.held.map(\.text) == ["Upload: A picture"])
            try await world.perform(.reject(id: "mia/upload"))
            try await world.perform(.withdraw(number: 1), as: "mia")
            // Nothing is left to send.
            #expect(screen.waits.shown["upload"] == nil)
            #expect(!screen.shown.contains { $0.text == "A picture" })
        }
    }

    @Test func `a like on a draft waits for its photo`() async throws {
        try await withWorld { world, screen, _ in
            world.stage.hold()
            try await world.perform(.upload(text: "A picture"), as: "mia")
            try await world.perform(.like(post: "mia.1.0"), as: "mia")
            #expect(world.stage.held.map(\.id) == ["mia/upload"])
            try await world.perform(.release(id: nil))
            #expect(world.authority.feed.posts["mia.1.0"]?.likes == ["mia"])
            #expect(screen.replica.store.status.pendingCount == 0)
        }
    }

    @Test func `a killed server goes on with the photos of its drafts`() async throws {
        let server = try await ServerProgram.start()
        // The text is in the log when the page hears of it, and the clock stands still before the end.
        try await server.perform(["do": "upload", "text": "A picture"])
        let before = try await server.head()
        kill(try await server.childPID(), SIGKILL)
        let state = try await server.client.send("GET", "/r/mia/state").body
        let row = state["rows"]?.arrayValue?.first { $0["text"]?.stringValue == "A picture" }
        #expect(row?["state"]?.stringValue == "pending")
        _ = try await server.client.send("POST", "/stage", ["do": "advance", "seconds": 10])
        #expect(try await server.head() == before + 1)
    }
}

extension FeedScreen {
    /// The mark of the first draft, as a page shows it.
    fileprivate var photo: WireMark? {
        shown.flatMap(\.marks).first { $0.what == "photo" && $0.number == 1 }
    }
}
