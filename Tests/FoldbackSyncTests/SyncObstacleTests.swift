import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Born from an app whose outbox was idle when its downlink found another server: `run()` never
/// ended, so the app never continued on a new log.
///
/// Property: what ends one of outbox and downlink for good ends the other too.
@Suite struct SyncObstacleTests {
    private static func both(
        _ store: Store<Board>, _ authority: any Authority<Move>, _ sources: SyncSources
    ) -> (Outbox<Board>, Downlink<Board>) {
        (
            Outbox(store, to: authority, policy: .ordered, sources: sources),
            Downlink(store, from: authority, policy: .ordered, sources: sources)
        )
    }

    private static func start(
        _ sync: (Outbox<Board>, Downlink<Board>), on executor: (any TaskExecutor)? = nil
    ) -> [Task<Void, any Error>] {
        let (outbox, downlink) = sync
        return [
            Task(executorPreference: executor) { try await outbox.run() },
            Task(executorPreference: executor) { try await downlink.follow() },
        ]
    }

    @Test func `N6: a superseded log ends an idle outbox and an idle downlink, now and later`()
        async throws
    {
        let time = VirtualTime()
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await time.run {
            let authority = InProcessAuthority(Board.self, sources: time.sources)
            let (outbox, downlink) = Self.both(store, authority, time.sources)
            for place in 0..<2 {
                let tasks = Self.start((outbox, downlink), on: time)
                if place == 0 {
                    await time.sleep(.seconds(5))
                    _ = store.noteSuperseded(shared: 3)
                }
                for task in tasks {
                    do {
                        try await task.value
                        Issue.record("nothing was thrown")
                    } catch SyncError.superseded(shared: 3) {
                        #expect(time.passed == .seconds(5))
                    }
                }
                #expect(outbox.status.pause == .superseded(shared: 3))
                #expect(downlink.status.pause == .superseded(shared: 3))
            }
            // A push message must not bring events of the other authority.
            await #expect(throws: SyncError.self) { try await downlink.fetch() }
            await #expect(throws: SyncError.self) {
                try await downlink.fetch(within: .seconds(1))
            }
            try await store.noteNotSuperseded()
            let tasks = Self.start((outbox, downlink), on: time)
            try await store.record(.set("a", 1))
            try await time.wait { store.snapshot.pending.isEmpty }
            for task in tasks {
                task.cancel()
                try await task.value
            }
        }
    }

    @Test func `L6: a latched store ends an idle outbox and an idle downlink`() async throws {
        let directory = TemporaryDirectory()
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .durable)
        let tasks = Self.start(Self.both(store, InProcessAuthority(Board.self), .system))
        try FileManager.default.removeItem(at: directory.log)
        await #expect(throws: CommandError.self) { try await store.record(.set("a", 1)) }
        for task in tasks {
            do {
                try await task.value
                Issue.record("nothing was thrown")
            } catch SyncError.log(.latched) {}
        }
        await store.close()
    }

    // MARK: A head that rises again

    /// Born from a review: the app was killed after the finding, other devices sent more, and the
    /// new events entered a log that had lost ones.
    @Test func `N6: lost data is known after a restart, although the head has risen`() async throws
    {
        let directory = TemporaryDirectory()
        let lineage = Lineage("first")!
        func open() async throws -> Store<Board> {
            try await Store.open(
                at: directory.log, Board.self, confirmedBy: .downlink, durability: .durable)
        }
        var store = try await open()
        try await store.confirm([Self.event(9)], from: lineage)
        let low = StubAuthority<Move>([], lineage: lineage, head: 4)
        await #expect(throws: SyncError.self) {
            try await Downlink(store, from: low, policy: .ordered).fetch()
        }
        for isRestarted in [false, true] {
            if isRestarted {
                await store.close()
                store = try await open()
            }
            #expect(store.status.superseded == 4)
            await #expect(throws: CommandError.self) {
                try await store.confirm([Self.event(10)], from: lineage)
            }
            #expect(store.status.through == 9)
        }
        let server = InProcessAuthority(Board.self, lineage: lineage)
        for number in 1...9 as ClosedRange<UInt64> {
            let id = IntentID(replica: ReplicaID("other")!, number: IntentNumber(number))
            _ = try await server.submit([Submission(id: id, event: .set("a", Int(number)))])
        }
        try await continueAndExpectNewLog(store, server)
    }

    @Test func `N6: a log of acknowledgements goes on once its authority is back`() async throws {
        let directory = TemporaryDirectory()
        for authority in [
            StubAuthority<Move>([.fail(.superseded(shared: 0))]), StubAuthority<Move>([]),
        ] {
            let store = try await Store.open(
                at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .durable)
            #expect(store.status.superseded == nil)
            try await store.record(.set("a", 1))
            let outbox = Outbox(store, to: authority, policy: .ordered)
            let task = Task { try await outbox.run() }
            while !store.snapshot.pending.isEmpty, store.status.superseded == nil {
                await Task.yield()
            }
            task.cancel()
            _ = try? await task.value
            await store.close()
        }
        let store = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .acknowledgement, durability: .durable)
        #expect(store.status.pendingCount == 0)
        await store.close()
    }

    private enum Call: CaseIterable {
        case run, follow, fetch

        func carryOut(
            on sync: (outbox: Outbox<Board>, downlink: Downlink<Board>)
        ) async throws(SyncError) {
            switch self {
            case .run: try await sync.outbox.run()
            case .follow: try await sync.downlink.follow()
            case .fetch: _ = try await sync.downlink.fetch()
            }
        }
    }

    /// Born from a review: the error was dropped, and the call ended as if the log had the finding.
    @Test(arguments: Call.allCases, [false, true])
    private func
        `N6: a call that finds lost data ends with the storage error if the log cannot keep that`(
            call: Call, isOutcomeUnknown: Bool
        ) async throws
    {
        let lineage = Lineage("first")!
        let servers: [any Authority<Move>] = [
            StubAuthority([], lineage: lineage, head: 4), Superseding(shared: 4),
        ]
        for server in servers {
            let time = VirtualTime()
            let log = FaultyLog(leavesOutcomeUnknown: isOutcomeUnknown)
            let store = try Store.withoutThread(Board.self, on: log, sources: .counting())
            try await store.confirm([Self.event(9)], from: lineage)
            try await store.record(.set("b", 1))
            try await time.run {
                let sync = Self.both(store, server, time.sources)
                let failure = await error { () throws(SyncError) in
                    try await call.carryOut(on: sync)
                }
                switch failure {
                case .log(.storage): #expect(!isOutcomeUnknown)
                case .log(.outcomeUnknown), .log(.latched): #expect(isOutcomeUnknown)
                default: Issue.record("\(String(describing: failure))")
                }
                // This store knows it until it is closed.
                #expect(store.status.superseded == 4)
            }
        }
    }

    /// A log that cannot write the finding that data was lost.
    private final class FaultyLog: ForwardingLog {
        let log = MemoryLog(kind: .downlink, replica: ReplicaID("me")!)
        private let leavesOutcomeUnknown: Bool

        init(leavesOutcomeUnknown: Bool) { self.leavesOutcomeUnknown = leavesOutcomeUnknown }

        func write(_ writes: [TableWrite]) throws(StorageFailure) {
            guard writes.allSatisfy({ $0.key != .bytes(LostData.key) }) else {
                throw StorageFailure(
                    path: path, reason: .system(errno: EIO), detail: "on purpose",
                    leavesOutcomeUnknown: leavesOutcomeUnknown)
            }
            try log.write(writes)
        }
    }

    /// Says of each request that it supersedes the log.
    private struct Superseding: Authority {
        let shared: Position

        func submit(
            _ intents: [Submission<Move>], from device: SyncPoint
        ) async throws(AuthorityFailure) -> Verdicts<Move> { throw .superseded(shared: shared) }

        func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
            throw .superseded(shared: shared)
        }
    }

    private static func event(_ position: Position) -> ConfirmedEvent<Move> {
        ConfirmedEvent(position: position, event: .set("a", 1))
    }

    private func continueAndExpectNewLog(
        _ store: Store<Board>, _ server: InProcessAuthority<Board>
    ) async throws {
        let next = try await store.continuedLog(from: server, policy: .ordered) {
            url throws(LogError) in
            try await Store.open(
                at: url, Board.self, confirmedBy: .downlink, durability: .durable)
        }
        #expect(next.status.superseded == nil && next.view.cells == ["a": 9])
        await next.close()
    }

    // MARK: A lost answer

    /// Born from a banner that showed an error until the next intent.
    @Test func `a failure is forgotten once the log has the answer and nothing waits`() async throws
    {
        let time = VirtualTime()
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await time.run {
            let authority = StubAuthority<Move>([.fail(.unreachable(reason: "lost"))])
            let outbox = Outbox(store, to: authority, policy: .ordered, sources: time.sources)
            try await store.record(.set("a", 1))
            let task = Task(executorPreference: time) { try await outbox.run() }
            try await time.wait { outbox.status.pause == .failing(.unreachable(reason: "lost")) }
            try await store.confirm([
                ConfirmedEvent(position: 1, event: .set("a", 1), origin: store.intent(1).id)
            ])
            await time.sleep(.milliseconds(1))
            #expect(outbox.status.pause == nil)
            task.cancel()
            try await task.value
        }
    }

    // MARK: Calls that never return

    /// Takes each intent, and never returns from the first call.
    private struct Hanging: Authority {
        let base: InProcessAuthority<Board>
        let time: VirtualTime

        func submit(
            _ intents: [Submission<Move>], from device: SyncPoint
        ) async throws(AuthorityFailure) -> Verdicts<Move> {
            let verdicts = try await base.submit(intents, from: device)
            if intents.contains(where: { $0.id.number == 1 }) {
                await time.sleep(.seconds(1_000_000))
            }
            return verdicts
        }

        func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
            try await base.changes(after: device)
        }
    }

    @Test func `A5: a call that never returns holds nothing back once its intents are settled`()
        async throws
    {
        let time = VirtualTime()
        let store = Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await time.run {
            let authority = Hanging(
                base: InProcessAuthority(Board.self, sources: time.sources), time: time)
            let tasks = Self.start(Self.both(store, authority, time.sources), on: time)
            try await store.record(.set("a", 1))
            try await time.wait { store.snapshot.pending.isEmpty }
            try await store.record(.set("b", 2))
            try await time.wait(atMost: .seconds(60)) { store.snapshot.pending.isEmpty }
            for task in tasks {
                task.cancel()
                try await task.value
            }
        }
    }
}
