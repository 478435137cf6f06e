import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from an app whose screens kept their own guesses beside the store, and had to undo them.
@MainActor @Suite struct OptimisticModelTests {
    private let frames = Frames()

    @Test func `U24: when a command returns, the view is at its entry or later`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let receipt = try await model.perform(.set("a", 1))
        #expect(model.view.cells == ["a": 1])
        #expect(model.confirmed.cells == [:])
        #expect(model.revision == receipt.sequence)
        #expect(model.status(of: "a").marks.map(\.actions) == [[.withdraw]])
        try await model.withdraw(receipt.number)
        #expect(model.view.cells == [:])
        #expect(model.status(of: "a") == .settled)
    }

    @Test func `U30: a rejection removes its own effects and leaves others'`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let like = try await model.perform(.set("post", 1))
        let comment = try await model.perform(.add("post", 10))
        try await store.reject(like.number, code: "closed", message: "no likes")
        await until { model.revision == store.status.sequence }
        #expect(model.view.cells == [:])
        let rejection = Rejection(code: "closed", message: "no likes")
        #expect(model.rejections.map(\.state) == [.rejected(rejection)])
        let reason = "post is absent"
        #expect(
            model.status(of: "post").marks.map(\.state)
                == [.rejected(rejection), .conflicted(reason: reason)])
        #expect(model.status(of: "post").worst == .rejected(rejection))

        let retried = try await model.retry(like.number)
        #expect(model.rejections == [])
        let marks = model.status(of: "post").marks
        #expect(marks.map(\.number) == [comment.number, retried.number])
        #expect(marks.map(\.retries) == [nil, like.number])
    }

    @Test func `U27: a person hears of a rejection, with the view without the intent`()
        async throws
    {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let (own, silent) = (
            try await model.perform(.set("a", 1)),
            try await model.perform(.set("b", 1), from: .app)
        )
        try await store.reject(silent.number, message: "not b")
        try await store.reject(own.number, message: "not a")
        var cues = model.cues.makeAsyncIterator()
        let recovery = Recovery(reason: "not a")
        #expect(
            await cues.next() == .announce(.ended(.sending, .failed(recovery)), .assertive))
        #expect(model.view.cells == [:])
        let texts = ProgressTexts.english.words(for: .ended(.sending, .failed(recovery)))
        #expect(texts.contains("not a"))
    }

    @Test func `U31: an attempt takes away the action to withdraw`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let receipt = try await model.perform(.set("a", 1))
        let revision = model.revision
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 5))
        _ = try await store.recordAttempts([receipt.number: attempt], flushes: false)
        await until { model.status(of: "a").marks.first?.attempt == attempt }
        #expect(model.status(of: "a").marks.first?.actions == [])
        #expect(model.revision == revision)
    }

    @Test func `U31: a dismissed rejection leaves the list and its item`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let receipt = try await model.perform(.set("a", 1))
        try await store.reject(receipt.number, message: "no")
        await until { model.rejections.count == 1 }
        try await model.dismiss(receipt.number)
        #expect(model.rejections == [])
        #expect(model.status(of: "a") == .settled)
    }

    @Test func `U25: an observer of an item hears only of that item`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let (ofA, ofB) = (
            Notifications { _ = model.status(of: "a") }, Notifications { _ = model.status(of: "b") }
        )
        try await model.perform(.set("a", 1))
        await until { ofA.count == 1 }
        #expect(ofB.count == 0)
    }

    @Test func `U25: a selection notifies only if its part differs`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let (a, b) = (model.select { $0.cells["a"] }, model.select { $0.cells["b"] })
        let (ofA, ofB) = (Notifications { _ = a.value }, Notifications { _ = b.value })
        try await model.perform(.set("a", 1))
        await until { ofA.count == 1 }
        try await model.perform(.set("a", 1))
        try await model.perform(.set("b", 2))
        await until { ofB.count == 1 }
        #expect(ofA.count == 1)
        #expect((a.value, b.value) == (1, 2))
    }

    @Test func `U29: a released selection leaves its model at once`() async throws {
        final class Kept: Sendable {}
        let model = OptimisticModel(Store.board(), sources: frames.sources)
        weak var freed: Kept?
        do {
            let kept = Kept()
            freed = kept
            let selection = model.select { view in withExtendedLifetime(kept) { view.cells["a"] } }
            #expect(selection.value == nil)
        }
        #expect(freed == nil)
    }

    @Test func `U25: an intent that changes nothing does not notify the view's observers`()
        async throws
    {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        try await model.perform(.set("a", 1))
        let ofView = Notifications { _ = model.view }
        let ofRevision = Notifications { _ = model.revision }
        try await model.perform(.set("a", 1))
        await until { ofRevision.count == 1 }
        #expect(ofView.count == 0)
    }

    @Test func `U25: a view that changes and changes back is shown`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let receipt = try await model.perform(.set("a", 1))
        try await model.withdraw(receipt.number)
        #expect(model.view.cells == [:])
        try await model.perform(.set("a", 1))
        #expect(model.view.cells == ["a": 1])
    }

    @Test func `U26: the first commit is shown at once, and later commits once for each frame`()
        async throws
    {
        let store = Store.board()
        let frames = Frames(held: true)
        let model = OptimisticModel(store, sources: frames.sources)
        let adoptions = Notifications { _ = model.revision }
        try await store.record(.set("a", 0))
        await until { model.revision == 1 }
        // The model waits for the frame now.
        for _ in 0..<1_000_000 where frames.count == 0 { await Task.yield() }
        #expect(frames.count == 1)
        for value in 1...50 { try await store.record(.set("a", value)) }
        #expect(model.revision == 1)
        frames.begin()
        await until { model.revision == 51 }
        #expect(model.view.cells == ["a": 50])
        #expect(adoptions.count <= 2)
        frames.begin()
    }

    @Test func `U29: a model is freed while its store runs`() async throws {
        let store = Store.board()
        weak var freed: OptimisticModel<Board>?
        do {
            let model = OptimisticModel(store, sources: frames.sources)
            try await model.perform(.set("a", 1))
            freed = model
        }
        #expect(freed == nil)
        try await store.record(.set("a", 2))
        #expect(store.view.cells == ["a": 2])
    }

    @Test func `U29: a closed store is released, and its last view stays`() async throws {
        weak var freed: Store<Board>?
        let model: OptimisticModel<Board>
        do {
            let store = Store.board()
            freed = store
            model = OptimisticModel(store, sources: frames.sources)
            try await model.perform(.set("a", 1))
            await store.close()
        }
        await until { model.condition == .closed }
        #expect(freed == nil)
        #expect(model.view.cells == ["a": 1])
        await #expect(throws: CommandError.self) { try await model.perform(.set("a", 2)) }
    }

    @Test func `U29: a closed model stays closed, also if its store still exists`() async throws {
        let store = Store.board()
        let model = OptimisticModel(store, sources: frames.sources)
        let receipt = try await model.perform(.set("a", 1))
        await store.close()
        await until { model.condition == .closed }
        for await _ in model.updates(of: receipt) {}
        #expect(model.condition == .closed)
    }

    @Test func `U27: a rejection before the first update is announced`() async throws {
        let store = Store.board()
        try await store.record(.set("a", 1), info: Initiator.user(origin: "like").info)
        let model = OptimisticModel(store, sources: frames.sources)
        try await store.reject(1, message: "not a")
        var cues = model.cues.makeAsyncIterator()
        guard case .announce(_, .assertive)? = await cues.next() else {
            Issue.record("the rejection is announced")
            return
        }
    }

    @Test func `a model of a closed store has its marks`() async throws {
        let store = Store.board()
        try await store.record(.set("a", 1))
        await store.close()
        let model = OptimisticModel(store, sources: frames.sources)
        await until { model.condition == .closed }
        #expect(model.status(of: "a").worst == .pending)
    }

    @Test func `U25: one answer among 100,000 pending intents touches its own items`()
        async throws
    {
        let store = Store.board(.downlink)
        for number in 1...TestEffort.value(quick: 5_000, full: 100_000) {
            try await store.record(.set("k\(number)", number))
        }
        let model = OptimisticModel(store, sources: frames.sources)
        await until { model.status(of: "k1").worst == .pending }
        let others = Notifications {
            for number in 2...1_000 { _ = model.status(of: "k\(number)") }
        }
        try await store.acknowledge(1)
        await until { model.status(of: "k1").worst == .accepted }
        #expect(others.count == 0)
    }
}

/// Born from an article that calls a block with the prediction first, and then with the answer.
@MainActor @Suite struct IntentUpdatesTests {
    /// The updates of one intent, as text.
    private func told(
        _ kind: LogKind, _ answer: (Store<Board>, IntentNumber) async throws -> Void
    ) async throws -> [String] {
        let store = Store.board(kind)
        let model = OptimisticModel(store, sources: Frames().sources)
        let receipt = try await model.perform(.set("a", 1))
        var told: [String] = []
        for await update in model.updates(of: receipt) {
            told.append("\(update.view.cells) \(update.data)")
            if told.count == 1 { try await answer(store, receipt.number) }
        }
        return told
    }

    @Test func `U27: an accepted intent is predicted, then confirmed`() async throws {
        let told = try await told(.acknowledgement) { store, number in
            try await store.acknowledge(number, replacement: .set("a", 7))
        }
        #expect(
            told == [
                #"["a": 1] loading"#,
                #"["a": 7] success(Foldback.Answer(intent: 1, content: Foldback.Answer.Content.confirmed, sequence: 2))"#,
            ])
    }

    @Test func `U27: a rejected intent is predicted, then the view without it has the reason`()
        async throws
    {
        let told = try await told(.downlink) { store, number in
            try await store.reject(number, message: "no")
        }
        #expect(
            told == [
                #"["a": 1] loading"#,
                "[:] failure(no)",
            ])
    }

    @Test func `a receipt of another log is a failure, and of the same log another's answer`()
        async throws
    {
        func told(_ receipt: Receipt, _ model: OptimisticModel<Board>) async -> [String] {
            var told: [String] = []
            for await update in model.updates(of: receipt) { told.append("\(update.data)") }
            return told
        }
        let directory = TemporaryDirectory()
        let url = directory.url.appending(path: "log")
        let store = try await Store.open(
            at: url, Board.self, confirmedBy: .downlink, durability: .relaxed)
        let receipt = try await store.record(.set("a", 1))
        try await store.reject(receipt.number, message: "no")
        await store.close()
        let again = try await Store.open(
            at: url, Board.self, confirmedBy: .downlink, durability: .relaxed)
        let model = OptimisticModel(again, sources: Frames().sources)
        #expect(await told(receipt, model) == ["failure(no)"])

        let other = Store.board()
        let foreign = try await other.record(.set("b", 1))
        let error = LogError.unknownIntent(1)
        #expect(await told(foreign, model) == ["failure(\(error))"])
        await again.close()
    }

    @Test func `a closed store ends the updates with its error`() async throws {
        let told = try await told(.downlink) { store, _ in await store.close() }
        #expect(told.count == 2)
        #expect(told.last?.contains("closed") == true)
    }
}
