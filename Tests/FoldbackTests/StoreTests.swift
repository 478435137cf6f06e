import Foldback
import FoldbackLMDB
import Foundation
import Synchronization
import TestSupport
import Testing

/// Question: does a store keep its promises about queueing, commits, publication, and failures (L2,
/// L3, L6, F15)?
@Suite struct StoreTests {
    let directory = TemporaryDirectory()

    // MARK: Publication and answers

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `F15: every read after a call returns is at the call's entry or later`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        let store = try await keeper.store(engine, .acknowledgement, in: directory)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for value in 1...20 {
                        let receipt = try? await store.record(.set("k\(task)", value))
                        let seen = try? store.seen()
                        #expect(seen?.view.cells["k\(task)"] == value)
                        #expect(receipt.map { $0.sequence <= seen?.sequence ?? 0 } == true)
                    }
                }
            }
        }
        #expect(store.status.sequence == 160)
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `F15: a slow reader gets the latest view but every answer`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(Board.self, .acknowledgement, in: directory)
        var views = store.views.makeAsyncIterator()
        #expect(await views.next()?.sequence == 0)
        for value in 1...50 {
            let receipt = try await store.record(.set("a", value))
            try await store.acknowledge(receipt.number)
        }
        #expect(await views.next()?.view.cells == ["a": 50])
        var answers = store.answers(after: 0).makeAsyncIterator()
        for number in 1...50 {
            let answer = try await answers.next()
            #expect(answer?.intent == IntentNumber(UInt64(number)))
            #expect(answer?.content == .confirmed)
        }
        await store.close()
        #expect(await views.next() == nil)
        #expect(try await answers.next() == nil)
    }

    /// Found in review: between a commit and its publication, the entries that readers saw were
    /// ahead of the view.
    @Test(arguments: BoardKeeper.allCases)
    func `F15: an entry that is committed but not published cannot be read`(keeper: BoardKeeper)
        async throws
    {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        let receipt = try await store.record(.set("a", 1))
        try storage.commitUnpublished(
            .changed(receipt.number, .rejected(Rejection(message: "no"))), at: 2)
        #expect(try store.entries(from: 1, countMax: 10).count == 1)
        #expect(try store.entries(from: 2, countMax: 10).isEmpty)
        #expect(try store.intent(receipt.number).state == .pending)
        await store.close()
    }

    @Test(arguments: Engine.allCases)
    func `a caller can wait for an answer by receipt or by cursor`(
        engine: Engine
    ) async throws {
        let store = try await engine.store(Board.self, .downlink, in: directory)
        let receipt = try await store.record(.set("a", 1))
        async let first = receipt.answer()
        async let last = receipt.settlement()
        async let streamed = { () async throws(LogError) -> Answer? in
            var answers = store.answers(after: receipt.sequence).makeAsyncIterator()
            return try await answers.next()
        }()
        try await store.acknowledge(receipt.number, position: 3)
        #expect(try await first.content == .accepted)
        try await store.confirm([ConfirmedEvent(position: 3, event: .set("a", 1))])
        #expect(try await last.content == .confirmed)
        #expect(try await streamed?.sequence == 2)
        await store.close()
    }

    @Test func `cancellation or closing ends a wait for an answer`() async throws {
        let store = try await Engine.memory.store(Board.self, .downlink, in: directory)
        let receipt = try await store.record(.set("a", 1))
        let cancelled = Task {
            await error { () throws(LogError) in try await receipt.answer() }
        }
        cancelled.cancel()
        #expect(await cancelled.value?.isCancelled == true)
        let closed = Task { await error { () throws(LogError) in try await receipt.answer() } }
        await store.close()
        #expect(await closed.value?.isClosed == true)
    }

    // MARK: Order and queue

    @Test(arguments: Engine.allCases, BoardKeeper.allCases)
    func `intents are logged in the order in which they were queued`(
        engine: Engine, keeper: BoardKeeper
    ) async throws {
        let store = try await keeper.store(engine, .acknowledgement, in: directory)
        var queued: [QueuedIntent] = []
        for value in 1...2_000 { queued.append(try await store.enqueue(.set("a", value))) }
        for (index, recording) in queued.enumerated() {
            #expect(try await recording.receipt().number.value == UInt64(index + 1))
        }
        #expect(try store.cells == ["a": 2_000])
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L3: commands queued during a commit share the next commit`(
        keeper: BoardKeeper
    )
        async throws
    {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        storage.holdWrites()
        var queued = [try await store.enqueue(.set("a", 0))]
        await storage.waitUntilHeld()
        for value in 1...100 { queued.append(try await store.enqueue(.set("a", value))) }
        storage.releaseWrites()
        for recording in queued { _ = try await recording.receipt() }
        #expect(storage.writeSizes == [1, 100])
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L3: cancellation before queueing records nothing, and later it still returns the receipt`(
        keeper: BoardKeeper
    )
        async throws
    {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await error { () throws(CommandError) in try await store.record(.set("a", 1)) }
        }
        #expect(await early.value?.isCancelled == true)
        #expect(store.status.sequence == 0)
        storage.holdWrites()
        let late = Task { try await store.record(.set("a", 2)) }
        await storage.waitUntilHeld()
        late.cancel()
        storage.releaseWrites()
        #expect(try await late.value.number == 1)
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L3: close finishes queued commands and refuses later commands`(keeper: BoardKeeper)
        async throws
    {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        storage.holdWrites()
        var queued = [try await store.enqueue(.set("a", 0))]
        await storage.waitUntilHeld()
        for value in 1...10 { queued.append(try await store.enqueue(.set("a", value))) }
        let closing = Task { await store.close() }
        while await error(of: { () throws(CommandError) in try await store.enqueue(.set("z", 1)) }
        )?
        .isClosed != true { await Task.yield() }
        storage.releaseWrites()
        for recording in queued { _ = try? await recording.receipt() }
        await closing.value
        await store.close()
        #expect(store.overlay.prefix(11).last?.event == .set("a", 10))
        switch keeper {
        case .memory: #expect(try store.cells["a"] == 10)
        // A closed store has no log to read rows from.
        case .rows: #expect(throws: LogError.self) { try store.seen() }
        }
        #expect(throws: LogError.self) { try store.entries(from: 1, countMax: 1) }
        let after = await error { () throws(CommandError) in try await store.record(.set("a", 1)) }
        #expect(after?.isClosed == true)
    }

    @Test func `F15: releasing a store in memory ends its views`() async throws {
        var store: Store<Board>? = try await Engine.memory.store(
            Board.self, .downlink, in: directory)
        var views = try #require(store).views.makeAsyncIterator()
        #expect(await views.next()?.sequence == 0)
        store = nil
        #expect(await views.next() == nil)
    }

    @Test(arguments: Engine.allCases)
    func `a closed store still shows its status, view, and overlay`(engine: Engine) async throws {
        let store = try await engine.store(Board.self, .downlink, in: directory)
        _ = try await store.record(.set("a", 1))
        let bytes = store.status.bytesOnDisk
        await store.close()
        #expect(store.status.bytesOnDisk == bytes)
        #expect(store.view.cells == ["a": 1])
        #expect(store.overlay.count == 1)
    }

    @Test func `a queue that was full lets every caller through`() async throws {
        let store = try await Engine.memory.store(Board.self, .downlink, in: directory)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<400 {
                group.addTask {
                    // The queue counts this command as the largest batch, so it is full at once.
                    let nothing = Command.confirm([], through: nil)
                    _ = try? await store.core.runner.submit(
                        .command(nothing, isForced: true), bytes: Limits.batchBytesMax)
                    _ = try? await store.record(.set("k\(task)", 1))
                }
            }
        }
        #expect(store.overlay.count == 400)
        await store.close()
    }

    @Test func `a released store unlocks its log`() async throws {
        var store: Store<Board>? = try await Engine.lmdb.store(
            Board.self, .downlink, in: directory)
        _ = try await store?.record(.set("a", 1))
        store = nil
        for _ in 0..<600 {
            if let reopened = try? await Engine.lmdb.store(Board.self, .downlink, in: directory) {
                #expect(reopened.view.cells == ["a": 1])
                await reopened.close()
                return
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("the log is still held")
    }

    // MARK: Failures

    @Test(arguments: BoardKeeper.allCases)
    func `L6: a failed flush latches the store, and only its own callers get an unknown outcome`(
        keeper: BoardKeeper
    )
        async throws
    {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        _ = try await store.record(.set("a", 1))
        storage.failWrites(leavingOutcomeUnknown: true)
        let unknown = await error { () throws(CommandError) in try await store.record(.set("a", 2))
        }
        guard case .log(.outcomeUnknown(intent: 2, _)) = unknown else {
            Issue.record("\(String(describing: unknown))")
            return
        }
        storage.failWrites(leavingOutcomeUnknown: nil)
        let later = await error { () throws(CommandError) in try await store.record(.set("a", 3)) }
        guard case .log(.latched) = later else {
            Issue.record("\(String(describing: later))")
            return
        }
        #expect(try store.cells == ["a": 1])
        #expect(store.status.nextIntent == 2)
        #expect(try await store.seen(at: 1).view.cells == ["a": 1])
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L6: a failure before the commit has a definite outcome`(keeper: BoardKeeper) async throws
    {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        storage.failWrites(leavingOutcomeUnknown: false)
        let failed = await error { () throws(CommandError) in try await store.record(.set("a", 2))
        }
        guard case .log(.storage) = failed else {
            Issue.record("\(String(describing: failed))")
            return
        }
        #expect(try store.cells == [:])
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L6: only the offending request of a failed transaction fails`(
        keeper: BoardKeeper
    )
        async throws
    {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        storage.holdWrites()
        var queued = [try await store.enqueue(.set("a", 0))]
        await storage.waitUntilHeld()
        for value in 1...10 { queued.append(try await store.enqueue(.set("a", value))) }
        storage.refuse(IntentNumber(6))
        storage.releaseWrites()
        var refused: [Int] = []
        for (index, recording) in queued.enumerated() {
            do throws(CommandError) { _ = try await recording.receipt() } catch {
                guard case .log(.storage) = error else { throw error }
                refused.append(index)
            }
        }
        // Each later request becomes number 6 after the request before it fails, and fails too.
        #expect(refused == [5, 6, 7, 8, 9, 10])
        #expect(try store.cells == ["a": 4])
        storage.refuse(nil)
        #expect(try await store.record(.set("a", 99)).number == 6)
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `entries in one commit fold as if each entry had its own commit`(keeper: BoardKeeper)
        async throws
    {
        // Found in review: a fast-forward and a rejection after it, in one commit.
        for count in 5...12 as ClosedRange<UInt64> {
            let storage = TestStorage()
            let store = try await keeper.store(over: storage)
            for number in 1...count { _ = try await store.record(.set("k\(number)", 1)) }
            storage.holdWrites()
            let first = try await store.enqueue(.set("z", 1))
            await storage.waitUntilHeld()
            var answers: [Request] = []
            for number in [1, 2, 3] as [IntentNumber] {
                answers.append(
                    try await store.enqueue(
                        .acknowledge(number, position: nil, replacement: nil)))
            }
            answers.append(try await store.enqueue(.reject(5, Rejection(message: "no"))))
            storage.releaseWrites()
            _ = try await first.receipt()
            for answer in answers { _ = try await answer.outcome() }
            #expect(storage.writeSizes.suffix(2) == [1, 4])
            let now = try store.cells
            let past = try await store.seen(at: store.status.sequence).view.cells
            #expect(now == past && now.count == Int(count), "\(count) intents")
            await store.close()
        }
    }

    @Test(arguments: Engine.allCases)
    func `L6: a request that is too large fails alone`(engine: Engine) async throws {
        let store = try await engine.store(Documents.self, .downlink, in: directory)
        let text = String(repeating: "x", count: Limits.eventBytesMax)
        let large = await error { () throws(CommandError) in
            try await store.record(.set("a", .string(text)))
        }
        let info = await error { () throws(CommandError) in
            try await store.record(.set("a", 1), info: ["k": String(repeating: "v", count: 256)])
        }
        let once = await error { () throws(CommandError) in
            try await store.record(.set("a", 1), once: String(repeating: "v", count: 1_025))
        }
        for refused in [large, info, once] {
            guard case .tooLarge = refused else {
                Issue.record("\(String(describing: refused))")
                continue
            }
        }
        let nearly = String(repeating: "x", count: Limits.eventBytesMax - 100)
        _ = try await store.record(.set("a", .string(nearly)))
        #expect(store.view["a"]?.stringValue?.utf8.count == nearly.utf8.count)
        await store.close()
    }

    // MARK: Faults

    @Test(arguments: Engine.allCases)
    func `L5, F9: an unreadable event is a fault or a conflict, and is kept`(
        engine: Engine
    ) async throws {
        guard engine == .lmdb else { return }
        let store = try await engine.store(Board.self, .downlink, in: directory)
        _ = try await store.record(.set("a", 1))
        try await store.confirm([ConfirmedEvent(position: 1, event: .set("b", 1))])
        await store.close()
        // This codec cannot read moves.
        let unreadable = try await Store.open(
            at: directory.log, Documents.self, confirmedBy: .downlink, durability: .relaxed,
            unreadable: .opened)
        #expect(unreadable.snapshot.conflicted == [1])
        #expect(unreadable.faults.count == 1)
        #expect(unreadable.overlay.map { $0.event == nil } == [true])
        await unreadable.close()
        let reopened = try await engine.store(Board.self, .downlink, in: directory)
        #expect(reopened.view.cells == ["a": 1, "b": 1])
        await reopened.close()
    }
}
