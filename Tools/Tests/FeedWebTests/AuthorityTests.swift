import Foldback
import FoldbackExamples
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
        do {
            let authority = try await Self.open(folder)
            let first = try await authority.decide(intent("mia", 1), post, .byRules)
            let refused = try await authority.decide(
                intent("mia", 2), event("mia", .liked(post: "mia.1.0")), .reject("No."))
            #expect(Self.position(first) != nil)
            #expect(Self.reason(refused) == "No.")
            await authority.store.close()
        }
        let authority = try await Self.open(folder)
        let again = try await authority.decide(intent("mia", 1), post, .reject("Never."))
        let refused = try await authority.decide(
            intent("mia", 2), event("mia", .liked(post: "mia.1.0")), .byRules)
        #expect(Self.position(again) == authority.ledger.confirmed.last?.position)
        #expect(Self.reason(refused) == "No.")
        #expect(authority.ledger.confirmed.count == 1)
    }

    @Test func `an id that comes again with another event is refused`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        _ = try await authority.decide(intent("mia", 1), event("mia", .posted("a")), .byRules)
        let other = try await authority.decide(
            intent("mia", 1), event("mia", .posted("b")), .byRules)
        #expect(Self.reason(other) == "mia.1 arrived before with another event")
        #expect(authority.ledger.decidedCount == 1)
    }

    @Test func `decisions that are asked for at once get distinct positions`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        let positions = try await withThrowingTaskGroup(of: Position?.self) { group in
            for number in 1...UInt64(20) {
                group.addTask {
                    Self.position(
                        try await authority.decide(
                            intent("mia", number), event("mia", .posted("\(number)")), .byRules))
                }
            }
            return try await group.reduce(into: Set<Position?>()) { $0.insert($1) }
        }
        #expect(positions.count == 20 && !positions.contains(nil))
    }

    @Test func `a device cannot speak for another user`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        let verdict = try await authority.decide(
            intent("mia", 1), event("ben", .posted("a")), .byRules)
        #expect(Self.reason(verdict) == "This device is not ben's.")
    }

    @Test func `a private event is delivered only to its user`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        _ = try await authority.decide(intent("mia", 1), event("mia", .blocked("ben")), .byRules)
        _ = try await authority.decide(intent("mia", 2), event("mia", .posted("a")), .byRules)
        let ledger = authority.ledger
        #expect(ledger.events(for: "mia", after: 0, limit: 9).count == 2)
        #expect(ledger.events(for: "ben", after: 0, limit: 9).count == 1)
        #expect(!ledger.hasEvents(for: "ben", after: authority.head))
    }

    @Test func `a boost whose sum is too large is refused`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        _ = try await authority.decide(intent("mia", 1), event("mia", .posted("a")), .byRules)
        let boost = event("mia", .boosted(post: "mia.1.0", reach: nil))
        await authority.setReach(.max)
        let first = try await authority.decide(intent("mia", 2), boost, .byRules)
        let second = try await authority.decide(intent("mia", 3), boost, .byRules)
        #expect(Self.position(first) != nil)
        #expect(Self.reason(second) == "the reach of mia.1.0 is too large")
    }

    @Test func `only the author can delete a post`() async throws {
        let folder = try Folder()
        let authority = try await Self.open(folder)
        _ = try await authority.decide(intent("mia", 1), event("mia", .posted("a")), .byRules)
        let delete = { (user: String, number: UInt64) in
            Self.reason(
                try await authority.decide(
                    intent(user, number), event(user, .deleted(post: "mia.1.0")), .byRules))
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
        let deleted = authority.ledger.feed.posts.values.filter(\.isDeleted)
        #expect(deleted.count == 5)
        await #expect(throws: RefusedCommand.self) {
            try await authority.delete("mia.1.0", by: "mia")
        }
    }

    @Test func `if the authority's file is lost, the intent is not blamed`() async throws {
        let folder = try Folder()
        let losses = Mutex(0)
        let authority = try await Self.open(folder) { losses.withLock { $0 += 1 } }
        try FileManager.default.removeItem(at: folder.url.appending(path: "authority"))
        // The first failure leaves the store as it was, and the second finds it latched.
        for lossCount in 0...1 {
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

    private static func position(_ verdict: Ledger.Verdict) -> Position? {
        if case .accepted(let position, _) = verdict { position } else { nil }
    }

    private static func reason(_ verdict: Ledger.Verdict) -> String? {
        if case .rejected(let rejection) = verdict { rejection.message } else { nil }
    }
}
