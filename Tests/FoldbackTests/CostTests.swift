import Foldback
import TestSupport
import Testing

/// Question: how many events does an answer apply? The tests count applications and do not measure
/// time.
@Suite struct CostTests {
    private let directory = TemporaryDirectory()

    private func filled(
        _ kind: LogKind, _ count: Int, _ keeper: BoardKeeper = .memory
    ) async throws -> any BoardStore {
        let store = try await keeper.store(.memory, kind, in: directory)
        for number in 1...count { _ = try await store.record(.set("k\(number % 7)", number)) }
        return store
    }

    private func cost(
        in store: any BoardStore, of body: () async throws -> Void
    ) async throws -> FoldCounts {
        let before = store.counts
        try await body()
        let after = store.counts
        return FoldCounts(
            overlay: after.overlay - before.overlay, confirmed: after.confirmed - before.confirmed)
    }

    @Test(arguments: BoardKeeper.allCases)
    func `recording applies only the new intent`(keeper: BoardKeeper) async throws {
        let store = try await filled(.downlink, 1_000, keeper)
        let recording = try await cost(in: store) { _ = try await store.record(.set("a", 1)) }
        #expect(recording == FoldCounts(overlay: 1, confirmed: 0))
    }

    /// After the oldest intent, every seventh intent writes the same row.
    @Test(arguments: BoardKeeper.allCases)
    func `acknowledging the oldest intent folds nothing in the overlay`(
        keeper: BoardKeeper
    ) async throws {
        let store = try await filled(.acknowledgement, 1_000, keeper)
        let oldest = try await cost(in: store) { try await store.acknowledge(1) }
        #expect(oldest == FoldCounts(overlay: 0, confirmed: 1))
        let cells = try store.cells
        let other = try await cost(in: store) { try await store.acknowledge(500) }
        // With rows, four intents find a changed row. Intents 3 and 507 read the cell that intent
        // 500 wrote. Intents 5 and 504 read a count of cells that changed with it.
        #expect(other.confirmed == 1)
        #expect(other.overlay == (keeper == .memory ? 998 : 4), "\(other)")
        #expect(try store.cells == cells)
        #expect(try store.seen().confirmed.cells == ["k1": 1, "k3": 500])
    }

    @Test(arguments: BoardKeeper.allCases)
    func `a batch that confirms the head of the overlay folds nothing in the overlay`(
        keeper: BoardKeeper
    ) async throws {
        let store = try await filled(.downlink, 1_000, keeper)
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

    @Test(arguments: BoardKeeper.allCases)
    func `rejecting the newest intent folds nothing`(keeper: BoardKeeper) async throws {
        let store = try await filled(.downlink, 1_000, keeper)
        let newest = try await cost(in: store) { try await store.reject(1_000) }
        #expect(newest == FoldCounts())
    }

    @Test func `rejecting an old intent folds the intents after it`() async throws {
        let store = try await filled(.downlink, 1_000)
        let newest = try await cost(in: store) { try await store.reject(1_000) }
        #expect(newest == FoldCounts())
        let near = try await cost(in: store) { try await store.reject(990) }
        #expect(near.overlay <= 2 * 10)
        let oldest = try await cost(in: store) { try await store.reject(1) }
        #expect(oldest == FoldCounts(overlay: 997, confirmed: 0))
        let newestAgain = try await cost(in: store) { try await store.reject(999) }
        #expect(newestAgain == FoldCounts())
    }

    @Test func `a confirmed removal can make half of the overlay conflicted at once`() async throws
    {
        let store = try await Engine.memory.store(Board.self, .downlink, in: directory)
        try await store.confirm([ConfirmedEvent(position: 1, event: .set("a", 0))])
        for number in 1...1_000 {
            _ = try await store.record(number % 2 == 0 ? .add("a", 1) : .set("b", number))
        }
        // After this batch, half of the pending intents no longer apply.
        try await store.confirm([ConfirmedEvent(position: 2, event: .remove("a"))])
        #expect(store.snapshot.conflicted.count == 500)
        #expect(store.view.cells == ["b": 999])
    }

    // MARK: Ranges of rows

    /// Returns a store with five intents on the row "b", one on "y", and a sweep of a range around
    /// each.
    private func withRanges(
        _ engine: Engine, _ kind: LogKind
    ) async throws -> any BoardStore {
        let store = try await BoardKeeper.rows.store(engine, kind, in: directory)
        for number in 1...5 { _ = try await store.record(.set("b", 3 * number)) }
        _ = try await store.record(.set("y", 3))
        _ = try await store.record(.sweep("a", "c"))
        _ = try await store.record(.sweep("x", "z"))
        return store
    }

    @Test func `an answer in a range applies the intent that read the range, and only once`()
        async throws
    {
        let store = try await withRanges(.memory, .acknowledgement)
        #expect(try store.cells == ["a": 2, "x": 2])
        let recording = try await cost(in: store) { _ = try await store.record(.set("m", 8)) }
        #expect(recording == FoldCounts(overlay: 1, confirmed: 0))
        let outside = try await cost(in: store) { try await store.acknowledge(9) }
        #expect(outside == FoldCounts(overlay: 0, confirmed: 1))
        let inside = try await cost(in: store) { try await store.acknowledge(1) }
        #expect(inside == FoldCounts(overlay: 1, confirmed: 1))
        #expect(try store.cells == ["a": 2, "m": 8, "x": 2])
    }

    @Test func `a foreign event applies the intents that read its row or a range with its row`()
        async throws
    {
        let store = try await withRanges(.memory, .downlink)
        func foreign(_ position: Position, _ move: Move) async throws -> FoldCounts {
            try await cost(in: store) {
                try await store.confirm([ConfirmedEvent(position: position, event: move)])
            }
        }
        #expect(try await foreign(1, .set("m", 8)) == FoldCounts(overlay: 0, confirmed: 1))
        // The other sweep is applied too, because it reads the count of cells with its value.
        #expect(try await foreign(2, .set("aa", 7)) == FoldCounts(overlay: 2, confirmed: 1))
        #expect(try store.cells == ["a": 3, "m": 8, "x": 2])
    }

    @Test func `opening applies each intent of the overlay once and no confirmed event`()
        async throws
    {
        let store = try await withRanges(.lmdb, .acknowledgement)
        try await store.acknowledge(1)
        let cells = try store.cells
        await store.close()
        let reopened = try await BoardKeeper.rows.store(.lmdb, .acknowledgement, in: directory)
        #expect(reopened.counts == FoldCounts(overlay: 7, confirmed: 0))
        #expect(try reopened.cells == cells)
        await reopened.close()
    }
}
