import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// These tests ask what happens if an app runs its outboxes at the wrong time, as views and their
/// tasks do: a run that was started right after a canceled run trapped.
@Suite struct OutboxRunTests {
    private let time = VirtualTime()
    private let store = Self.store()
    private let authority = StubAuthority<Move>([])

    private static func store(_ replica: String = "me") -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: .acknowledgement, replica: ReplicaID(replica)!,
            sources: .counting())
    }

    /// An authority that takes ten seconds, and notices a cancellation only then.
    private struct Deaf: Authority {
        let base: StubAuthority<Move>
        let time: VirtualTime

        func submit(
            _ intents: [Submission<Move>], from device: SyncPoint
        ) async throws(AuthorityFailure) -> Verdicts<Move> {
            let time = time
            await Task.detached(executorPreference: time) { await time.sleep(.seconds(10)) }.value
            return try await base.submit(intents, from: device)
        }

        func changes(
            after device: SyncPoint
        ) async throws(AuthorityFailure) -> Changes<Move> {
            try await base.changes(after: device)
        }
    }

    private typealias Run = Task<Void, any Error>

    private func makeOutbox(
        _ authority: any Authority<Move>, policy: SyncPolicy = .ordered
    ) -> Outbox<Board> {
        Outbox(store, to: authority, policy: policy, sources: time.sources)
    }

    private func start(_ outbox: Outbox<Board>) -> Run {
        Run(executorPreference: time) { try await outbox.run() }
    }

    private static func stop(_ run: Run) async throws {
        run.cancel()
        try await run.value
    }

    private static func isRefused(_ run: Run) async -> Bool {
        if case .failure(SyncError.alreadyRunning) = await run.result { true } else { false }
    }

    @Test(arguments: [true, false])
    func `S4: a run waits for a canceled run of this or another outbox of the store`(
        isSame: Bool
    ) async throws {
        try await time.run {
            let far = Deaf(base: authority, time: time)
            let outbox = makeOutbox(far)
            let other = isSame ? outbox : makeOutbox(far)
            _ = try await store.record(.set("a", 1))
            let first = start(outbox)
            await time.sleep(.seconds(5))
            #expect(outbox.status.inFlight == [1])
            first.cancel()
            let second = start(other)
            let third = start(other)
            await time.sleep(.seconds(1))
            // The first request is on its way. The second run waits, so the third is refused.
            #expect(await Self.isRefused(third))
            try await first.value
            #expect(time.now.duration(since: .init(millisecondsSince1970: 0)) > .seconds(10))
            _ = try await store.record(.set("b", 1))
            try await time.wait { store.snapshot.pending.isEmpty }
            // The canceled run has recorded no verdict.
            #expect(authority.submitted.map { $0.map(\.id.number) } == [[1], [1], [2]])
            try await Self.stop(second)
        }
    }

    @Test func `a refused sign-in that a canceled run hears does not stop the next run`()
        async throws
    {
        let authority = StubAuthority<Move>([.fail(.unauthenticated(reason: "expired"))])
        try await time.run {
            let far = Deaf(base: authority, time: time)
            let outbox = makeOutbox(far)
            _ = try await store.record(.set("a", 1))
            let first = start(outbox)
            await time.sleep(.seconds(5))
            try await Self.stop(first)
            let second = start(outbox)
            await time.sleep(.seconds(30))
            #expect(outbox.status.pause == nil)
            #expect(store.snapshot.pending.isEmpty)
            try await Self.stop(second)
        }
    }

    @Test func `S4: a run is refused while another outbox of the store runs`() async throws {
        let other = Self.store("other")
        try await time.run {
            let first = start(makeOutbox(authority))
            await time.sleep(.seconds(1))
            let second = start(makeOutbox(authority))
            #expect(await Self.isRefused(second))
            #expect("\(SyncError.alreadyRunning)".contains("cancel it first"))
            // Another store is independent.
            let third = start(
                Outbox(other, to: authority, policy: .ordered, sources: time.sources))
            _ = try await other.record(.set("a", 1))
            try await time.wait { other.snapshot.pending.isEmpty }
            for run in [first, third] { try await Self.stop(run) }
        }
    }

    @Test func `S4: a run that is canceled before it begins, or while it waits, returns`()
        async throws
    {
        try await time.run {
            let far = Deaf(base: authority, time: time)
            let outbox = makeOutbox(far)
            _ = try await store.record(.set("a", 1))
            let first = start(outbox)
            await time.sleep(.seconds(1))
            first.cancel()
            let second = start(outbox)
            await time.sleep(.seconds(1))
            let canceled = time.now
            try await Self.stop(second)
            #expect(time.now == canceled)
            let third = start(outbox)
            try await Self.stop(third)
            #expect(time.now == canceled)
            try await first.value
        }
        let last = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await Outbox(store, to: authority, policy: .ordered).run()
        }
        try await last.value
        await store.close()
    }

    /// `.task(id:)` cancels a run and starts the next one, again and again.
    @Test
    func `S4: runs that are canceled and started at any moment settle all, and none is refused`()
        async throws
    {
        for seed in 0..<20 as Range<UInt64> {
            let time = VirtualTime(seed: seed, order: seed)
            let store = Self.store()
            let authority = InProcessAuthority(Board.self)
            try await time.run {
                let far = DelayedAuthority(
                    authority, there: { .milliseconds(300) }, back: { .milliseconds(300) },
                    sleep: time.sleep)
                var run: Task<Void, any Error>?
                var runs: [Task<Void, any Error>] = []
                for step in 0..<30 as Range<Int> {
                    _ = try await store.record(.set("k\(step)", step))
                    run?.cancel()
                    run = Task(executorPreference: time) {
                        try await Outbox(
                            store, to: far, policy: .ordered, sources: time.sources
                        ).run()
                    }
                    runs.append(run!)
                    await time.sleep(.milliseconds(Int64(step) * 97 % 700))
                }
                try await time.wait { store.snapshot.pending.isEmpty }
                run?.cancel()
                for run in runs { try await run.value }
            }
            #expect(authority.events.count == 30)
        }
    }

    // MARK: Quarantine

    private static let policy = SyncPolicy(
        intentsPerRequestMax: 4, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(100))

    /// An authority that fails on each request with the first intent.
    private static func poisoned(_ base: StubAuthority<Move>) -> FaultyAuthority<Move> {
        FaultyAuthority(base) { call in
            guard case .submit(let ids) = call else { return nil }
            return ids.contains { $0.number == 1 } ? .failed : nil
        }
    }

    @Test func `S3: the status and the log show a quarantine, and a release or abandoning ends it`()
        async throws
    {
        try await time.run {
            let outbox = makeOutbox(Self.poisoned(authority), policy: Self.policy)
            for key in ["a", "b"] { _ = try await store.record(.set(key, 1)) }
            let run = start(outbox)
            try await time.wait { !outbox.status.quarantined.isEmpty }
            await time.sleep(.milliseconds(1))
            let quarantine = try #require(store.attempt(of: 1)?.quarantine)
            #expect(quarantine.reason == "simulated fault: the server failed")
            #expect(outbox.status.quarantined == [1: quarantine] && outbox.status.blocking == [1])
            // The view shows it, and nothing is rejected (A4).
            #expect(store.view.cells == ["a": 1, "b": 1] && store.rejections.isEmpty)
            try await outbox.release(1)
            #expect(outbox.status.quarantined.isEmpty && outbox.status.blocking.isEmpty)
            try await time.wait { store.attempt(of: 1)?.failuresAlone == 3 }
            // Without a run, a release changes the log.
            try await time.wait { store.attempt(of: 1)?.quarantine != nil }
            try await Self.stop(run)
            try await Outbox(store, to: authority, policy: Self.policy).release(1)
            #expect(store.attempt(of: 1)?.suspicion == Attempt.Suspicion.none)
            let again = start(outbox)
            try await time.wait { outbox.status.blocking == [1] }
            try await store.abandon(1)
            try await time.wait { store.snapshot.pending.isEmpty }
            #expect(outbox.status.quarantined.isEmpty && store.attempts.isEmpty)
            #expect(authority.submitted.map { $0.map(\.id.number) } == [[2]])
            try await Self.stop(again)
        }
    }

    @Test func `S3: a quarantine survives a restart`() async throws {
        try await time.run {
            for key in ["a", "b"] { _ = try await store.record(.set(key, 1)) }
            let outbox = makeOutbox(Self.poisoned(authority), policy: Self.policy)
            let run = start(outbox)
            try await time.wait { store.attempt(of: 1)?.quarantine != nil }
            let rows = try #require(store.memoryRows)
            try await Self.stop(run)
            let again = try Store.inMemory(Board.self, reopening: rows, sources: .counting())
            let next = Outbox(
                again, to: Self.poisoned(authority), policy: Self.policy, sources: time.sources)
            let second = start(next)
            try await time.wait { next.status.blocking == [1] }
            #expect(again.attempt(of: 1)?.quarantine == store.attempt(of: 1)?.quarantine)
            try await time.wait { again.attempt(of: 1)?.failuresAlone == 9 }
            try await Self.stop(second)
        }
    }
}
