import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests come from known failures of other outboxes: a lost answer, and an increment that is
/// applied twice.
///
/// Property: at whatever moment the process dies, and whatever faults the link has, each intent is
/// decided once. It is sent under one id with one event, and never after its answer is in the log.
/// At the end, the view is equal to the authority's state.
@Suite struct RestartTests {
    private static let policy = SyncPolicy(
        intentsPerRequestMax: 3, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60))

    /// The faults of the first calls.
    private static let faults: [FaultyAuthority<Move>.Fault?] = [
        .lostAfter, .partial(answered: 1), .lostBefore, .duplicated, .later(after: .seconds(3)),
        nil, .unavailable(after: nil), .partial(answered: 0),
    ]

    private static let moves: [Move] = [
        .set("a", 1), .add("a", 10), .claim("b"), .add("missing", 1), .add("a", 100), .remove("b"),
    ]

    /// Sends from `store` until nothing is pending, or until `jobsMax` jobs have run.
    /// - Returns: the committed rows after `jobsMax` jobs; nil if the run ended before.
    private static func play<P: BoardFold>(
        _ store: Store<P>, _ authority: any Authority<Move>, jobsMax: Int
    ) async throws -> MemoryRows? {
        let time = VirtualTime()
        let rows = Mutex<MemoryRows?>(nil)
        time.onJob { count in
            if count == jobsMax { rows.withLock { $0 = store.memoryRows } }
        }
        let cut = FaultyAuthority(authority) { _ in
            rows.withLock { $0 != nil } ? .lostBefore : nil
        }
        try await time.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                let outbox = Outbox(store, to: cut, policy: policy, sources: time.sources)
                group.addTask { try await outbox.run() }
                try await time.wait {
                    store.status.pendingCount == 0 || rows.withLock { $0 != nil }
                }
                group.cancelAll()
            }
        }
        return rows.withLock { $0 }
    }

    /// Returns an authority with the faults of `calls`. It fails the test if an intent is sent
    /// after its answer is in the log, or without a recorded attempt.
    private static func watch<P: BoardFold>(
        _ store: Store<P>, _ authority: any Authority<Move>,
        _ calls: FaultPlan
    ) -> FaultyAuthority<Move> {
        FaultyAuthority(authority) { call in
            if case .submit(let ids) = call {
                let pending = Set(
                    store.overlay.filter { $0.state == .pending }.map(\.number))
                #expect(
                    pending.isSuperset(of: ids.map(\.number)), "an intent with an answer is sent")
                #expect(
                    ids.allSatisfy { store.attempt(of: $0.number) != nil },
                    "an intent is sent without a recorded attempt")
            }
            return calls.next()
        }
    }

    /// Stops after `jobsMax` jobs, and continues from the committed rows. Returns false if all was
    /// sent before that.
    private static func live<P: BoardFold>(_ board: P.Type, jobsMax: Int) async throws -> Bool {
        let authority = InProcessAuthority(Board.self)
        let calls = FaultPlan(faults)
        let first = Store.inMemory(
            board, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        for move in moves { _ = try await first.record(move, force: true) }
        let rows = try await play(first, watch(first, authority, calls), jobsMax: jobsMax)
        let last =
            try rows.map {
                try Store.inMemory(board, reopening: $0, sources: .counting())
            } ?? first
        _ = try await play(last, watch(last, authority, calls), jobsMax: .max)
        let time = VirtualTime()
        try await time.run {
            let downlink = Downlink(last, from: authority, policy: policy, sources: time.sources)
            let outcome1 = try await downlink.fetch()
            #expect(outcome1 == .caughtUp(through: 5))
        }
        #expect(authority.decidedCount == moves.count)
        #expect(authority.events.map(\.origin?.number) == [1, 2, 3, 5, 6])
        let seen = try last.seen()
        #expect(seen.confirmed == authority.state && seen.view == authority.state)
        #expect(last.overlay.isEmpty && last.attempts.isEmpty && last.rejections == [4])
        #expect(try await last.verify().isSound)
        return rows != nil
    }

    @Test(arguments: BoardKeeper.allCases)
    func `each intent is decided once, at whatever moment the process dies`(
        keeper: BoardKeeper
    ) async throws {
        var jobs = 1
        while try await Self.live(keeper.type, jobsMax: jobs) {
            jobs += 1
            try #require(jobs < 5_000)
        }
        #expect(jobs > 50, "the process died at only \(jobs) moments")
    }
}
