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
    @Test func `a repeated intent gets its first verdict, also after a restart`() async throws {
        let folder = try Folder()
        let post = event("mia", .posted("Hello"))
        let position: Position?
        do {
            let authority = try await Self.open(folder)
            let first = try await authority.decide(intent("mia", 1), post, .byRules)
            let refused = try await authority.decide(
                intent("mia", 2), event("mia", .liked(post: "mia.1.0")), .reject("No."))
            position = first.position
            #expect(position != nil && refused.reason == "No.")
            await authority.space.close()
        }
        let authority = try await Self.open(folder)
        let again = try await authority.decide(intent("mia", 1), post, .reject("Never."))
        let refused = try await authority.decide(
            intent("mia", 2), event("mia", .liked(post: "mia.1.0")), .byRules)
        #expect(again.position == position && refused.reason == "No.")
        #expect(authority.feed.posts.mapValues(\.likes) == ["mia.1.0": []])
    }

    @Test func `a device cannot speak for another user`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        let verdict = try await authority.decide(
            intent("mia", 1), event("ben", .posted("a")), .byRules)
        #expect(verdict.reason == "This device is not ben's.")
    }

    @Test func `a private event is delivered only to its user`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        _ = try await authority.decide(intent("mia", 1), event("mia", .blocked("ben")), .byRules)
        _ = try await authority.decide(intent("mia", 2), event("mia", .posted("a")), .byRules)
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
        let folder = try Folder()
        let authority = try await Self.open(folder)
        _ = try await authority.decide(intent("mia", 1), event("mia", .posted("a")), .byRules)
        let boost = event("mia", .boosted(post: "mia.1.0", reach: nil))
        authority.choices.reach = .max
        let first = try await authority.decide(intent("mia", 2), boost, .byRules)
        let second = try await authority.decide(intent("mia", 3), boost, .byRules)
        #expect(first.position != nil)
        #expect(second.reason == "the reach of mia.1.0 is too large")
    }

    @Test func `only the author can delete a post`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        _ = try await authority.decide(intent("mia", 1), event("mia", .posted("a")), .byRules)
        let delete = { (user: String, number: UInt64) in
            try await authority.decide(
                intent(user, number), event(user, .deleted(post: "mia.1.0")), .byRules
            ).reason
        }
        #expect(try await delete("ben", 1) == "This post is mia's.")
        #expect(try await delete("mia", 2) == nil)
    }

    @Test func `deletions of the stage that are asked for at once are all decided`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        for number in 1...UInt64(5) {
            _ = try await authority.decide(
                intent("mia", number), event("mia", .posted("a")), .byRules)
        }
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
        let authority = try await Self.open(folder) { losses.withLock { $0 += 1 } }
        try FileManager.default.removeItem(at: folder.url.appending(path: "authority"))
        // From the first failure on, the log must be opened again.
        for lossCount in 1...2 {
            let failure = await #expect(throws: AuthorityFailure.self) {
                try await authority.decide(intent("mia", 1), event("mia", .posted("a")), .byRules)
            }
            if case .unavailable = failure {} else { Issue.record("\(failure?.reason ?? "")") }
            #expect(losses.withLock { $0 } == lossCount)
        }
    }

    private static func open(
        _ folder: Folder, lost: @escaping @Sendable () -> Void = {}
    ) async throws -> FeedAuthority {
        try await FeedAuthority(
            at: folder.url.appending(path: "authority"), seeds: [], clock: .system,
            lost: { _ in lost() })
    }
}
