import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests ask whether an outbox sends and records correctly with a real store. They run in
/// virtual time, on both storage engines.
@Suite struct OutboxTests {
    private let directory = TemporaryDirectory()

    private func store(_ engine: Engine, _ kind: LogKind) throws -> Store<Board> {
        try store(Board.self, engine, kind)
    }

    private func store<P: BoardFold>(
        _ board: P.Type, _ engine: Engine, _ kind: LogKind
    ) throws -> Store<P> {
        switch engine {
        case .memory:
            Store.inMemory(
                board, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
        case .lmdb:
            try Store.openWithoutThread(
                at: directory.log, board, confirmedBy: kind, durability: .relaxed,
                replica: .exactly(ReplicaID("me")!), sources: .counting())
        }
    }

    /// Runs an outbox during `body`, and cancels it after that.
    private static func run<P: BoardFold>(
        _ outbox: Outbox<P>, _ body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await outbox.run() }
            try await body()
            group.cancelAll()
        }
        #expect(outbox.status.pause == .stopped)
    }

    private static func numbers(_ requests: [[Submission<Move>]]) -> [[IntentNumber]] {
        requests.map { $0.map(\.id.number) }
    }

    // MARK: Without failures

    @Test(arguments: BoardKeeper.allCases, Engine.allCases)
    func `intents recorded before and during a run are sent and settled`(
        keeper: BoardKeeper, engine: Engine
    ) async throws {
        for kind in LogKind.allCases { try await settlesAll(keeper.type, engine, kind) }
    }

    private func settlesAll<P: BoardFold>(
        _ board: P.Type, _ engine: Engine, _ kind: LogKind
    ) async throws {
        let time = VirtualTime()
        let store = try store(board, engine, kind)
        let authority = InProcessAuthority(Board.self) { submission, _ in
            // The attempt is recorded before the intent leaves (A5).
            let isNoted = store.attempt(of: submission.id.number)?.count == 1
            return isNoted
                ? .accept : .reject(Rejection(message: "sent without a recorded attempt"))
        }
        try await time.run {
            _ = try await store.record(.set("a", 1))
            _ = try await store.record(.add("a", 2))
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await Self.run(outbox) {
                _ = try await store.record(.add("a", 3))
                _ = try await store.record(.add("nothing", 1), force: true)
                try await time.wait { store.status.pendingCount == 0 }
            }
            let downlink = Downlink(
                store, from: authority, policy: .ordered, sources: time.sources)
            let outcome = try await downlink.fetch()
            #expect(outcome == .caughtUp(through: kind == .downlink ? 3 : 0))
            #expect(store.rejections == [4])
            #expect(try store.intent(4).rejection?.code == "inapplicable")
            let confirmed = try store.seen().confirmed
            #expect(confirmed == authority.state)
            #expect(confirmed.cells == ["a": 6])
            #expect(store.overlay.isEmpty && store.attempts.isEmpty)
        }
        // Verification runs on a thread, and virtual time does not wait for threads.
        #expect(try await store.verify().isSound)
        await store.close()
        try? FileManager.default.removeItem(at: directory.log)
    }

    @Test func `an outbox settles all intents of a store with a thread and the system's clock`()
        async throws
    {
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .durable)
        let authority = InProcessAuthority(Board.self)
        let outbox = Outbox(store, to: authority, policy: .concurrent(requestsMax: 4))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await outbox.run() }
            for value in 1...300 { _ = try await store.record(.set("k\(value % 7)", value)) }
            let receipt = try await store.record(.set("last", 1))
            #expect(try await receipt.settlement().content == .confirmed)
            // Closing the store ends the run.
            await store.close()
            try await group.waitForAll()
        }
        #expect(authority.decidedCount == 301)
        #expect(authority.state.cells == store.view.cells)
    }

    @Test func `the log records the authority's replacement of an event`() async throws {
        let time = VirtualTime()
        let store = try store(.memory, .acknowledgement)
        let authority = InProcessAuthority(Board.self) { submission, state in
            guard case .set(let key, let value) = submission.event else { return .accept }
            return value > 9 ? .reword(.set(key, 9)) : .accept
        }
        try await time.run {
            _ = try await store.record(.set("a", 100))
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await Self.run(outbox) {
                try await time.wait { store.snapshot.pending.isEmpty }
            }
            #expect(store.view.cells == ["a": 9])
        }
    }

    // MARK: Failures

    @Test func `an unauthenticated failure pauses sending, and signing in resumes it`() async throws
    {
        let time = VirtualTime()
        let store = try store(.memory, .acknowledgement)
        let authority = StubAuthority<Move>([.fail(.unauthenticated(reason: "expired"))])
        try await time.run {
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await Self.run(outbox) {
                _ = try await store.record(.set("a", 1))
                await time.sleep(.seconds(100_000))
                #expect(outbox.status.pause == .signedOut(reason: "expired"))
                #expect(outbox.status.waitingCount == 1)
                #expect(store.attempt(of: 1)?.failure?.reason == "expired")
                outbox.tell(.wentOnline)
                await time.sleep(.seconds(100_000))
                #expect(authority.submitted.count == 1)
                outbox.tell(.signedIn)
                try await time.wait { store.snapshot.pending.isEmpty }
                #expect(outbox.status.pause == nil)
            }
            #expect(Self.numbers(authority.submitted) == [[1], [1]])
        }
    }

    @Test func `an offline outbox sends nothing, and sends at once when it comes online`()
        async throws
    {
        let time = VirtualTime()
        let store = try store(.memory, .acknowledgement)
        let authority = StubAuthority<Move>([])
        try await time.run {
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            outbox.tell(.wentOffline)
            try await Self.run(outbox) {
                _ = try await store.record(.set("a", 1))
                await time.sleep(.seconds(1_000))
                #expect(authority.submitted.isEmpty && store.attempts.isEmpty)
                #expect(outbox.status.pause == .offline)
                // The first intent cannot have left, so it can be withdrawn.
                _ = try await store.record(.set("b", 1))
                await time.sleep(.seconds(1))
                #expect(outbox.status.waitingCount == 2)
                try await store.withdraw(1)
                await time.sleep(.seconds(1))
                #expect(outbox.status.waitingCount == 1)
                outbox.tell(.wentOnline)
                try await time.wait { store.snapshot.pending.isEmpty }
            }
            #expect(Self.numbers(authority.submitted) == [[2]])
        }
    }

    @Test func `a postponed intent is sent again at the requested time, and later intents wait`()
        async throws
    {
        let time = VirtualTime()
        let store = try store(.memory, .acknowledgement)
        let authority = StubAuthority<Move>([
            .verdicts([
                1: .accepted(position: nil, replacement: nil),
                2: .later(after: .seconds(30), reason: "soon"),
            ])
        ])
        try await time.run {
            for key in ["a", "b", "c"] { _ = try await store.record(.set(key, 1)) }
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            let start = time.now
            try await Self.run(outbox) {
                await time.sleep(.seconds(1))
                #expect(store.snapshot.pending == [2, 3])
                #expect(store.attempt(of: 2)?.failure?.reason == "soon")
                #expect(outbox.status.nextAttempt == start.advanced(by: .seconds(30)))
                try await time.wait { store.snapshot.pending.isEmpty }
            }
            #expect(Self.numbers(authority.submitted) == [[1, 2, 3], [2, 3]])
            #expect(time.now.duration(since: start) >= .seconds(30))
        }
    }

    @Test func `the outbox waits after failures, and its status shows them`() async throws {
        let time = VirtualTime()
        let store = try store(.memory, .acknowledgement)
        let failure = AuthorityFailure.unavailable(after: .seconds(50), reason: "busy")
        let authority = StubAuthority<Move>([
            .fail(.unreachable(reason: "no signal")), .fail(.invalidAnswer(reason: "HTML")),
            .fail(failure),
        ])
        try await time.run {
            _ = try await store.record(.set("a", 1))
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await Self.run(outbox) {
                try await time.wait { authority.submitted.count == 3 }
                #expect(outbox.status.pause == .failing(failure))
                #expect(store.attempt(of: 1)?.count == 3)
                #expect(store.attempt(of: 1)?.next == outbox.status.nextAttempt)
                try await time.wait { store.snapshot.pending.isEmpty }
                #expect(outbox.status.pause == nil)
            }
        }
    }

    @Test func `a verdict that cannot be recorded is not an answer`() async throws {
        let time = VirtualTime()
        let store = try store(.memory, .downlink)
        let authority = StubAuthority<Move>([
            .verdicts([
                1: .accepted(position: 0, replacement: nil),
                2: .accepted(position: 7, replacement: nil),
                3: .rejected(
                    Rejection(
                        code: String(repeating: "c", count: 5_000),
                        message: String(repeating: "m", count: 100_000))),
            ])
        ])
        try await time.run {
            for key in ["a", "b", "c"] { _ = try await store.record(.set(key, 1)) }
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await Self.run(outbox) {
                try await time.wait { store.snapshot.pending.isEmpty }
            }
            #expect(Self.numbers(authority.submitted) == [[1, 2, 3], [1]])
            #expect(store.snapshot.accepted == [1, 2])
            #expect(store.rejections == [3])
        }
    }

    /// A board whose codec cannot decode claims.
    struct ShortSightedBoard: Projection {
        struct Codec: EventCodec {
            var format: EventFormat { MoveCodec().format }
            func encode(_ move: Move) throws -> [UInt8] { try MoveCodec().encode(move) }
            func decode(_ bytes: RawSpan, format: EventFormat) throws -> Move {
                let move = try MoveCodec().decode(bytes, format: format)
                if case .claim = move { throw CancellationError() }
                return move
            }
        }

        var board = Board()
        static var codec: any EventCodec<Move> { Codec() }
        mutating func apply(_ move: Move, _ context: EventContext) throws {
            try board.apply(move, context)
        }
    }

    @Test func `an unreadable intent is listed and not sent, and later intents are sent`()
        async throws
    {
        let time = VirtualTime()
        let first = try store(.memory, .acknowledgement)
        let authority = StubAuthority<Move>([])
        try await time.run {
            _ = try await first.record(.claim("a"))
            _ = try await first.record(.set("b", 1))
            let rows = try #require(first.memoryRows)
            let store = try Store.inMemory(
                ShortSightedBoard.self, reopening: rows, sources: .counting())
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await outbox.run() }
                try await time.wait { store.snapshot.pending == [1] }
                #expect(outbox.status.unreadable == [1])
                #expect(outbox.status.pause == nil && outbox.status.waitingCount == 0)
                group.cancelAll()
            }
            #expect(Self.numbers(authority.submitted) == [[2]])
        }
    }

    @Test func `a canceled run returns, and a later run sends the rest`() async throws {
        let time = VirtualTime()
        let store = try store(.memory, .acknowledgement)
        let authority = StubAuthority<Move>([])
        let far = DelayedAuthority(
            authority, there: { .seconds(10) }, back: { .seconds(10) }, sleep: time.sleep)
        try await time.run {
            let outbox = Outbox(store, to: far, policy: .ordered, sources: time.sources)
            _ = try await store.record(.set("a", 1))
            try await Self.run(outbox) {
                await time.sleep(.seconds(15))
                #expect(outbox.status.inFlight == [1])
                #expect(authority.submitted.count == 1)
            }
            #expect(store.snapshot.pending == [1])
            try await Self.run(outbox) {
                try await time.wait { store.snapshot.pending.isEmpty }
            }
            #expect(Self.numbers(authority.submitted) == [[1], [1]])
        }
    }

    // MARK: Status

    @Test func `the next status after a call of outbox or store includes the call's effect`()
        async throws
    {
        let time = VirtualTime()
        let store = try store(.memory, .acknowledgement)
        let far = DelayedAuthority(
            StubAuthority<Move>([]), there: { .seconds(10) }, sleep: time.sleep)
        try await time.run {
            let outbox = Outbox(store, to: far, policy: .ordered, sources: time.sources)
            var statuses = outbox.statuses.makeAsyncIterator()
            let first = await statuses.next()
            #expect(first?.pause == .stopped && first?.waitingCount == 0)
            _ = try await store.record(.set("a", 1))
            #expect(await statuses.next()?.waitingCount == 1)
            outbox.tell(.wentOffline)
            try await Self.run(outbox) {
                await time.sleep(.seconds(1))
                #expect(await statuses.next()?.pause == .offline)
                _ = try await store.record(.set("b", 1))
                _ = try await store.record(.set("c", 1))
                #expect(await statuses.next()?.waitingCount == 3)
                try await store.withdraw(2)
                #expect(await statuses.next()?.waitingCount == 2)
                outbox.tell(.signedOut(reason: "by the user"))
                #expect(await statuses.next()?.pause == .signedOut(reason: "by the user"))
                outbox.tell(.signedIn)
                await time.sleep(.seconds(1))
                outbox.tell(.wentOnline)
                await time.sleep(.seconds(1))
                let sending = await statuses.next()
                #expect(sending?.inFlight == [1, 3] && sending?.waitingCount == 0)
                // The log has an answer before the outbox knows it.
                try await store.acknowledge(1)
                #expect(await statuses.next()?.inFlight == [3])
                await time.sleep(.seconds(10))
                #expect(await statuses.next()?.inFlight == [])
            }
            await store.close()
            while await statuses.next() != nil {}
        }
    }

    // MARK: The log

    private static func store(on storage: TestStorage) throws -> Store<Board> {
        let core = try StoreCore(
            on: storage, codec: AppCodec(codec: Board.codec),
            projections: ProjectionSet(Board.self),
            clock: LogSources.counting().now, policy: .manual, hasThread: false)
        return Store(core: core)
    }

    @Test func `L2: a relaxed log is flushed before first attempts only`()
        async throws
    {
        let time = VirtualTime()
        let storage = TestStorage()
        let store = try Self.store(on: storage)
        let flushes = Mutex<[Int]>([])
        let authority = FaultyAuthority(StubAuthority<Move>([])) { _ in
            flushes.withLock { flushes in
                flushes.append(storage.syncCount)
                return flushes.count == 1 ? .lostBefore : nil
            }
        }
        try await time.run {
            _ = try await store.record(.set("a", 1))
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await Self.run(outbox) {
                try await time.wait { store.snapshot.pending.isEmpty }
                _ = try await store.record(.set("b", 1))
                try await time.wait { store.snapshot.pending.isEmpty }
            }
        }
        #expect(flushes.withLock { $0 } == [1, 1, 2])
    }

    @Test func `L6: a failed write of the log ends the run before an intent is sent`() async throws
    {
        let time = VirtualTime()
        let storage = TestStorage()
        let store = try Self.store(on: storage)
        let authority = StubAuthority<Move>([])
        try await time.run {
            _ = try await store.record(.set("a", 1))
            storage.failWrites(leavingOutcomeUnknown: true)
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            let failure = await error { () throws(SyncError) in try await outbox.run() }
            guard case .log(.outcomeUnknown(intent: nil, _)) = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(authority.submitted.isEmpty)
        }
    }
}
