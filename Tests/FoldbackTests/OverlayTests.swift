import Foldback
import TestSupport
import Testing

/// Question: does reading the overlay cost as much as what is read?
///
/// With 50,000 pending intents, each reading of `overlay` copied all of them, even to look at one.
@Suite struct OverlayTests {
    private static func store(pending count: Int) async throws -> Store<Board> {
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        for number in 1...count { _ = try await store.record(.set("k\(number % 7)", number)) }
        return store
    }

    @Test func `an overlay is a collection of its intents in number order`() async throws {
        // More than one group of the list below.
        let store = try await Self.store(pending: 2_500)
        try await store.acknowledge(2, position: 7)
        try await store.reject(1, message: "no")
        let overlay = store.overlay
        let numbers = (2...2_500 as ClosedRange<UInt64>).map { IntentNumber($0) }
        #expect(overlay.map(\.number) == numbers)
        #expect(overlay.indices.map { overlay[$0].number } == numbers)
        #expect(overlay.reversed().map(\.number) == numbers.reversed())
        #expect(overlay.count == 2_499 && overlay.first?.state == .accepted)
        #expect(overlay.last?.event == .set("k1", 2_500))
        #expect(overlay[2_100...].prefix(2).map(\.number) == [2_102, 2_103])
        #expect(store.snapshot.overlay.map(\.number) == numbers)
    }

    @Test func `an overlay does not change after it was read`() async throws {
        let store = try await Self.store(pending: 3)
        let overlay = store.overlay
        try await store.withdraw(2)
        #expect(overlay.map(\.number) == [1, 2, 3])
        #expect(store.overlay.map(\.number) == [1, 3])
        #expect(Store<Board>.inMemory(Board.self, confirmedBy: .downlink).overlay.isEmpty)
    }

    /// With 16 times as many intents, a copy of all takes 16 times as long. A search in a tree that is
    /// not in the processor's caches took up to 5 times as long.
    @Test func `reading the ends of an overlay costs the same with many intents`() async throws {
        func time(_ store: Store<Board>) -> Double {
            leastThreadTime(runs: 20) {
                for _ in 0..<200 {
                    let overlay = store.overlay
                    _ = (overlay.first?.number, overlay.last?.number, overlay.count)
                }
            }
        }
        let (few, many) = (
            try await Self.store(pending: 250), try await Self.store(pending: 4_000)
        )
        #expect(time(many) / time(few) < 8)
    }
}
