import Foldback
import FoldbackTesting
import TestSupport
import Testing

/// Question: what waits for a draft, or for the answer to an intent that it undoes (F21, F22)?
@Suite struct BlockedIntentsTests {
    private func store() -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
    }

    @Test func `what waits for an intent that is withdrawn still waits for the draft before`()
        async throws
    {
        let store = store()
        try await store.record(.set("a", 1), held: true)
        try await store.record(.add("a", 1))
        try await store.record(.add("a", 1))
        var follower = PendingFollower()
        try await follower.follow(store)
        #expect(follower.after == [1: [], 2: [1], 3: [2]])
        try await store.undo(2)
        try await follower.follow(store)
        #expect(follower.after == [1: [], 3: [1]])
        try await store.release(1)
        try await follower.follow(store)
        #expect(follower.after == [1: [], 3: [1]])
    }

    @Test func `an intent waits for one of many with its key`() async throws {
        let store = store()
        try await store.record(.set("a", 1), held: true)
        for _ in 1...1_000 { try await store.record(.add("a", 1), force: true) }
        var follower = PendingFollower()
        try await follower.follow(store)
        #expect(follower.after.values.allSatisfy { $0.count <= 1 })
        #expect(follower.waiting(in: store).count == 1_001)
    }

    /// Property: after any commands, a follower lets nothing go that touches a draft, or that touches
    /// what waits. A new follower lets everything else go.
    @Test func `what waits is what touches a draft, or touches what waits`() async throws {
        let seed = testSeed("blocked intents", variable: "BLOCKED_SEED")
        var generator = SeededGenerator(seed: seed)
        for round in 0..<TestEffort.value(quick: 40, full: 1_000) {
            let store = store()
            var follower = PendingFollower()
            try await follower.follow(store)
            for step in 0..<40 {
                try await takeStep(store, &generator)
                guard Bool.random(using: &generator) else { continue }
                try await follower.follow(store)
                let place = "seed \(seed), round \(round), step \(step)"
                let blocked = Self.blocked(in: store)
                let waiting = follower.waiting(in: store)
                #expect(blocked.isSubset(of: waiting), "\(place)")
                // The others wait for what is sent before them, and not for a draft.
                for number in waiting.subtracting(blocked) {
                    #expect(
                        follower.after[number]?.contains(where: blocked.contains) == false,
                        "\(place)")
                }
                var fresh = PendingFollower()
                try await fresh.follow(store)
                #expect(fresh.waiting(in: store) == blocked, "\(place)")
            }
        }
    }

    private func takeStep(
        _ store: Store<Board>, _ generator: inout SeededGenerator
    ) async throws {
        let overlay = Array(store.core.published.overlay)
        let some = overlay.randomElement(using: &generator)?.key
        let key = ["a", "b", "c", "d", "e"].randomElement(using: &generator)!
        let move =
            Int.random(in: 0..<4, using: &generator) == 0
            ? Move.replaceAll(["a": 2].merging([key: 1]) { $1 }) : .set(key, 1)
        do {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<2: try await store.record(move, force: true, held: true)
            case 2..<6: try await store.record(move, force: true)
            case 6: try await store.record(move, force: true, replacing: key)
            case 7: if let some { try await store.release(some) }
            case 8: if let some { try await store.acknowledge(some) }
            case 9: if let some { try await store.withdraw(some) }
            case 10: if let some { try await store.undo(some, force: true) }
            default:
                if let some {
                    _ = try await store.recordAttempts([some: Self.begun], flushes: false)
                }
            }
        } catch is CommandError {
            // A command that the log refuses changes nothing.
        }
    }

    private static let begun = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 10))

    /// Returns what must wait, from the definition.
    private static func blocked(in store: Store<Board>) -> Set<IntentNumber> {
        let published = store.core.published
        var seen: [(number: IntentNumber, keys: Set<String>)] = []
        var blocked: Set<IntentNumber> = []
        for (number, intent) in published.overlay where intent.state == .pending {
            let recorded = intent.recorded
            let move = intent.payload.event(as: Move.self)!
            let keys = Set(Board.keys(touchedBy: move, EventContext(.intent(recorded.id))))
            let mustWait = seen.contains { other in
                let wasReleasedLater =
                    if case .released(let release) = published.drafts[other.number] {
                        release > recorded.sequence
                    } else { false }
                return !other.keys.isDisjoint(with: keys)
                    && (blocked.contains(other.number) || wasReleasedLater)
            }
            let undone = recorded.terms.undoes.map { published.overlay[$0]?.state == .pending }
            if mustWait || undone == true || published.drafts[number] == .held {
                blocked.insert(number)
            }
            seen.append((number, keys))
        }
        return blocked
    }
}

/// What an outbox knows of what its intents wait for.
private struct PendingFollower {
    private(set) var after: [IntentNumber: [IntentNumber]] = [:]
    private var intents: [IntentNumber: PendingIntent] = [:]
    private var pending: PendingIntents?
    private var sequence: LogSequence?

    /// Takes the changes since the last call.
    mutating func follow(_ store: Store<Board>) async throws {
        let now = store.core.published.sequence
        guard sequence != now else { return }
        sequence = now
        var pending = pending ?? store.pendingIntents()
        let changes = try #require(await pending.next())
        self.pending = pending
        for intent in changes.recorded { intents[intent.number] = intent }
        for number in changes.answered { intents[number] = nil }
        after = intents.mapValues(\.after)
    }

    /// Returns the intents that are not sent yet.
    func waiting(in store: Store<Board>) -> Set<IntentNumber> {
        let published = store.core.published
        return Set(
            intents.values.filter { intent in
                intent.isHeld || intent.after.contains(where: published.isPending)
                    || intent.undoes.map(published.isPending) == true
            }.map(\.number))
    }
}
