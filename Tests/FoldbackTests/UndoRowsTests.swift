import Foldback
import Foundation
import TestSupport
import Testing

/// Question: do undo, replacing and drafts hold for rows as they do for values (F16, F21)?
@Suite struct UndoRowsTests {
    let directory = TemporaryDirectory()

    private static let begun = Attempt(
        count: 1, startedAt: Timestamp(millisecondsSince1970: 10))

    private func store(_ engine: Engine = .memory) async throws -> Store<Shelf> {
        try await engine.store(Shelf.self, .downlink, in: directory)
    }

    private func rows(_ store: Store<Shelf>) throws -> [String: Int] {
        try store.read { rows in
            var all: [String: Int] = [:]
            for key in ["a", "b", "x"] { all[key] = try rows.get(key, in: Shelf.items) }
            return all
        }
    }

    @Test(arguments: Engine.allCases)
    func `rows are undone with what they held below the intent`(engine: Engine) async throws {
        let store = try await store(engine)
        try await store.record(.put("a", 1))
        try await store.record(.put("a", 2))
        try await store.record(.put("b", 1))
        _ = try await store.recordAttempts([2: Self.begun], flushes: false)
        try await store.undo(2)
        #expect(store.overlay[3].event == .put("a", 1))
        #expect(try rows(store) == ["a": 1, "b": 1])
        try await store.undo(3)
        #expect(try rows(store) == ["a": 1])
        let me = store.status.replica
        try await store.confirm([
            ConfirmedEvent(
                position: 1, event: .put("a", 1), origin: IntentID(replica: me, number: 1))
        ])
        try await store.redo(2)
        #expect(try rows(store) == ["a": 2])
        try await store.undo(1)
        #expect(try rows(store).isEmpty)
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test func `rows leave out what undoes a conflicted intent`() async throws {
        let store = try await store()
        try await store.confirm([ConfirmedEvent(position: 1, event: .put("a", 1), origin: nil)])
        // It reads one row, and writes another one without reading it.
        try await store.record(.mark("x", 5, with: "a"))
        _ = try await store.recordAttempts([1: Self.begun], flushes: false)
        try await store.undo(1)
        try await store.confirm([ConfirmedEvent(position: 2, event: .take("a"), origin: nil)])
        #expect(store.conflicted == [1, 2])
        try await store.confirm([ConfirmedEvent(position: 3, event: .put("a", 1), origin: nil)])
        #expect(store.conflicted.isEmpty)
        #expect(try rows(store) == ["a": 1])
    }

    @Test(arguments: Engine.allCases)
    func `rows show what replaces an intent`(engine: Engine) async throws {
        let store = try await store(engine)
        try await store.record(.put("a", 1), replacing: "field")
        try await store.record(.put("b", 1))
        // Rows tell which keys an intent touches.
        try await store.record(.put("a", 2), replacing: "field")
        #expect(store.overlay.map(\.number) == [2, 3])
        #expect(try rows(store) == ["a": 2, "b": 1])
        try await store.record(.mark("b", 7, with: "a"))
        try await store.record(.put("a", 3), replacing: "field")
        #expect(store.overlay.map(\.number) == [2, 3, 4, 5])
        #expect(try await store.verify().isSound)
        await store.close()
    }

    @Test func `rows tell what waits for a draft`() async throws {
        let store = try await store()
        try await store.record(.put("a", 1), held: true)
        try await store.record(.put("b", 1))
        try await store.record(.mark("x", 1, with: "a"))
        var pending = store.pendingIntents()
        let changes = await pending.next()
        #expect(changes?.recorded.map(\.isHeld) == [true, false, false])
        #expect(changes?.recorded.map(\.after) == [[], [], [1]])
        try await store.release(1)
        #expect(await pending.next()?.recorded.map(\.number) == [1])
    }

    @Test func `what follows an intent is what touches its rows later`() async throws {
        let store = try await store()
        try await store.record(.put("a", 1))
        try await store.record(.mark("x", 1, with: "a"))
        try await store.record(.put("b", 1))
        try await store.reject(1, message: "no")
        #expect(try store.following(1) == [2])
        try await store.reject(2, message: "no")
        #expect(try store.following(1) == [2])
        #expect(try store.following(3) == [])
    }
}

/// Rows whose writes read nothing.
private struct Shelf: UndoableRows {
    enum Event: Codable, Sendable, Equatable {
        case put(String, Int)
        case take(String)
        /// Throws if the other row is absent.
        case mark(String, Int, with: String)
    }

    static let items = RowTable("items", key: String.self, row: Int.self)
    static let schema = RowSchema(items)

    static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .put(let key, let value): try rows.put(value, at: key, in: items)
        case .take(let key): try rows.remove(key, from: items)
        case .mark(let key, let value, let other):
            guard try rows.get(other, in: items) != nil else {
                throw MoveConflict(reason: "\(other) is absent")
            }
            try rows.put(value, at: key, in: items)
        }
    }

    static func inverse(
        of event: Event, in rows: inout TouchedRows, _ context: EventContext
    ) throws -> Event? {
        let key =
            switch event {
            case .put(let key, _), .take(let key), .mark(let key, _, _): key
            }
        return try rows.get(key, in: items).map { .put(key, $0) } ?? .take(key)
    }
}
