import Foldback
import Foundation
import TestSupport
import Testing

/// Question: what does a person see and what does the server have, after they took something back
/// (F21)?
@Suite struct UndoTests {
    let directory = TemporaryDirectory()

    private static let begun = Attempt(
        count: 1, startedAt: Timestamp(millisecondsSince1970: 10))

    private func store(
        _ engine: Engine, _ kind: LogKind = .downlink
    ) async throws -> Store<Board> {
        try await engine.store(Board.self, kind, in: directory)
    }

    private func reopened() async throws -> Store<Board> {
        try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed,
            checkpoints: .manual)
    }

    private func send(_ numbers: IntentNumber..., in store: Store<Board>) async throws {
        let attempts = Dictionary(uniqueKeysWithValues: numbers.map { ($0, Self.begun) })
        #expect(try await store.recordAttempts(attempts, flushes: false) == numbers)
    }

    private func event(
        _ position: Position, _ move: Move, of number: IntentNumber? = nil, in store: Store<Board>
    ) -> ConfirmedEvent<Move> {
        ConfirmedEvent(
            position: position, event: move,
            origin: number.map { IntentID(replica: store.status.replica, number: $0) })
    }

    private func change(at sequence: LogSequence, in store: Store<Board>) throws -> IntentChange? {
        guard
            case .changed(_, let change) = try store.entries(from: sequence, countMax: 1)[0].content
        else { return nil }
        return change
    }

    // MARK: What was never sent

    @Test(arguments: Engine.allCases)
    func `an intent that was never sent is withdrawn, and redo records it again`(
        engine: Engine
    ) async throws {
        let store = try await store(engine)
        try await store.record(.set("a", 1))
        let before = store.view
        try await store.record(.set("a", 2), info: ["screen": "main"])
        let undone = try await store.undo(2)
        #expect(undone.withdrawn == [2] && undone.recorded.isEmpty && undone.ignored == nil)
        #expect(store.view == before)
        #expect(try store.intent(2).state == .withdrawn)
        #expect(try change(at: 3, in: store) == .undone)
        #expect(try await store.undo(2).ignored == .withdrawn)

        let redone = try await store.redo(2)
        #expect(redone.recorded.map(\.number) == [3] && redone.withdrawn.isEmpty)
        #expect(store.view.cells == ["a": 2])
        #expect(try store.intent(3).info == ["screen": "main"])
        #expect(try await store.redo(2).ignored == .withdrawn)
        // The intent that was recorded again is the same action.
        #expect(try await store.undo(2).withdrawn == [3])
        #expect(store.view == before)
        await store.close()
    }

    // MARK: What was sent and has no answer

    @Test(arguments: Engine.allCases)
    func `a sent intent is reversed in the view, and both go if the server refuses it`(
        engine: Engine
    ) async throws {
        let store = try await store(engine)
        try await store.record(.set("a", 1))
        try await store.record(.set("a", 2))
        try await send(1, 2, in: store)
        let undone = try await store.undo(2)
        #expect(undone.recorded.map(\.number) == [3] && undone.withdrawn.isEmpty)
        #expect(store.overlay[2].event == .set("a", 1) && store.overlay[2].undoes == 2)
        #expect(store.view.cells == ["a": 1])
        #expect(try await store.undo(2).ignored == .pending)

        try await store.reject(2, message: "no")
        #expect(store.rejections == [2] && store.snapshot.pending == [1])
        #expect(try store.intent(3).state == .withdrawn)
        #expect(try change(at: store.snapshot.sequence, in: store) == .lapsed)
        #expect(store.view.cells == ["a": 1])

        // The server changes its mind: both are back.
        try await store.acknowledge(2, position: 5)
        #expect(store.snapshot.accepted == [2] && store.snapshot.pending == [1, 3])
        #expect(try change(at: store.snapshot.sequence, in: store) == .restored)
        #expect(store.view.cells == ["a": 1])
        #expect(try await store.verify().isSound)
        await store.close()
        guard engine == .lmdb else { return }
        let again = try await reopened()
        #expect(again.snapshot.pending == [1, 3] && again.snapshot.accepted == [2])
        #expect(try await again.undo(2).ignored == .accepted)
        await again.close()
    }

    @Test func `a batch that brings a refused intent back brings back what undoes it`() async throws
    {
        let store = try await store(.memory)
        try await store.record(.set("a", 1))
        try await send(1, in: store)
        try await store.undo(1)
        try await store.abandon(1)
        #expect(store.overlay.isEmpty)
        try await store.confirm([event(1, .set("a", 1), of: 1, in: store)])
        #expect(store.snapshot.pending == [2])
        #expect(store.confirmed.cells == ["a": 1] && store.view.cells.isEmpty)
    }

    @Test func `redo withdraws an undoing that was not sent, and follows one that was`()
        async throws
    {
        let store = try await store(.memory)
        try await store.record(.set("a", 1))
        try await send(1, in: store)
        try await store.undo(1)
        #expect(try await store.redo(1).withdrawn == [2])
        #expect(store.view.cells == ["a": 1] && store.snapshot.pending == [1])
        try await store.undo(1)
        try await store.acknowledge(1)
        try await send(3, in: store)
        let redone = try await store.redo(1)
        #expect(redone.recorded.map(\.number) == [4])
        #expect(store.overlay[2].undoes == 3 && store.view.cells == ["a": 1])
        try await store.reject(3, message: "no")
        // Nothing is undone, so there is nothing to redo.
        #expect(store.snapshot.pending.isEmpty && store.view.cells == ["a": 1])
        #expect(try await store.redo(1).ignored == .accepted)
        #expect(try await store.undo(1).recorded.map(\.number) == [5])
    }

    @Test func `the inverse is that of what the view shows below the intent`() async throws {
        let store = try await store(.memory)
        try await store.record(.set("a", 1))
        try await store.record(.set("b", 1))
        try await send(1, 2, in: store)
        try await store.confirm([event(1, .set("a", 7), in: store)])
        try await store.undo(1)
        #expect(store.view.cells == ["a": 7, "b": 1])
    }

    @Test func `what undoes a conflicted intent is in the view once that one is`() async throws {
        let store = try await store(.memory)
        try await store.confirm([event(1, .set("a", 1), in: store)])
        try await store.record(.add("a", 2))
        try await send(1, in: store)
        try await store.confirm([event(2, .remove("a"), in: store)])
        #expect(store.snapshot.conflicted == [1])
        try await store.undo(1)
        #expect(store.snapshot.conflicted == [1, 2])
        #expect(store.view.cells.isEmpty)
        #expect(store.snapshot.conflict(of: 2)?.contains("undoes intent 1") == true)
        try await store.confirm([event(3, .set("a", 1), in: store)])
        #expect(store.snapshot.conflicted.isEmpty && store.view.cells == ["a": 1])
        try await store.confirm([event(4, .remove("a"), in: store)])
        #expect(store.snapshot.conflicted == [1, 2])
        // The server has it: now the undoing is folded alone.
        try await store.confirm([event(5, .add("a", 2), of: 1, in: store)])
        #expect(store.snapshot.conflicted.isEmpty && store.view.cells == ["a": 1])
    }

    @Test func `what undoes a confirm-only intent is confirm-only`() async throws {
        let store = try await store(.memory)
        try await store.record(.set("a", 1), confirmOnly: true)
        try await send(1, in: store)
        try await store.undo(1)
        #expect(store.overlay[1].isConfirmOnly && store.overlay[1].event == .remove("a"))
        try await store.confirm([event(1, .set("a", 1), of: 1, in: store)])
        #expect(store.view.cells == ["a": 1])
        try await store.confirm([event(2, .remove("a"), of: 2, in: store)])
        #expect(store.view.cells.isEmpty)
    }

    // MARK: Histories that a review found

    @Test func `redo leaves an intent alone that can come back by itself`() async throws {
        let store = try await store(.memory)
        try await store.record(.set("a", 1))
        try await send(1, in: store)
        try await store.undo(1)
        try await store.abandon(1)
        #expect(try await store.redo(1).ignored == .withdrawn)
        try await store.acknowledge(1)
        #expect(store.snapshot.accepted == [1] && store.snapshot.pending == [2])
        #expect(store.view.cells.isEmpty)
    }

    @Test func `redo of an intent with a once key is not joined with the intent itself`()
        async throws
    {
        let store = try await store(.memory)
        try await store.record(.set("a", 1), once: "k")
        try await store.acknowledge(1)
        try await store.undo(1)
        try await send(2, in: store)
        let redone = try await store.redo(1)
        #expect(redone.recorded.map(\.number) == [3] && redone.recorded.allSatisfy { !$0.isJoined })
        #expect(store.view.cells == ["a": 1])
    }

    @Test func `redo brings nothing back that another intent has replaced`() async throws {
        let store = try await store(.memory)
        try await store.record(.set("a", 1), replacing: "field")
        try await store.record(.set("a", 2), replacing: "field")
        #expect(try await store.redo(1).ignored == .withdrawn)
    }

    @Test func `a batch that confirms both an intent and what undoes it restores nothing`()
        async throws
    {
        let store = try await store(.memory)
        try await store.record(.set("a", 1))
        try await send(1, in: store)
        try await store.undo(1)
        try await store.abandon(1)
        try await store.confirm([
            event(1, .set("a", 1), of: 1, in: store), event(2, .remove("a"), of: 2, in: store),
        ])
        #expect(store.overlay.isEmpty && store.view.cells.isEmpty)
        #expect(try await store.verify().isSound)
    }

    @Test func `each of two undoings follows the conflict of the intent`() async throws {
        let store = try await store(.memory)
        try await store.confirm([event(1, .set("a", 1), in: store)])
        try await store.record(.add("a", 1))
        try await store.acknowledge(1)
        try await store.undo(1)
        try await store.reject(2, message: "no")
        try await store.undo(1)
        try await store.acknowledge(2)
        try await store.confirm([event(2, .remove("a"), in: store)])
        #expect(store.snapshot.conflicted == [1, 2, 3])
        try await store.confirm([event(3, .add("a", 1), of: 1, in: store)])
        #expect(store.snapshot.conflicted.isEmpty && store.view.cells == ["a": 1])
        #expect(try await store.verify().isSound)
    }

    // MARK: What is confirmed

    @Test(arguments: Engine.allCases)
    func `a confirmed intent is undone with the inverse that the log kept`(
        engine: Engine
    ) async throws {
        var store = try await store(engine)
        try await store.record(.set("a", 1))
        try await store.record(.set("a", 2))
        try await store.confirm([
            event(1, .set("a", 1), of: 1, in: store), event(2, .set("a", 2), of: 2, in: store),
        ])
        if engine == .lmdb {
            await store.close()
            store = try await reopened()
        }
        try await store.undo(2)
        #expect(store.view.cells == ["a": 1])
        #expect(try await store.undo(2).ignored == .confirmed)
        try await store.confirm([event(3, .set("a", 1), of: 3, in: store)])
        #expect(try await store.undo(2).ignored == .confirmed)
        try await store.redo(2)
        #expect(store.view.cells == ["a": 2])
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test func `an event that the server reworded is not undone by guessing`() async throws {
        let store = try await store(.memory)
        for value in 1...4 { try await store.record(.set("a", value)) }
        // Named with another event; accepted with another event; accepted as it is, confirmed by
        // through.
        try await store.confirm([event(1, .set("a", 9), of: 1, in: store)])
        try await store.acknowledge(2, position: 2, replacement: .set("a", 8))
        try await store.acknowledge(3, position: 3)
        try await store.confirm([event(3, .set("b", 1), in: store)])
        for number: IntentNumber in [1, 2] {
            await #expect {
                try await store.undo(number)
            } throws: {
                if case CommandError.reworded(number) = $0 { true } else { false }
            }
        }
        #expect(try await store.undo(3).recorded.count == 1)
    }

    @Test func `an acknowledged intent whose words were replaced is reworded`() async throws {
        let store = try await store(.memory, .acknowledgement)
        try await store.record(.set("a", 1))
        try await store.record(.set("a", 2))
        try await store.acknowledge(1, replacement: .set("a", 5))
        try await store.acknowledge(2)
        await #expect {
            try await store.undo(1)
        } throws: {
            if case CommandError.reworded(1) = $0 { true } else { false }
        }
        try await store.undo(2)
        #expect(store.view.cells == ["a": 1])
    }

    @Test func `an event without an inverse is refused, and nothing changes`() async throws {
        let store = Store.inMemory(SloppyBoard.self, confirmedBy: .downlink)
        try await store.record(.set("a", 1))
        _ = try await store.recordAttempts([1: Self.begun], flushes: false)
        await #expect {
            try await store.undo(1)
        } throws: {
            if case CommandError.notUndoable(1) = $0 { true } else { false }
        }
        #expect(store.snapshot.sequence == 1)
    }

    // MARK: Several at once

    @Test(arguments: Engine.allCases)
    func `an action of several intents is undone and redone as one`(
        engine: Engine
    ) async throws {
        let store = try await store(engine)
        try await store.record(.set("a", 1))
        try await store.record(contentsOf: [.set("a", 2), .set("b", 2), .add("a", 5)])
        try await store.withdraw(3)
        try await send(2, in: store)
        let undone = try await store.undo(4)
        #expect(undone.withdrawn == [4] && undone.recorded.map(\.number) == [5])
        #expect(store.view.cells == ["a": 1])
        let redone = try await store.redo(2)
        #expect(redone.withdrawn == [5] && redone.recorded.map(\.number) == [6])
        // The intent that was withdrawn alone stays withdrawn.
        #expect(store.view.cells == ["a": 7])
        try await store.undo(6)
        #expect(store.view.cells == ["a": 1])
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test func `undoing several sent intents records one action, the last first`() async throws {
        let store = try await store(.memory)
        try await store.record(contentsOf: [.set("a", 1), .add("a", 1), .add("a", 1)])
        try await send(1, 2, 3, in: store)
        let undone = try await store.undo(1)
        #expect(undone.recorded.map(\.number) == [4, 5, 6])
        #expect(store.overlay.map(\.undoes) == [nil, nil, nil, 3, 2, 1])
        #expect(store.overlay.suffix(3).allSatisfy { $0.group == 4 })
        #expect(store.view.cells.isEmpty)
        try await store.redo(1)
        #expect(store.view.cells == ["a": 3])
    }

    // MARK: Kept over a restart

    @Test func `a checkpoint keeps what was undone and which drafts were released`() async throws {
        let store = try await store(.lmdb)
        try await store.record(.set("a", 1), held: true)
        try await store.release(1)
        try await store.record(.set("b", 1))
        try await send(2, in: store)
        try await store.undo(2)
        try await store.checkpoint()
        await store.close()
        let again = try await reopened()
        #expect(again.status.checkpoint > 0 && again.status.heldCount == 0)
        #expect(try await again.undo(2).ignored == .pending)
        #expect(try await again.redo(2).withdrawn == [3])
        await again.close()
    }
}
