import Foldback
import Foundation
import TestSupport
import Testing

/// Question: can faults be shown, counted and marked as seen?
///
/// An old app beside a newer server had 40,000 faults of one reason, and no way to say "seen".
@Suite struct FaultSummaryTests {
    private let directory = TemporaryDirectory()

    private func open(
        _ engine: Engine = .lmdb
    ) async throws -> Store<EditionBoard<FirstEdition>> {
        try await engine.store(
            EditionBoard<FirstEdition>.self, .downlink, in: directory,
            also: [AdditionalProjection(EditionRows<FirstEdition>.self)])
    }

    private func confirm(
        _ moves: [Move], in store: Store<EditionBoard<FirstEdition>>
    ) async throws {
        var position = store.status.through
        try await store.confirm(
            moves.map { move in
                position = position.next
                return ConfirmedEvent(position: position, recorded: try move.recorded)
            })
    }

    @Test(arguments: Engine.allCases)
    func `faults are grouped by reason, and count once for all projections`(
        engine: Engine
    ) async throws {
        let store = try await open(engine)
        try await confirm([.set("a", 1)], in: store)
        #expect(store.faultSummary.count == 0 && store.faultSummary.groups.isEmpty)
        try await confirm([.claim("a"), .claim("b"), .add("c", 1)], in: store)
        try await confirm([.claim("d")], in: store)
        let faults = store.faultSummary
        #expect(faults.count == 4 && faults.unseenCount == 4 && faults.leftOutCount == 0)
        #expect(faults.groups.map(\.count) == [3, 1])
        #expect(faults.groups.map(\.isUnreadable) == [true, false])
        #expect(faults.groups.map(\.first) == [2, 2] && faults.groups.map(\.last) == [3, 2])
        #expect(faults.groups[1].reason.contains("c is absent"))
        await store.close()
    }

    @Test func `a mark survives the store, and new faults are unseen`() async throws {
        var store = try await open()
        try await confirm([.claim("a"), .claim("b")], in: store)
        try await store.markSeen(store.faultSummary)
        #expect(store.faultSummary.unseenCount == 0 && store.faultSummary.count == 2)
        await store.close()
        store = try await open()
        #expect(store.faultSummary.unseenCount == 0 && store.faultSummary.count == 2)
        try await confirm([.claim("c")], in: store)
        #expect(store.faultSummary.groups.map(\.unseenCount) == [1])
        #expect(try await store.verify().findings.isEmpty)
        await store.close()
    }

    @Test func `a mark covers only what was shown`() async throws {
        let store = try await open()
        try await confirm([.claim("a")], in: store)
        let shown = store.faultSummary
        try await confirm([.add("x", 1)], in: store)
        try await store.markSeen(shown)
        #expect(store.faultSummary.groups.map(\.unseenCount) == [1, 0])
        // Newer code may refuse an old event for a reason that nobody saw.
        let seen = try #require(try store.core.storage.seenFaults())
        let fault = Fault(sequence: 1, origin: .position(1), reason: "another reason")
        let summary = FaultSummary([[fault]], seen: seen, at: 2)
        #expect(summary.unseenCount == 1)
        await store.close()
    }

    @Test func `more than 1,000 reasons are counted, and can be marked`() async throws {
        let faults = (1...1_500).map { number in
            Fault(
                sequence: LogSequence(UInt64(number)), origin: .position(1),
                reason: "no task \(number)")
        }
        let summary = FaultSummary([faults], seen: nil, at: 1_500)
        #expect(summary.groups.count == 1_000 && summary.leftOutCount == 500)
        #expect(summary.count == 1_500 && summary.groups[0].reason == "no task 1500")
        let store = try await open()
        try await confirm([.claim("a")], in: store)
        try await store.markSeen(summary)
        // A mark does not cover entries that do not exist yet.
        let seen = try #require(try store.core.storage.seenFaults())
        #expect(seen == SeenFaults(through: 1, reasons: nil))
        #expect(FaultSummary([faults], seen: seen, at: 1_500).unseenCount == 1_499)
        await store.close()
    }
}
