import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// These tests ask whether Foldback's own authorities keep A1 to A3, and how the downlink reacts to
/// pages and failures.
@Suite struct AuthorityTests {
    private static func id(_ number: UInt64, of replica: String = "me") -> IntentID {
        IntentID(replica: ReplicaID(replica)!, number: IntentNumber(number))
    }

    private static func submission(
        _ number: UInt64, _ move: Move, of replica: String = "me"
    ) -> Submission<Move> {
        Submission(id: id(number, of: replica), event: move)
    }

    private static let policy = SyncPolicy(
        intentsPerRequestMax: 3, requestsMax: 1, backoffMin: .seconds(1), backoffMax: .seconds(8),
        delayMax: .seconds(60))

    private func store(_ kind: LogKind = .downlink) -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
    }

    @Test func `A1: a repeated intent gets its first verdict again`() async throws {
        let authority = InProcessAuthority(Board.self)
        let intents = [Self.submission(2, .set("a", 1)), Self.submission(1, .add("b", 1))]
        let first = try await authority.submit(intents)
        _ = try await authority.submit([Self.submission(3, .set("b", 1))])
        let second = try await authority.submit(intents)
        #expect(second.byIntent == first.byIntent)
        #expect(first[Self.id(2)] == .accepted(position: 1, replacement: nil))
        #expect(authority.state.cells == ["a": 1, "b": 1])
        #expect(authority.decidedCount == 3)
    }

    @Test func `A1: a known id with another event is refused, and the first verdict stays`()
        async throws
    {
        let authority = InProcessAuthority(Board.self)
        _ = try await authority.submit([Self.submission(1, .set("a", 1))])
        let second = try await authority.submit([Self.submission(1, .set("a", 2))])
        guard case .rejected(let rejection) = second[Self.id(1)] else {
            Issue.record("\(second)")
            return
        }
        #expect(rejection.code == "id-reused")
        #expect(authority.state.cells == ["a": 1])
        #expect(authority.verdict(on: Self.id(1)) == .accepted(position: 1, replacement: nil))
    }

    @Test func `authorities without delays and faults only forward`() async throws {
        let time = VirtualTime()
        let stub = StubAuthority<Move>([])
        let far = DelayedAuthority(FaultyAuthority(stub), sleep: time.sleep)
        let start = time.now
        let verdicts = try await far.submit([Self.submission(1, .set("a", 1))])
        #expect(verdicts == Verdicts([Self.id(1): .accepted(position: nil, replacement: nil)]))
        let changes = try await far.changes(after: 4)
        #expect(changes.through == 4)
        #expect(time.now == start && stub.submitted.count == 1 && stub.asked == [4])
    }

    @Test func `A2: the downlink fetches all pages, and own effects name their intent`()
        async throws
    {
        let time = VirtualTime()
        let authority = InProcessAuthority(Board.self, eventsPerPageMax: 3)
        let store = store()
        try await time.run {
            _ = try await authority.submit(
                (1...7).map { Self.submission($0, .set("k\($0)", Int($0)), of: "other") })
            _ = try await store.record(.set("mine", 1))
            _ = try await authority.submit([Self.submission(1, .set("mine", 1))])
            let downlink = Downlink(
                store, from: authority, policy: Self.policy, sources: time.sources)
            let outcome1 = try await downlink.fetch()
            #expect(outcome1 == .caughtUp(through: 8))
            #expect(store.confirmed == authority.state)
            #expect(store.overlay.isEmpty)
            #expect(store.status.sequence == 4)
            let outcome2 = try await downlink.fetch()
            #expect(outcome2 == .caughtUp(through: 8))
            #expect(store.status.sequence == 4)
        }
    }

    @Test func `the downlink retries if that can help, and fails if it cannot`() async throws {
        let time = VirtualTime()
        let authority = InProcessAuthority(Board.self)
        let plan: [FaultyAuthority<Move>.Fault?] = [
            .lostBefore, .unavailable(after: .seconds(500)), .lostAfter, nil, .unauthenticated,
        ]
        let calls = FaultPlan(plan)
        let faulty = FaultyAuthority(authority) { _ in calls.next() }
        let store = store()
        try await time.run {
            _ = try await authority.submit([Self.submission(1, .set("a", 1), of: "other")])
            let downlink = Downlink(store, from: faulty, policy: Self.policy, sources: time.sources)
            let start = time.now
            let outcome3 = try await downlink.fetch()
            #expect(outcome3 == .caughtUp(through: 1))
            // The authority asked for 500 s, and the longest wait is 60 s.
            #expect((60.0...80).contains(time.now.duration(since: start) / .seconds(1)))
            guard case .failed(.unauthenticated) = try await downlink.fetch() else {
                Issue.record("the fetch did not fail as unauthenticated")
                return
            }
        }
    }

    @Test func `an invalid page fails the fetch and is not requested again`() async throws {
        let store = store()
        let stub = StubAuthority<Move>(
            [],
            pages: [
                Changes(events: [], through: 0, hasMore: true),
                Changes(
                    events: [ConfirmedEvent(position: 9, event: .set("a", 1))], through: 3,
                    hasMore: false),
            ])
        let downlink = Downlink(store, from: stub, policy: Self.policy)
        for _ in 0..<2 {
            guard case .failed(.invalidAnswer) = try await downlink.fetch() else {
                Issue.record("the invalid page was applied")
                return
            }
        }
        #expect(store.status.sequence == 0)
    }

    @Test func `F2: an acknowledgement log sends no request for changes`() async throws {
        let stub = StubAuthority<Move>([])
        let downlink = Downlink(store(.acknowledgement), from: stub, policy: Self.policy)
        let outcome4 = try await downlink.fetch()
        #expect(outcome4 == .caughtUp(through: 0))
        #expect(stub.asked.isEmpty)
    }

    @Test func `a closed store stops the downlink`() async throws {
        let store = store()
        await store.close()
        let stub = StubAuthority<Move>(
            [], pages: [Changes(events: [], through: 3, hasMore: false)])
        let downlink = Downlink(store, from: stub, policy: Self.policy)
        let outcome5 = try await downlink.fetch()
        #expect(outcome5 == .stopped)
    }

    @Test func `a failure has a sentence for people, and what to do`() {
        func words(_ failure: any Error) -> [String?] {
            [
                failure.localizedDescription,
                (failure as NSError).localizedRecoverySuggestion,
            ]
        }
        #expect(
            words(AuthorityFailure.unreachable(reason: "timeout"))
                == ["The server could not be reached: timeout.", "Check the connection."])
        #expect(
            words(AuthorityFailure.failed(reason: "HTTP 500"))
                == ["The server failed on the request: HTTP 500.", nil])
        #expect(
            words(AuthorityFailure.superseded(shared: 7))
                == words(CommandError.superseded(shared: 7)))
    }

    @Test func `an authority folds a stored projection in memory`() async throws {
        let authority = InProcessAuthority(RowBoard.self) { submission, rows in
            // The app's decision reads rows.
            let taken = rows.read { try? $0.get("taken", in: RowBoard.cells) }
            return taken == nil ? .accept : .reject(Rejection(message: "taken"))
        }
        let time = VirtualTime()
        let store = Store.inMemory(
            RowBoard.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
        try await time.run {
            let outbox = Outbox(store, to: authority, policy: Self.policy, sources: time.sources)
            let downlink = Downlink(
                store, from: authority, policy: Self.policy, sources: time.sources)
            let sending = Task(executorPreference: time) { try await outbox.run() }
            for move in [.set("a", 1), .add("a", 2), .set("taken", 1), .set("late", 1)] as [Move] {
                _ = try await store.record(move)
                await time.sleep(.seconds(1))
            }
            _ = try await downlink.fetch()
            sending.cancel()
            try await sending.value
            #expect(store.rejections == [4])
            let cells = try store.read { rows in
                try rows.page(of: RowBoard.cells, limit: 9).map { "\($0.key) \($0.row)" }
            }
            #expect(cells == ["a 3", "taken 1"])
            #expect(try authority.state.read { try $0.get("a", in: RowBoard.cells) } == 3)
        }
    }

    @Test func `a long poll ends with the first event, or after its time`() async throws {
        let time = VirtualTime()
        let authority = InProcessAuthority(Board.self, sources: time.sources)
        try await time.run {
            let device = SyncPoint(lineage: nil, through: 0)
            let empty = try await authority.changes(after: device, waiting: .seconds(20))
            #expect(empty.events.isEmpty && time.passed == .seconds(20))
            let poll = Task(executorPreference: time) {
                try await authority.changes(after: device, waiting: .seconds(20))
            }
            await time.sleep(.seconds(5))
            _ = try await authority.submit([Self.submission(1, .set("a", 1))])
            #expect(try await poll.value.events.count == 1)
            #expect(time.passed == .seconds(25))
        }
    }
}
