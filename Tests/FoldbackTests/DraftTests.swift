import Foldback
import Foundation
import TestSupport
import Testing

/// Question: how do many keystrokes, a draft, and five hundred items become what a server should get
/// (F16, F20, F22)?
@Suite struct DraftTests {
    let directory = TemporaryDirectory()

    private static let begun = Attempt(
        count: 1, startedAt: Timestamp(millisecondsSince1970: 10))

    private func store(_ engine: Engine = .memory) async throws -> Store<Board> {
        try await engine.store(Board.self, .downlink, in: directory)
    }

    // MARK: Replacing

    @Test(arguments: Engine.allCases)
    func `each keystroke takes the place of the one before`(engine: Engine) async throws {
        let store = try await store(engine)
        try await store.record(.set("title", 0))
        for value in 1...50 { try await store.record(.set("a", value), replacing: "field") }
        #expect(store.snapshot.pending == [1, 51] && store.view.cells == ["title": 0, "a": 50])
        #expect(try store.intent(51).replaces == 50)
        #expect(try store.intent(50).state == .withdrawn)
        #expect(store.snapshot.sequence == 51)
        #expect(try await store.verify().isSound)
        // The inverse is that of the whole drag.
        try await store.undo(51)
        #expect(store.view.cells == ["title": 0])
        await store.close()
    }

    @Test func `answers tell that a replaced intent is withdrawn`() async throws {
        let store = try await store()
        let first = try await store.record(.set("a", 1), replacing: "field")
        try await store.record(.set("a", 2), replacing: "field")
        guard case .withdrawn = try await first.answer().content else {
            Issue.record("\(try await first.answer())")
            return
        }
    }

    @Test func `what was sent, or has a later change on it, is not replaced`() async throws {
        let store = try await store()
        try await store.record(.set("a", 1), replacing: "field")
        try await store.record(.set("b", 1))
        try await store.record(.set("a", 2), replacing: "field")
        #expect(store.snapshot.pending == [2, 3])  // Intent 2 touches another key.
        try await store.record(.add("a", 1))
        try await store.record(.set("a", 3), replacing: "field")
        #expect(store.snapshot.pending == [2, 3, 4, 5])
        _ = try await store.recordAttempts([5: Self.begun], flushes: false)
        try await store.record(.set("a", 4), replacing: "field")
        #expect(store.snapshot.pending == [2, 3, 4, 5, 6] && store.view.cells["a"] == 4)
    }

    @Test func `without known keys only the newest intent is replaced`() async throws {
        let store = Store.inMemory(SloppyBoard.self, confirmedBy: .downlink)
        try await store.record(.set("a", 1), replacing: "field")
        try await store.record(.set("a", 2), replacing: "field")
        #expect(store.snapshot.pending == [2])
        try await store.record(.set("b", 1))
        try await store.record(.set("a", 3), replacing: "field")
        #expect(store.snapshot.pending == [2, 3, 4])
    }

    @Test(arguments: Engine.allCases)
    func `if the new event does not apply, the old one stays`(engine: Engine) async throws {
        let store = try await store(engine)
        try await store.record(.set("a", 1), replacing: "field")
        await #expect(throws: CommandError.self) {
            try await store.record(.add("a", 1), replacing: "field")  // It needs the old one.
        }
        #expect(store.snapshot.pending == [1] && store.view.cells == ["a": 1])
        try await store.record(.add("a", 1), force: true, replacing: "field")
        #expect(store.snapshot.conflicted == [2] && store.view.cells.isEmpty)
        await store.close()
    }

    @Test func `another intent with the once key is joined, and nothing is replaced`() async throws
    {
        let store = try await store()
        try await store.record(.set("a", 1), once: "post", replacing: "field")
        let same = try await store.record(.set("a", 2), once: "post", replacing: "field")
        #expect(same.number == 2 && !same.isJoined && store.snapshot.pending == [2])
        try await store.record(.set("b", 1), once: "other")
        let joined = try await store.record(.set("a", 3), once: "other", replacing: "field")
        #expect(joined.isJoined && joined.number == 3 && store.snapshot.pending == [2, 3])
    }

    // MARK: Drafts

    @Test(arguments: Engine.allCases)
    func `a draft is in the view, and is not sent before it is released`(
        engine: Engine
    ) async throws {
        let store = try await store(engine)
        try await store.record(.set("a", 1), held: true)
        #expect(store.view.cells == ["a": 1] && store.status.heldCount == 1)
        #expect(store.status.pendingCount == 1)
        #expect(try await store.recordAttempts([1: Self.begun], flushes: false) == [])
        #expect(store.pendingIntent(1) == nil)
        try await store.release(1)
        #expect(store.status.heldCount == 0 && store.view.cells == ["a": 1])
        #expect(try await store.recordAttempts([1: Self.begun], flushes: false) == [1])
        await #expect {
            try await store.release(1)
        } throws: {
            if case CommandError.notHeld(1, state: .pending) = $0 { true } else { false }
        }
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test func `a draft survives a restart, is edited by its key, and sent by recording it last`()
        async throws
    {
        let store = try await store(.lmdb)
        for value in 1...3 {
            try await store.record(.set("a", value), replacing: "composer", held: true)
        }
        await store.close()
        let again = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        #expect(again.view.cells == ["a": 3] && again.status.heldCount == 1)
        await again.close()
        await #expect {
            try await Store<Board>.wipe(at: directory.log)
        } throws: {
            if case LogError.pendingIntents(_, count: 1, held: 1) = $0 { true } else { false }
        }
        let last = try await Store.open(
            at: directory.log, Board.self, confirmedBy: .downlink, durability: .relaxed)
        try await last.record(.set("a", 4), replacing: "composer")
        #expect(last.snapshot.pending == [4] && last.status.heldCount == 0)
        await last.close()
    }

    @Test func `joining a draft by its once key releases it`() async throws {
        let store = try await store()
        try await store.record(.set("a", 1), once: "post", held: true)
        try await store.record(.set("a", 2), once: "post", held: true)
        #expect(store.status.heldCount == 1)
        let joined = try await store.record(.set("a", 3), once: "post")
        #expect(joined.isJoined && joined.sequence == 2 && store.status.heldCount == 0)
    }

    @Test func `a retried intent is not held`() async throws {
        let store = try await store()
        try await store.record(.set("a", 1), held: true)
        try await store.release(1)
        try await store.reject(1, message: "no")
        try await store.retry(1)
        #expect(store.status.heldCount == 0 && store.snapshot.pending == [2])
    }

    @Test func `undo takes a draft back, and redo brings back a draft`() async throws {
        let store = try await store()
        try await store.record(.set("a", 1), held: true)
        try await store.record(.set("b", 1), held: true)
        try await store.release(2)
        for number: IntentNumber in [1, 2] {
            try await store.undo(number)
            try await store.redo(number)
        }
        #expect(store.snapshot.pending == [3, 4] && store.core.published.drafts.held == [3])
    }

    // MARK: Together

    @Test(arguments: Engine.allCases)
    func `several events are recorded as one action, or not at all`(engine: Engine) async throws {
        let store = try await store(engine)
        let receipts = try await store.record(
            contentsOf: [.set("a", 1), .add("a", 1), .set("b", 1)])
        #expect(receipts.map(\.number) == [1, 2, 3] && receipts.map(\.sequence) == [1, 2, 3])
        #expect(store.overlay.map(\.group) == [1, 1, 1])
        #expect(store.view.cells == ["a": 2, "b": 1])
        await #expect {
            try await store.record(contentsOf: [.set("c", 1), .claim("a"), .set("d", 1)])
        } throws: {
            if case CommandError.inapplicable = $0 { true } else { false }
        }
        #expect(store.snapshot.sequence == 3 && store.view.cells == ["a": 2, "b": 1])
        try await store.record(contentsOf: [.set("e", 1)], once: "all")
        #expect(store.overlay[3].group == nil)
        await #expect {
            try await store.record(contentsOf: [.set("f", 1), .set("g", 1)], once: "all")
        } throws: {
            if case CommandError.onceKeyInUse(4) = $0 { true } else { false }
        }
        #expect(try await store.record(contentsOf: []).isEmpty)
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test func `an action has at most 1,024 events, of 4 MiB`() async throws {
        let store = try await store()
        let many = (0..<1_025).map { Move.set("\($0)", 1) }
        await #expect {
            try await store.record(contentsOf: many)
        } throws: {
            if case CommandError.tooMany(_, count: 1_025, countMax: 1_024) = $0 {
                true
            } else {
                false
            }
        }
        let long = Move.set(String(repeating: "x", count: 3 << 20), 1)
        await #expect {
            try await store.record(contentsOf: [long, long])
        } throws: {
            if case CommandError.tooLarge = $0 { true } else { false }
        }
        try await store.record(contentsOf: Array(many.dropLast()))
        #expect(store.snapshot.pending.count == 1_024)
    }

    @Test func `an action is withdrawn as one, unless a part may have left`() async throws {
        let store = try await store()
        try await store.record(contentsOf: [.set("a", 1), .set("b", 1), .set("c", 1)])
        try await store.withdraw(2)
        try await store.withdraw(all: 3)
        #expect(store.overlay.isEmpty)
        try await store.record(contentsOf: [.set("a", 1), .set("b", 1)])
        _ = try await store.recordAttempts([5: Self.begun], flushes: false)
        await #expect {
            try await store.withdraw(all: 4)
        } throws: {
            if case CommandError.mayHaveLeft(5) = $0 { true } else { false }
        }
        #expect(store.snapshot.pending == [4, 5])
    }

    @Test func `the refused parts of an action are retried as one`() async throws {
        let store = try await store()
        try await store.record(contentsOf: [.set("a", 1), .set("b", 1), .set("c", 1)])
        try await store.reject(1, message: "no")
        try await store.reject(3, message: "no")
        let receipts = try await store.retry(all: 2)
        #expect(receipts.map(\.number) == [4, 5] && store.rejections.isEmpty)
        #expect(store.overlay.suffix(2).allSatisfy { $0.group == 4 })
        await #expect {
            try await store.retry(all: 2)
        } throws: {
            if case CommandError.notRejected = $0 { true } else { false }
        }
    }
}
