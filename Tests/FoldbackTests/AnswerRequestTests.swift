import Foldback
import Synchronization
import TestSupport
import Testing

/// Question: does each of many acknowledgements in one request keep its own outcome (F7, L6)?
///
/// `acknowledge(contentsOf:)` queues one request for up to 512 acknowledgements. So the request
/// counts as that many, and a failure must not take its neighbors along.
@Suite struct AnswerRequestTests {
    private static func record(_ moves: [Move], in store: any BoardStore) async throws {
        for move in moves { _ = try await store.record(move) }
    }

    private static func answers(
        to numbers: [IntentNumber], in store: any BoardStore
    ) async throws -> [Result<RequestResult, CommandError>] {
        let commands = numbers.map {
            Command.acknowledge($0, position: nil, replacement: nil)
        }
        let request = try await store.core.runner.submit(
            .answers(commands, from: nil), bytes: 0)
        guard case .answers(let answers) = try await request.outcome() else {
            preconditionFailure("a request of answers has no outcomes")
        }
        return answers
    }

    @Test(arguments: BoardKeeper.allCases)
    func `F7: each acknowledgement has its own outcome, in order`(
        keeper: BoardKeeper
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        try await Self.record([.set("a", 1), .set("b", 2), .set("c", 3)], in: store)
        let answers = try await Self.answers(to: [2, 9, 1, 2], in: store)
        guard case .success(.appended(4)) = answers[0],
            case .failure(.log(.unknownIntent(9))) = answers[1],
            case .success(.appended(5)) = answers[2],
            case .success(.ignored(.confirmed)) = answers[3]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(try store.seen().confirmed.cells == ["a": 1, "b": 2])
        #expect(try store.seen().pending == [3])
        #expect(storage.writeSizes.last == 2)
        #expect(try await store.verify().findings == [])
        await store.close()
    }

    @Test
    func `a repeated acknowledgement of several intents is ignored, and an error is thrown last`()
        async throws
    {
        let store = try await TestStorage().store(Board.self)
        try await Self.record([.set("a", 1), .set("b", 2)], in: store)
        let failure = await error { () throws(CommandError) in
            try await store.acknowledge(contentsOf: [1, 7, 2].map { Acknowledgement($0) })
        }
        guard case .log(.unknownIntent(7)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        let again = try await store.acknowledge(contentsOf: [1, 2].map { Acknowledgement($0) })
        #expect(again == [.ignored(.confirmed), .ignored(.confirmed)])
        #expect(try await store.acknowledge(contentsOf: []).isEmpty)
        await store.close()
    }

    @Test func `L3: a transaction has at most as many acknowledgements as its limit`() async throws
    {
        let storage = TestStorage()
        let store = try await storage.store(Board.self)
        let count = 2 * Limits.commitCountMax + 100
        var queued: [QueuedIntent] = []
        for value in 0..<count { queued.append(try await store.enqueue(.set("a", value))) }
        for intent in queued { _ = try await intent.receipt() }
        let written = storage.writeSizes.count
        storage.holdWrites()
        async let first = store.record(.set("b", 1))
        await storage.waitUntilHeld()
        async let outcomes = store.acknowledge(
            contentsOf: (1...UInt64(count)).map { Acknowledgement(IntentNumber($0)) })
        storage.releaseWrites()
        _ = try await first
        #expect(try await outcomes.count == count)
        let sizes = storage.writeSizes[written...]
        #expect(sizes.allSatisfy { $0 <= Limits.commitCountMax })
        #expect(sizes.reduce(0, +) == count + 1)
        await store.close()
    }

    @Test func `L6: a damaged row fails only the acknowledgement that reads it`() async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        _ = try await store.record(.set("b", 1))
        // Only its acknowledgement reads the row, because it is not in the view.
        _ = try await store.record(.add("a", 1), confirmOnly: true)
        _ = try await store.record(.set("c", 1))
        try storage.damage("a")
        let answers = try await Self.answers(to: [2, 3, 4], in: store)
        guard case .success = answers[0], case .failure(.log(.damaged)) = answers[1],
            case .success = answers[2]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(store.overlay.map(\.number) == [3])
        #expect(try store.read { try $0.get("c", in: RowBoard.cells) } == 1)
        await store.close()
    }

    /// Found in review: answers that are recorded one by one were delivered before their caller was
    /// resumed.
    @Test(arguments: [false, true])
    func `F15: the caller of a request is resumed before its answers are delivered`(
        isApart: Bool
    ) async throws {
        let storage = TestStorage()
        let store = try await storage.store(RowBoard.self)
        _ = try await store.record(.set("a", 1))
        try await store.acknowledge(1)
        let receipt = try await store.record(.set("b", 1))
        _ = try await store.record(.add("a", 1), confirmOnly: true)
        // The acknowledgement of 3 cannot read the row, so each has its own transaction.
        if isApart { try storage.damage("a") }
        let commands = [2, 3].map {
            Command.acknowledge($0, position: nil, replacement: nil)
        }
        let request = Request(.answers(commands, from: nil), bytes: 0)
        let tasks = StepExecutor()
        let order = Mutex<[String]>([])
        let answered = await tasks.start {
            _ = try? await receipt.answer()
            order.withLock { $0.append("answer") }
        }
        let called = await tasks.start {
            _ = try? await request.outcome()
            order.withLock { $0.append("caller") }
        }
        store.core.writer.commit([request])
        await tasks.value(of: answered)
        await tasks.value(of: called)
        #expect(order.withLock { $0 } == ["caller", "answer"])
        #expect(storage.writeSizes.last == (isApart ? 1 : 2))
        await store.close()
    }

    @Test(arguments: BoardKeeper.allCases)
    func `L6: an unknown outcome is unknown for all acknowledgements of the request`(
        keeper: BoardKeeper
    ) async throws {
        let storage = TestStorage()
        let store = try await keeper.store(over: storage)
        try await Self.record([.set("a", 1), .set("b", 2)], in: store)
        storage.failWrites(leavingOutcomeUnknown: true)
        let failure = await error { () throws(CommandError) in
            try await Self.submitted(to: [1, 2], in: store)
        }
        guard case .log(.outcomeUnknown(nil, _)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(store.overlay.map(\.number) == [1, 2])
        await store.close()
    }

    private static func submitted(
        to numbers: [IntentNumber], in store: any BoardStore
    ) async throws(CommandError) -> RequestResult {
        let commands = numbers.map { Command.acknowledge($0, position: nil, replacement: nil) }
        return try await store.core.runner.submit(.answers(commands, from: nil), bytes: 0)
            .outcome()
    }
}
