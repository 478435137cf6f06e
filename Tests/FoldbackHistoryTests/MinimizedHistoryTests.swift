import Foldback
import FoldbackHistory
import TestSupport
import Testing

/// Which entries and terms minimizing removes, and which other entries it must remove with them.
@Suite struct MinimizedHistoryTests {
    private func store(_ kind: LogKind = .downlink) -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
    }

    private func left(
        of store: Store<Board>, where holds: @escaping (Snapshot<Board>) -> Bool
    ) async throws -> RecordedHistory<Move> {
        let minimized = try await store.history().minimized(candidatesMax: 1_000) {
            try holds($0.snapshot(of: Board.self))
        }
        #expect(minimized.end == .minimalForThesePasses)
        return minimized.history
    }

    private func effect(
        of number: IntentNumber, at position: Position, _ move: Move
    ) -> ConfirmedEvent<Move> {
        let origin = IntentID(replica: ReplicaID("me")!, number: number)
        return ConfirmedEvent(position: position, event: move, origin: origin)
    }

    @Test func `an answer is removed if the intent alone still fails`() async throws {
        let store = store()
        _ = try await store.record(.set("b", 2))
        let receipt = try await store.record(.set("a", 1))
        try await store.acknowledge(receipt.number, position: 3, replacement: nil)
        let history = try await left(of: store) { $0.view.cells["a"] == 1 }
        #expect(history.sequences == [2])
        #expect(try history.snapshot(of: Board.self).pending == [2])
    }

    @Test func `an intent is removed with its answers and a batch that only names it`() async throws
    {
        let store = store()
        let receipt = try await store.record(.set("a", 1))
        try await store.reject(receipt.number, message: "no")
        try await store.dismiss(receipt.number)
        try await store.acknowledge(receipt.number, position: nil, replacement: nil)
        try await store.confirm([ConfirmedEvent(position: 5, event: .set("b", 2))], through: 5)
        try await store.confirm([effect(of: 1, at: 3, .set("a", 1))], through: 5)
        var shown: [[LogSequence]] = []
        let minimized = try await store.history().minimized(candidatesMax: 1_000) {
            shown.append($0.sequences)
            return $0.sequences.contains(5)
        }
        #expect(minimized.history.sequences == [5])
        for (effect, cause) in [(2, 1), (3, 2), (4, 1), (6, 1)] as [(LogSequence, LogSequence)] {
            #expect(!shown.contains { $0.contains(effect) && !$0.contains(cause) }, "\(effect)")
        }
    }

    @Test func `an intent and the events that name it can be removed together`() async throws {
        let store = store()
        _ = try await store.record(.set("a", 1))
        try await store.confirm(
            [
                effect(of: 1, at: 1, .set("a", 1)),
                ConfirmedEvent(position: 2, event: .set("b", 2)),
            ], through: 2)
        let minimized = try await store.history().minimized(candidatesMax: 1_000) { candidate in
            let names = candidate.entries.contains {
                guard case .confirmed(let events, _) = $0.content else { return false }
                return events.contains { $0.origin != nil }
            }
            let isWhole = candidate.sequences.contains(1) == names
            return try isWhole && candidate.snapshot(of: Board.self).view.cells["b"] == 2
        }
        #expect(minimized.history.sequences == [2])
    }

    @Test func `an event stays if only its intent does not matter`() async throws {
        let store = store()
        _ = try await store.record(.claim("a"))
        let move = Move.claim("a")
        try await store.confirm([effect(of: 1, at: 4, move)], through: 9)
        let id = store.confirmed.cells["a"]
        let history = try await left(of: store) { $0.confirmed.cells["a"] == id }
        #expect(history.sequences == [2])
        let snapshot = try history.snapshot(of: Board.self)
        #expect(snapshot.through == 4, "through is not above the event")
        #expect(snapshot.overlay.isEmpty)
    }

    @Test func `intents keep their numbers and the ids made from them`() async throws {
        let store = store()
        for _ in 1...5 { _ = try await store.record(.set("b", 1)) }
        _ = try await store.record(.claim("a"))
        let claimed = store.view.cells["a"]
        let history = try await left(of: store) { $0.view.cells["a"] == claimed }
        #expect(history.sequences == [6])
        #expect(try history.snapshot(of: Board.self).pending == [6])
    }

    @Test func `a retry without its rejection is a plain intent`() async throws {
        let store = store()
        let first = try await store.record(.set("a", 1), confirmOnly: true, once: "x")
        try await store.reject(first.number, message: "no")
        _ = try await store.retry(first.number)
        let history = try await left(of: store) { $0.overlay.contains { $0.number == 2 } }
        #expect(history.sequences == [3])
        let intent = try #require(history.snapshot(of: Board.self).overlay.first)
        #expect(intent.retries == nil && intent.once == nil && !intent.isConfirmOnly)
        let all = try store.history()
        #expect(all.following(Array(all.records.suffix(1))).sequences == [3])
    }

    @Test func `events, replacements and positions that do not matter are removed`() async throws {
        let store = store()
        let receipt = try await store.record(.set("a", 1))
        try await store.acknowledge(receipt.number, position: 8, replacement: .set("a", 7))
        try await store.confirm(
            (1...5).map { ConfirmedEvent(position: Position($0), event: .set("b", 2)) }, through: 6)
        let history = try await left(of: store) {
            $0.accepted == [1] && $0.confirmed.cells["b"] == 2
        }
        guard case .acknowledged(1, position: nil, replacement: nil) = history.entries[1].content,
            case .confirmed(let events, let through) = history.entries[2].content
        else {
            Issue.record("\(history.entries)")
            return
        }
        #expect(events.count == 1 && events.first?.position == through)
    }

    @Test func `an acknowledgement log loses the entries that do not matter`() async throws {
        let store = store(.acknowledgement)
        for value in 1...6 {
            let receipt = try await store.record(.set("a", value))
            if value == 4 { try await store.acknowledge(receipt.number) }
        }
        let history = try await left(of: store) { $0.confirmed.cells["a"] == 4 }
        #expect(history.sequences == [4, 5])
    }

    // MARK: The end

    @Test(arguments: [0, 1, 7]) func `a budget stops the search`(candidatesMax: Int) async throws {
        let store = store()
        for _ in 1...40 { _ = try await store.record(.set("a", 1)) }
        var asked = 0
        let minimized = try await store.history().minimized(candidatesMax: candidatesMax) {
            asked += 1
            return Set($0.sequences).isSuperset(of: [1, 20, 37])
        }
        #expect(minimized.end == .stoppedByBudget)
        #expect(asked == candidatesMax && minimized.candidatesTried == candidatesMax)
        #expect(Set(minimized.history.sequences).isSuperset(of: [1, 20, 37]))
        #expect(candidatesMax < 7 || minimized.history.count < 40)
    }

    @Test func `a history that does not fail is returned unchanged`() async throws {
        let store = store()
        _ = try await store.record(.set("a", 1))
        let minimized = try await store.history().minimized(candidatesMax: 9) { _ in false }
        #expect(minimized.end == .neverFailed)
        #expect(minimized.history.sequences == [1] && minimized.candidatesTried == 1)
    }

    @Test func `every entry is removed if no entry matters`() async throws {
        let store = store()
        for _ in 1...9 { _ = try await store.record(.set("a", 1)) }
        let history = try await left(of: store) { _ in true }
        #expect(history.count == 0)
    }

    @Test @MainActor
    func `candidates are judged on the caller's actor, and an error ends the search`()
        async throws
    {
        struct Enough: Error {}
        let store = store()
        for _ in 1...9 { _ = try await store.record(.set("a", 1)) }
        let history = try store.history()
        var judged = 0
        await #expect(throws: Enough.self) {
            _ = try await history.minimized(candidatesMax: 100) { _ in
                MainActor.assertIsolated()
                judged += 1
                await Task.yield()
                if judged == 3 { throw Enough() }
                return true
            }
        }
        #expect(judged == 3)
    }
}
