import Foldback
import FoldbackExamples
import FoldbackSync
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

    private static func open(_ folder: Folder) async throws -> FeedAuthority {
        try await FeedAuthority(
            at: folder.url.appending(path: "authority"), seeds: [], clock: .system)
    }

    private static func position(_ verdict: Ledger.Verdict) -> Position? {
        if case .accepted(let position, _) = verdict { position } else { nil }
    }

    private static func reason(_ verdict: Ledger.Verdict) -> String? {
        if case .rejected(let rejection) = verdict { rejection.message } else { nil }
    }
}
