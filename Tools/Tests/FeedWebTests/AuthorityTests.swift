import Foldback
import FoldbackExamples
import FoldbackServer
import FoldbackSync
import Foundation
import Synchronization
import Testing

@testable import feed_web

/// These tests ask whether the authority keeps its word over the end of its process. If it forgot a
/// decision, a device would show as confirmed what nobody else has.
@Suite struct AuthorityTests {
    private let folder: Folder
    private let authority: FeedAuthority

    init() async throws {
        folder = try Folder()
        authority = try await FeedAuthority(in: folder)
    }

    @Test func `a repeated intent gets its first verdict, also after a restart`() async throws {
        let position = try await authority.decide("mia", 1, .posted("Hello")).position
        let like = FeedAction.liked(post: "mia.1.0")
        #expect(position != nil)
        #expect(try await authority.decide("mia", 2, like, .reject("No.")).reason == "No.")
        await authority.space.close()
        let next = try await FeedAuthority(in: folder)
        let again = try await next.decide("mia", 1, .posted("Hello"), .reject("Never."))
        #expect(again.position == position)
        #expect(try await next.decide("mia", 2, like).reason == "No.")
        #expect(next.feed.posts.mapValues(\.likes) == ["mia.1.0": []])
    }

    @Test func `a device cannot speak for another user`() async throws {
        let post = try Submission(intent("mia", 1), event("ben", .posted("a")))
        let verdict = try await authority.decide(post, by: Account("mia")!)
        #expect(verdict.reason == "This device is not ben's.")
    }

    @Test func `a private event is delivered only to its user`() async throws {
        try await authority.decide("mia", 1, .blocked("ben"))
        try await authority.decide("mia", 2, .posted("a"))
        for (user, count) in [("mia", 2), ("ben", 1)] {
            let account = Account(user)!
            let page = try await authority.space.authority(for: account).changes(
                after: SyncPoint(lineage: nil, through: 0))
            let events = try authority.events(for: account, after: 0)
            #expect(events.count == count && events.map(\.intent) == page.events.map(\.origin))
            #expect(try authority.events(for: account, after: authority.space.head).isEmpty)
        }
    }

    @Test func `a boost whose sum is too large is refused`() async throws {
        try await authority.decide("mia", 1, .posted("a"))
        let boost = FeedAction.boosted(post: "mia.1.0", reach: nil)
        authority.choices.reach = .max
        #expect(try await authority.decide("mia", 2, boost).position != nil)
        let second = try await authority.decide("mia", 3, boost)
        #expect(second.reason == "the reach of mia.1.0 is too large")
    }

    @Test func `only the author can delete a post`() async throws {
        try await authority.decide("mia", 1, .posted("a"))
        let deletion = FeedAction.deleted(post: "mia.1.0")
        #expect(try await authority.decide("ben", 1, deletion).reason == "This post is mia's.")
        #expect(try await authority.decide("mia", 2, deletion).reason == nil)
    }

    @Test func `deletions of the stage that are asked for at once are all decided`() async throws {
        for number in 1...UInt64(5) { try await authority.decide("mia", number, .posted("a")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...5 {
                group.addTask { try await authority.delete("mia.\(number).0", by: "mia") }
            }
            try await group.waitForAll()
        }
        let deleted = authority.feed.posts.values.filter(\.isDeleted)
        #expect(deleted.count == 5)
        await #expect(throws: Refusal.self) {
            try await authority.delete("mia.1.0", by: "mia")
        }
    }

    @Test func `if the authority's file is lost, the intent is not blamed`() async throws {
        let folder = try Folder()
        let losses = Mutex(0)
        let authority = try await FeedAuthority(in: folder) { losses.withLock { $0 += 1 } }
        try FileManager.default.removeItem(at: folder.url.appending(path: "authority"))
        // From the first failure on, the log must be opened again.
        for lossCount in 1...2 {
            let failure = await #expect(throws: AuthorityFailure.self) {
                try await authority.decide("mia", 1, .posted("a"))
            }
            if case .unavailable = failure {} else { Issue.record("\(failure?.reason ?? "")") }
            #expect(losses.withLock { $0 } == lossCount)
        }
    }
}
