import Foldback
import FoldbackSync
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from screens that showed a spinner until the server had answered: what a view shows before,
/// during and after the sending of an intent.
@MainActor @Suite struct SendingTests {
    private let clock = ManualClock()

    /// The outbox's sources of time: the clock of the test.
    private var sources: SyncSources {
        SyncSources(
            now: { Timestamp(millisecondsSince1970: 0) },
            sleep: { [clock] duration in
                await clock.sources.sleep(clock.now.advanced(by: duration))
            }, jitter: { 0 })
    }

    private func model(_ store: Store<Board>) -> OptimisticModel<Board> {
        OptimisticModel(store, sources: Frames().sources)
    }

    /// Runs an outbox during `body`.
    private func sending(
        _ store: Store<Board>, to authority: any Authority<Move>,
        _ body: () async throws -> Void
    ) async throws {
        let outbox = Outbox(store, to: authority, policy: .ordered, sources: sources)
        let running = Task { try await outbox.run() }
        try await body()
        running.cancel()
        try await running.value
    }

    /// Waits until everything that is committed is shown.
    private func untilShown(_ store: Store<Board>, by model: OptimisticModel<Board>) async {
        await until { model.revision == store.status.sequence }
    }

    // MARK: Before the answer

    @Test func `#1: an intent is in the view before anything is sent`() async throws {
        let store = Store.board()
        let model = model(store)
        let authority = StubAuthority<Move>([])
        try await model.perform(.set("a", 1))
        #expect(model.view.cells == ["a": 1])
        #expect(authority.submitted.isEmpty)
        try await sending(store, to: authority) {
            await until { model.status(of: "a") == .settled }
        }
        #expect(authority.submitted.count == 1)
        #expect(model.view.cells == ["a": 1])
    }

    @Test func `#26: a server that needs 30 s delays no view`() async throws {
        let store = Store.board()
        let model = model(store)
        let authority = DelayedAuthority(
            StubAuthority<Move>([]), there: { .seconds(30) }, sleep: sources.sleep)
        try await sending(store, to: authority) {
            try await model.perform(.set("a", 1))
            await clock.waitForSleepers(1)  // the request is on its way
            try await model.perform(.set("b", 2))
            #expect(model.view.cells == ["a": 1, "b": 2])
            #expect(clock.now == .zero)
            clock.advance(by: .seconds(30))
            await until { model.status(of: "a") == .settled }
            #expect(model.status(of: "b").worst == .pending)
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(30))
            await until { model.status(of: "b") == .settled }
        }
        #expect(model.view.cells == ["a": 1, "b": 2])
    }

    @Test func `#19: a prediction is shown while its intent is on the way, and then the answer`()
        async throws
    {
        let lines = Mutex<[String]>([])
        let store = Store.board()
        let model = model(store)
        let server = InProcessAuthority(Board.self) { submission, _ in
            lines.withLock { $0.append("the server gets \(submission.event)") }
            return .reword(.set("a", 7))
        }
        let authority = DelayedAuthority(
            server, there: { .seconds(1) }, sleep: sources.sleep)
        try await sending(store, to: authority) {
            let receipt = try await model.perform(.set("a", 1))
            for await update in model.updates(of: receipt) {
                let status = update.data.isLoading ? "pending" : "settled"
                lines.withLock { $0.append("the view has \(update.view.cells), \(status)") }
                guard update.data.isLoading else { continue }
                await clock.waitForSleepers(1)
                clock.advance(by: .seconds(1))
            }
        }
        #expect(
            lines.withLock { $0 } == [
                #"the view has ["a": 1], pending"#,
                #"the server gets set("a", 1)"#,
                #"the view has ["a": 7], settled"#,
            ])
    }

    @Test func `#24: the server gets each event as it was recorded, not what a view shows`()
        async throws
    {
        let store = Store.board()
        let model = model(store)
        let authority = StubAuthority<Move>([])
        let moves: [Move] = [.set("a", 1), .add("a", 2), .add("a", 3)]
        for move in moves { try await model.perform(move) }
        #expect(model.view.cells == ["a": 6])
        try await sending(store, to: authority) {
            await until { model.status(of: "a") == .settled }
        }
        let sent = authority.submitted.joined()
        #expect(sent.map(\.event) == moves)
        #expect(try sent.map(\.recorded.bytes) == moves.map { try Board.codec.encode($0) })
    }

    // MARK: After the answer

    @Test(arguments: [false, true])
    func `#14: an intent is settled by an outbox, or by hand`(byHand: Bool) async throws {
        let store = Store.board()
        let model = model(store)
        let refused = Rejection(message: "no b")
        let a = try await model.perform(.set("a", 1))
        let b = try await model.perform(.set("b", 2))
        if byHand {
            try await store.acknowledge(a.number)
            try await store.reject(b.number, message: refused.message)
            await untilShown(store, by: model)
        } else {
            let authority = InProcessAuthority(Board.self) { submission, _ in
                submission.id == b.id ? .reject(refused) : .accept
            }
            try await sending(store, to: authority) {
                await until { model.rejections.count == 1 }
            }
        }
        #expect(model.view.cells == ["a": 1])
        #expect(model.status(of: "a") == .settled)
        #expect(model.status(of: "b").worst == .rejected(refused))
    }

    @Test(arguments: LogKind.allCases)
    func `#5: an item has the same id before and after the answer`(kind: LogKind) async throws {
        let store = Store.board(kind)
        let model = model(store)
        // The cell's value comes from the id that the event's context makes.
        let receipt = try await model.perform(.claim("a"))
        let predicted = try #require(model.view.cells["a"])
        #expect(model.confirmed.cells == [:])
        switch kind {
        case .acknowledgement: try await store.acknowledge(receipt.number)
        case .downlink:
            let event = ConfirmedEvent<Move>(
                position: 1, event: .claim("a"), origin: receipt.id)
            _ = try await store.confirm([event], through: 1)
        }
        await untilShown(store, by: model)
        #expect(model.view.cells == ["a": predicted])
        #expect(model.confirmed.cells == ["a": predicted])
    }

    @Test func `#28: an answer with some of the fields leaves the other fields`() async throws {
        let store = Store.inMemory(Documents.self, confirmedBy: .acknowledgement)
        let model = OptimisticModel(store, sources: Frames().sources)
        let name = try await model.perform(.set("mia", ["name": "Mia", "followers": 9]))
        let city = try await model.perform(.merge("mia", ["city": "Bern"]))
        try await store.acknowledge(
            name.number, replacement: .set("mia", ["name": "Mia R.", "followers": 9]))
        await until { model.view["mia"] == ["name": "Mia R.", "followers": 9, "city": "Bern"] }
        try await store.acknowledge(
            city.number, replacement: .merge("mia", ["city": "Basel", "followers": 10]))
        await until { model.view["mia"] == ["name": "Mia R.", "followers": 10, "city": "Basel"] }
    }

    @Test func `#25: an intent is settled after its model is gone`() async throws {
        let store = Store.board()
        weak var freed: OptimisticModel<Board>?
        do {
            let model = model(store)
            try await model.perform(.set("a", 1))
            freed = model
        }
        #expect(freed == nil)
        try await sending(store, to: StubAuthority<Move>([])) {
            while store.status.pendingCount > 0 { await Task.yield() }
        }
        let next = model(store)
        #expect(next.confirmed.cells == ["a": 1])
        #expect(next.status(of: "a") == .settled)
    }

    @Test func `#27: a view that was read before a command does not change`() async throws {
        let model = model(Store.board())
        let before = model.view
        try await model.perform(.set("a", 1))
        #expect(before.cells == [:])
        #expect(model.view.cells == ["a": 1])
    }

    // MARK: Confirm-only intents, and double taps

    @Test func `#2: a confirm-only intent changes the view only once it is confirmed`()
        async throws
    {
        let store = Store.board()
        let model = model(store)
        let ofView = Notifications { _ = model.view }
        let receipt = try await model.perform(.set("a", 1), confirmOnly: true)
        #expect(model.view.cells == [:])
        #expect(model.status(of: "a").worst == .pending)
        #expect(ofView.count == 0)
        try await store.acknowledge(receipt.number)
        await untilShown(store, by: model)
        #expect(model.view.cells == ["a": 1])
        #expect(model.status(of: "a") == .settled)
    }

    /// The order of the article's old way: act, spinner, server, view, stop.
    @Test func `#17: a confirm-only intent with a wait goes act, spinner, answer, view, stop`()
        async throws
    {
        let store = Store.board()
        let model = model(store)
        let progress = ProgressModel(sources: clock.sources)
        var lines: [String] = []
        func note(_ event: String) {
            let indicator = progress.appearance?.indicator.map { "\($0)" } ?? "no indicator"
            lines.append("\(event): \(model.view.cells), \(indicator)")
        }
        note("before")
        progress.start(Wait(.sending))
        let receipt = try await model.perform(.set("a", 1), confirmOnly: true)
        note("act")
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        await until { progress.appearance?.indicator != nil }
        note("wait")
        for await update in model.updates(of: receipt) {
            if update.data.isLoading {
                try await store.acknowledge(receipt.number)
            } else {
                note("answer")
                progress.handle(.succeeded)
                note("stop")
            }
        }
        #expect(
            lines == [
                "before: [:], no indicator",
                "act: [:], no indicator",
                "wait: [:], spinner",
                #"answer: ["a": 1], spinner"#,
                #"stop: ["a": 1], no indicator"#,
            ])
    }

    @Test func `#40: two taps with a once key are one intent`() async throws {
        let store = Store.board()
        let model = model(store)
        async let first = model.perform(.set("a", 1), once: "boost a")
        async let second = model.perform(.set("a", 1), once: "boost a")
        let receipts = try await [first, second]
        #expect(Set(receipts.map(\.number)).count == 1)
        #expect(receipts.count { $0.isJoined } == 1)
        #expect(model.status(of: "a").marks.count == 1)
        #expect(store.status.pendingCount == 1)
    }
}
