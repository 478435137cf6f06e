import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// These tests ask what an intent that cannot be sent or decided holds up: its lane, and nothing else
/// (S1). The order of lanes under random inputs is a property of `OutboxPropertyTests`.
@Suite struct LaneTests {
    private func store() -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
    }

    /// The key of a move is its lane; "alone" has none.
    @Sendable private static func lane(_ move: Move) -> String? {
        switch move {
        case .set("alone", _): nil
        case .set(let key, _), .add(let key, _), .claim(let key), .remove(let key): key
        default: nil
        }
    }

    /// Runs an outbox with lanes for some time against an authority.
    private func run(
        _ store: Store<Board>, _ authority: any Authority<Move>, _ policy: SyncPolicy = .ordered,
        for duration: Duration
    ) async throws -> OutboxStatus {
        let time = VirtualTime()
        let last = Mutex<OutboxStatus?>(nil)
        try await time.run {
            let outbox = Outbox(
                store, to: authority, policy: policy, sources: time.sources, lane: Self.lane)
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await outbox.run() }
                await time.sources.sleep(duration)
                last.withLock { $0 = outbox.status }
                group.cancelAll()
            }
        }
        return try #require(last.withLock { $0 })
    }

    @Test(arguments: [SyncPolicy.ordered, .concurrent(requestsMax: 3)])
    func `S1: a postponed intent holds up its lane alone`(policy: SyncPolicy) async throws {
        let store = store()
        for key in ["a", "b", "a", "b", "alone"] { try await store.record(.set(key, 1)) }
        let authority = InProcessAuthority(Board.self) { intent, _ in
            intent.id.number == 1 ? .later(after: .seconds(3_000), reason: "busy") : .accept
        }
        let status = try await run(store, authority, policy, for: .seconds(100))
        #expect(store.snapshot.accepted == [2, 4, 5] && store.snapshot.pending == [1, 3])
        // What comes after a postponed intent has no verdict, and has not failed.
        #expect(store.attempt(of: 3)?.failure == nil)
        #expect(status.pause == nil && status.quarantined.isEmpty && status.blocking.isEmpty)
    }

    @Test(arguments: [SyncPolicy.ordered, .concurrent(requestsMax: 3)])
    func `S1: an intent that makes the server fail holds up its lane alone`(
        policy: SyncPolicy
    ) async throws {
        let store = store()
        for number in 1...60 { try await store.record(.set("key \(number % 6)", number)) }
        let poison = IntentNumber(20)
        let authority = PoisonedAuthority(InProcessAuthority(Board.self), poison)
        // Long enough to find it among 60, and to quarantine it.
        let status = try await run(store, authority, policy, for: .seconds(600))
        #expect(status.quarantined.keys.sorted() == [poison] && status.blocking == [poison])
        let waiting = (1...60 as ClosedRange<UInt64>).map { IntentNumber($0) }
            .filter { $0 >= poison && $0.value % 6 == poison.value % 6 }
        #expect(store.snapshot.pending == waiting)
    }

    @Test func `S1: within a lane, an intent is sent after the one before has its answer`()
        async throws
    {
        let store = store()
        for number in 1...40 { try await store.record(.set("key \(number % 3)", number)) }
        let authority = StubAuthority<Move>([
            .fail(.unreachable(reason: "on purpose")), .verdicts([:]),
        ])
        _ = try await run(store, authority, .concurrent(requestsMax: 4), for: .seconds(200))
        #expect(store.snapshot.pending.isEmpty)
        for lane in 0..<3 {
            let sent = authority.submitted.joined().map(\.id.number.value)
                .filter { $0 % 3 == lane }
            // An intent comes again only before any later one of its lane was sent with success.
            var first: [UInt64] = []
            for number in sent where !first.contains(number) { first.append(number) }
            #expect(first == first.sorted())
        }
    }

    @Test func `S1: an unreadable intent holds up no intent of its lane`() async throws {
        var state = OutboxState(policy: .ordered, hasLanes: true)
        let actions = state.take(
            [
                .recorded([
                    PendingIntent(1, attempt: nil, isReadable: false, lane: "a"),
                    PendingIntent(2, attempt: nil, isReadable: true, lane: "a"),
                ])
            ], at: Timestamp(millisecondsSince1970: 0), jitter: 0)
        guard case .cover(_, let attempts, _)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(attempts.keys.sorted() == [2])
    }

    @Test func `N5: requests number their lanes, and those of one lane have no number`()
        async throws
    {
        for (lane, numbers) in [(Self.lane, [0, 1, 0, 2]), (nil, [nil, nil, nil, nil])] {
            let store = store()
            for key in ["a", "b", "a", "alone"] { try await store.record(.set(key, 1)) }
            let authority = StubAuthority<Move>([])
            let time = VirtualTime()
            try await time.run {
                let outbox = Outbox(
                    store, to: authority, policy: .ordered, sources: time.sources,
                    lane: lane as (@Sendable (Move) -> String?)?)
                await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await outbox.run() }
                    await time.sources.sleep(.seconds(1))
                    group.cancelAll()
                }
            }
            #expect(authority.submitted.map { $0.map(\.lane) } == [numbers])
            for intent in authority.submitted.joined() {
                let wire = Submission<RecordedEvent>(
                    id: intent.id, event: intent.recorded, recorded: intent.recorded,
                    time: intent.time, info: intent.info, lane: intent.lane)
                #expect(try Submission<RecordedEvent>(json: wire.json()).lane == intent.lane)
            }
        }
    }
}

/// Fails on each request that has one intent.
struct PoisonedAuthority: Authority {
    let authority: InProcessAuthority<Board>
    let poison: IntentNumber

    init(_ authority: InProcessAuthority<Board>, _ poison: IntentNumber) {
        self.authority = authority
        self.poison = poison
    }

    func submit(
        _ intents: [Submission<Move>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Move> {
        if intents.contains(where: { $0.id.number == poison }) {
            throw .failed(reason: "HTTP 500")
        }
        return try await authority.submit(intents, from: device)
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Move> {
        try await authority.changes(after: device)
    }
}
