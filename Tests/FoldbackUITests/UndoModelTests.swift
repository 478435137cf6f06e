import Foldback
import TestSupport
import Testing

@testable import FoldbackUI

/// Question: is what a screen offers to undo what the log can still take back (F21)?
@MainActor @Suite struct UndoModelTests {
    private let store = Store<Board>.board()
    private let model: OptimisticModel<Board>
    private let undo: UndoModel<Move>

    init() {
        model = OptimisticModel(store, sources: Frames().sources)
        undo = model.undoModel()
    }

    private func send(_ number: IntentNumber) async throws {
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 1))
        _ = try await store.recordAttempts([number: attempt], flushes: false)
    }

    /// What can be undone and redone.
    private var offer: [String?] { [undo.undoName, undo.redoName] }

    @Test func `undo shows the view before, and redo the view after`() async throws {
        #expect(offer == [nil, nil])
        try await undo.perform(.set("a", 1), named: "first")
        for isSent in [false, true] {
            let receipt = try await undo.perform(.set("a", 2), named: "second")
            #expect(offer == ["second", nil] && undo.canUndo && !undo.canRedo)
            if isSent { try await send(receipt.number) }
            for _ in 1...3 {
                #expect(try await undo.undo() == "second")
                #expect(model.view.cells == ["a": 1])
                #expect(offer == ["first", "second"])
                #expect(try await undo.redo() == "second")
                #expect(model.view.cells == ["a": 2])
                #expect(offer == ["second", nil])
            }
            try await undo.undo()
        }
    }

    @Test func `a confirmed action is undone and redone`() async throws {
        try await undo.perform(.set("a", 1), named: "first")
        let receipt = try await undo.perform(.set("a", 2), named: "second")
        for number in 1...receipt.number.value { try await store.acknowledge(IntentNumber(number)) }
        await model.adoptCommits()
        for _ in 1...2 {
            #expect(try await undo.undo() == "second")
            #expect(model.view.cells == ["a": 1])
            try await store.acknowledge(IntentNumber(store.status.nextIntent.value - 1))
            #expect(try await undo.redo() == "second")
            #expect(model.view.cells == ["a": 2])
            try await store.acknowledge(IntentNumber(store.status.nextIntent.value - 1))
            await model.adoptCommits()
            #expect(offer == ["second", nil])
        }
    }

    @Test func `a new action empties what can be redone`() async throws {
        try await undo.perform(.set("a", 1), named: "first")
        try await undo.undo()
        try await undo.perform(.set("a", 2), named: "second")
        #expect(offer == ["second", nil])
        #expect(try await undo.redo() == nil)
        #expect(model.view.cells == ["a": 2])
    }

    @Test func `two calls at the same time undo two actions`() async throws {
        for value in 1...3 { try await undo.perform(.set("a", value), named: "\(value)") }
        async let one = undo.undo()
        async let other = undo.undo()
        #expect(Set([try await one, try await other]) == ["2", "3"])
        #expect(offer == ["1", "2"] && model.view.cells == ["a": 1])
    }

    @Test func `several intents are one action, and it is gone with the last of them`() async throws
    {
        let receipts = try await undo.perform(
            contentsOf: [.set("a", 1), .set("b", 2)], named: "both")
        #expect(model.view.cells == ["a": 1, "b": 2])
        try await undo.undo()
        #expect(model.view.cells == [:] && offer == [nil, "both"])
        try await undo.redo()
        #expect(model.view.cells == ["a": 1, "b": 2])
        for number in 3...4 as ClosedRange<UInt64> {
            #expect(offer == ["both", nil])
            try await store.reject(IntentNumber(number), message: "no")
            await model.adoptCommits()
        }
        #expect(receipts.map(\.number) == [1, 2] && offer == [nil, nil])
    }

    @Test func `a rejected action is not offered in the turn in which the view lacks it`()
        async throws
    {
        let receipt = try await undo.perform(.set("a", 1), named: "first")
        let shown = ShownValues { [model, undo] in [model.view.cells["a"], undo.canUndo ? 1 : nil] }
        try await store.reject(receipt.number, message: "no")
        await until { [model] in model.view.cells.isEmpty }
        #expect(offer == [nil, nil] && shown.values.last == [nil, nil])
        #expect(try await undo.undo() == nil)
    }

    @Test func `an action that is rejected after it was undone cannot be redone`() async throws {
        let receipt = try await undo.perform(.set("a", 1), named: "first")
        try await send(receipt.number)
        try await undo.undo()
        #expect(offer == [nil, "first"])
        try await store.reject(receipt.number, message: "no")
        await model.adoptCommits()
        #expect(offer == [nil, nil])
    }

    @Test func `a withdrawn action is not offered`() async throws {
        let receipt = try await undo.perform(.set("a", 1), named: "first")
        try await model.withdraw(receipt.number)
        #expect(offer == [nil, nil])
        // Replacing withdraws too, so the typed text is one action.
        for value in 1...3 {
            try await undo.perform(.set("a", value), named: "type \(value)", replacing: "a")
        }
        #expect(try await undo.undo() == "type 3")
        #expect(model.view.cells == [:] && offer == [nil, "type 3"])
    }

    @Test func `an action that cannot be undone leaves the stack`() async throws {
        try await undo.perform(.set("a", 1), named: "first")
        let receipt = try await undo.perform(.set("a", 2), named: "second")
        try await store.acknowledge(1)
        try await store.acknowledge(receipt.number, replacement: .set("a", 9))
        await #expect(throws: CommandError.self) { try await undo.undo() }
        #expect(offer == ["first", nil])
        await store.close()
        // The store may be opened again, but this model is not.
        await #expect(throws: CommandError.self) { try await undo.undo() }
        #expect(offer == ["first", nil])
    }

    @Test func `what was undone elsewhere is dropped`() async throws {
        let receipt = try await undo.perform(.set("a", 1), named: "first")
        try await send(receipt.number)
        _ = try await store.undo(receipt.number)
        #expect(try await undo.undo() == nil)
        #expect(offer == [nil, nil] && model.view.cells == [:])
    }

    @Test func `each scope has its own actions, and is one model while somebody keeps it`()
        async throws
    {
        let other = model.undoModel(of: "other")
        #expect(other === model.undoModel(of: "other") && undo === model.undoModel())
        try await undo.perform(.set("a", 1), named: "first")
        try await other.perform(.set("b", 2), named: "second")
        #expect(offer == ["first", nil] && other.undoName == "second")
        try await undo.undo()
        #expect(model.view.cells == ["b": 2] && !undo.canUndo && other.canUndo)
        weak var released: UndoModel<Move>?
        do { released = model.undoModel(of: "third") }
        #expect(released == nil)
    }

    @Test func `what the app recorded itself is an action once it is noted`() async throws {
        let receipt = try await store.record(.set("a", 1), once: "key")
        undo.note([receipt], named: "first")
        let joined = try await store.record(.set("a", 1), once: "key")
        undo.note([joined], named: "joined")
        #expect(offer == ["first", nil])
        try await undo.undo()
        #expect(model.view.cells == [:])
    }

    @Test func `the last hundred actions are kept`() async throws {
        var changes: [UndoChange] = []
        undo.listener = { changes.append($0) }
        for value in 1...101 { try await undo.perform(.set("a", value), named: "\(value)") }
        #expect(changes.last == .dropped(id: 1) && changes.count == 102)
        var count = 0
        while try await undo.undo() != nil { count += 1 }
        #expect(count == 100 && model.view.cells == ["a": 1])
    }

    @Test func `a draft's mark says so until its release, and names what it undoes`() async throws {
        try await undo.perform(.set("a", 1), named: "first", held: true)
        let mark = try #require(model.status(of: "a").marks.first)
        #expect(mark.isHeld && mark.state == .pending && mark.actions == [.withdraw])
        let notified = Notifications { [model] in _ = model.status(of: "a") }
        try await model.release(1)
        #expect(model.status(of: "a").marks.map(\.isHeld) == [false])
        await untilSoon { notified.count == 1 }
        #expect(notified.count == 1)
        try await send(1)
        try await undo.undo()
        #expect(model.status(of: "a").marks.map(\.undoes) == [nil, 1])
        try await model.perform(contentsOf: [.set("b", 1), .set("b", 2)])
        #expect(model.status(of: "b").marks.map(\.group) == [3, 3])
    }
}
