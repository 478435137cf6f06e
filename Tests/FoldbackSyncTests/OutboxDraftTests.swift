import Foldback
import FoldbackSync
import FoldbackTesting
import Foundation
import TestSupport
import Testing

/// Question: what is sent, and when, of drafts and of what was taken back (F16, F21, F22)?
@Suite struct OutboxDraftTests {
    private static let begun = Attempt(
        count: 1, startedAt: Timestamp(millisecondsSince1970: 10))

    private func store() -> Store<Board> {
        Store.inMemory(
            Board.self, confirmedBy: .downlink, replica: ReplicaID("me"), sources: .counting())
    }

    /// Runs an outbox during `body`, and returns the numbers of the intents in each request.
    private func requests(
        of store: Store<Board>, _ policy: SyncPolicy, _ answers: [StubAuthority<Move>.Answer] = [],
        _ body: @escaping @Sendable (VirtualTime) async throws -> Void = { _ in }
    ) async throws -> [[IntentNumber]] {
        let authority = StubAuthority<Move>(answers)
        let time = VirtualTime()
        try await time.run {
            let outbox = Outbox(store, to: authority, policy: policy, sources: time.sources)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await outbox.run() }
                await time.sources.sleep(.seconds(1))
                try await body(time)
                await time.sources.sleep(.seconds(100))
                group.cancelAll()
            }
        }
        return authority.submitted.map { $0.map(\.id.number) }
    }

    @Test(arguments: [SyncPolicy.ordered, .concurrent(requestsMax: 3)])
    func `what touches a draft waits for it, and nothing else does`(
        policy: SyncPolicy
    ) async throws {
        let store = store()
        try await store.record(.set("a", 1), held: true)
        try await store.record(.set("b", 1))
        try await store.record(.add("a", 1))
        try await store.record(.add("a", 1))
        try await store.record(.set("c", 1))
        let sent = try await requests(of: store, policy) { _ in
            #expect(store.snapshot.accepted == [2, 5])
            try await store.release(1)
        }
        #expect(Array(sent.joined()) == [2, 5, 1, 3, 4])
        #expect(store.snapshot.pending.isEmpty)
    }

    @Test(arguments: [SyncPolicy.ordered, .concurrent(requestsMax: 3)])
    func `what waited for an intent that was withdrawn waits for the draft before it`(
        policy: SyncPolicy
    ) async throws {
        let store = store()
        try await store.record(.set("a", 1), held: true)
        try await store.record(.add("a", 1))
        try await store.record(.add("a", 1))
        let sent = try await requests(of: store, policy) { time in
            try await store.withdraw(2)
            await time.sources.sleep(.seconds(1))
            #expect(store.snapshot.pending == [1, 3])
            try await store.release(1)
        }
        #expect(Array(sent.joined()) == [1, 3])
    }

    @Test func `an intent in a request is not put among the waiting ones again`() {
        var state = OutboxState(policy: .concurrent(requestsMax: 3))
        let now = Timestamp(millisecondsSince1970: 0)
        func take(_ inputs: OutboxState.Input...) -> [OutboxState.Action] {
            state.take(inputs, at: now, jitter: 0)
        }
        _ = take(.recorded([PendingIntent(1, attempt: nil, isReadable: true, isHeld: true)]))
        let begun = take(.recorded([PendingIntent(2, attempt: nil, isReadable: true)]))
        #expect(begun.count == 1)
        let again = PendingIntent(2, attempt: nil, isReadable: true, after: [1])
        #expect(take(.recorded([again])) == [])
        #expect(state.waitingCount == 0 && state.dependentCount == 0)
        // It does not begin a second time.
        #expect(take(.answered([1])) == [])
        #expect(take(.covered(1, pending: [2])) == [.send(1, [2])])
        #expect(take(.attemptAnswered(1, [2: .settled]), .answered([2])) == [])
    }

    @Test func `a released draft is sent as if it had been recorded at its release`() async throws {
        let store = store()
        try await store.record(.set("a", 1), held: true)
        try await store.record(.set("b", 1))
        try await store.release(1)
        try await store.record(.set("c", 1))
        // A request has its intents in order of number, so one ends before a lower number.
        #expect(try await requests(of: store, .ordered) == [[2], [1, 3]])
    }

    @Test func `after a restart, what touches a released draft still waits for it`() async throws {
        let store = store()
        try await store.record(.set("a", 1), held: true)
        try await store.record(.add("a", 1))
        try await store.release(1)
        #expect(try await requests(of: store, .ordered) == [[1], [2]])
    }

    @Test(arguments: [false, true])
    func `what undoes an undoing holds up no lane while that waits for a draft`(
        isToldLater: Bool
    ) {
        func intent(
            _ number: IntentNumber, after: [IntentNumber] = [], undoes: IntentNumber? = nil,
            lane: String? = nil
        ) -> PendingIntent {
            PendingIntent(
                number, attempt: nil, isReadable: true, after: after, undoes: undoes, lane: lane)
        }
        var state = OutboxState(policy: .ordered, hasLanes: true)
        func take(_ inputs: OutboxState.Input...) {
            _ = state.take(inputs, at: Timestamp(millisecondsSince1970: 0), jitter: 0)
        }
        let draft = PendingIntent(1, attempt: nil, isReadable: true, isHeld: true)
        let chain = [intent(2, after: isToldLater ? [] : [1]), intent(3, undoes: 2)]
        let lane = [intent(4, undoes: 3, lane: "a"), intent(5, lane: "a")]
        take(.told(.wentOffline), .recorded([draft] + chain + lane))
        // The log may say later that an intent waits for a draft.
        take(.recorded([intent(2, after: [1])]), .told(.wentOnline))
        #expect(state.requests.values.flatMap(\.attempts.keys) == [5])
        #expect(state.stuck == [1, 2, 3, 4])
    }

    @Test func `what undoes an unreadable intent holds up nothing`() {
        var state = OutboxState(policy: .ordered)
        let now = Timestamp(millisecondsSince1970: 0)
        let actions = state.take(
            [
                .recorded([
                    PendingIntent(1, attempt: nil, isReadable: false),
                    PendingIntent(2, attempt: nil, isReadable: true, undoes: 1),
                    PendingIntent(3, attempt: nil, isReadable: true),
                ])
            ], at: now, jitter: 0)
        guard case .cover(_, let attempts, _)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(attempts.keys.sorted() == [3])
    }

    @Test func `the status names drafts`() async throws {
        let store = store()
        try await store.record(.set("a", 1), held: true)
        try await store.record(.set("b", 1))
        let outbox = Outbox(store, to: StubAuthority<Move>([]), policy: .ordered)
        #expect(outbox.status.held == [1] && outbox.status.waitingCount == 1)
    }

    @Test(arguments: [SyncPolicy.ordered, .concurrent(requestsMax: 3)])
    func `what undoes an intent is sent after that intent has an answer`(
        policy: SyncPolicy
    ) async throws {
        let store = store()
        try await store.record(.set("a", 1))
        _ = try await store.recordAttempts([1: Self.begun], flushes: false)
        try await store.undo(1)
        try await store.record(.set("b", 1))
        let sent = try await requests(of: store, policy)
        #expect(Set(sent.joined()) == [1, 2, 3])
        let first = try #require(sent.firstIndex { $0.contains(1) })
        #expect(try #require(sent.firstIndex { $0.contains(2) }) > first)
    }

    @Test func `what undoes a refused intent is never sent`() async throws {
        let store = store()
        try await store.record(.set("a", 1))
        _ = try await store.recordAttempts([1: Self.begun], flushes: false)
        try await store.undo(1)
        let sent = try await requests(
            of: store, .ordered, [.verdicts([1: .rejected(Rejection(message: "no"))])])
        #expect(sent == [[1]] && store.rejections == [1] && store.overlay.isEmpty)
    }

    /// A minute of typing without a connection.
    @Test func `a field that records each keystroke sends one intent`() async throws {
        let store = store()
        for value in 1...200 { try await store.record(.set("title", value), replacing: "title") }
        #expect(try await requests(of: store, .ordered) == [[200]])
    }
}
