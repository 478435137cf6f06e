import Foldback
import TestSupport
import Testing

/// What answers cost in applications, as section 2 of the design promises: counted, not timed.
@Suite struct CostTests {
    private let directory = TemporaryDirectory()

    private func filled(_ kind: LogKind, _ count: Int) async throws -> Store<Board> {
        let store = try await Engine.memory.store(Board.self, kind, in: directory)
        for number in 1...count { _ = try await store.record(.set("k\(number % 7)", number)) }
        return store
    }

    private func cost(
        in store: Store<Board>, of body: () async throws -> Void
    ) async throws -> FoldCounts {
        let before = store.projected.folded.counts
        try await body()
        let after = store.projected.folded.counts
        return FoldCounts(
            overlay: after.overlay - before.overlay, confirmed: after.confirmed - before.confirmed)
    }

    @Test func `recording folds once`() async throws {
        let store = try await filled(.downlink, 1_000)
        let one = try await cost(in: store) { _ = try await store.record(.set("a", 1)) }
        #expect(one == FoldCounts(overlay: 1, confirmed: 0))
    }

    @Test func `acknowledging the oldest folds nothing in the overlay`() async throws {
        let store = try await filled(.acknowledgement, 1_000)
        let oldest = try await cost(in: store) { try await store.acknowledge(1) }
        #expect(oldest == FoldCounts(overlay: 0, confirmed: 1))
        let view = store.view
        let other = try await cost(in: store) { try await store.acknowledge(500) }
        #expect(other == FoldCounts(overlay: 998, confirmed: 1))
        #expect(store.view.cells.count == view.cells.count)
    }

    @Test func `a batch that brings the overlay's head folds nothing in the overlay`() async throws
    {
        let store = try await filled(.downlink, 1_000)
        let events = (1...3 as ClosedRange<UInt64>).map { number in
            ConfirmedEvent(
                position: Position(number), event: Move.set("k\(number % 7)", Int(number)),
                origin: IntentID(replica: ReplicaID("me")!, number: IntentNumber(number)))
        }
        let head = try await cost(in: store) { try await store.confirm(events) }
        #expect(head == FoldCounts(overlay: 0, confirmed: 3))
        let accepted = try await cost(in: store) { try await store.acknowledge(4) }
        #expect(accepted == FoldCounts())
    }

    @Test func `rejecting the newest folds nothing, an old one what is behind it`() async throws {
        let store = try await filled(.downlink, 1_000)
        let newest = try await cost(in: store) { try await store.reject(1_000, message: "no") }
        #expect(newest == FoldCounts())
        let near = try await cost(in: store) { try await store.reject(990, message: "no") }
        #expect(near.overlay <= 2 * 10)
        let oldest = try await cost(in: store) { try await store.reject(1, message: "no") }
        #expect(oldest == FoldCounts(overlay: 997, confirmed: 0))
        let newestAgain = try await cost(in: store) { try await store.reject(999, message: "no") }
        #expect(newestAgain == FoldCounts())
    }

    @Test func `any number of throws costs at most twice the overlay`() async throws {
        let store = try await Engine.memory.store(Board.self, .downlink, in: directory)
        try await store.confirm([ConfirmedEvent(position: 1, event: .set("a", 0))])
        for number in 1...1_000 {
            _ = try await store.record(number % 2 == 0 ? .add("a", 1) : .set("b", number))
        }
        // Half of what is pending no longer applies, all at once.
        try await store.confirm([ConfirmedEvent(position: 2, event: .remove("a"))])
        #expect(store.snapshot.conflicted.count == 500)
        #expect(store.view.cells == ["b": 999])
    }
}
