import Foldback
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from an app that stuttered because its state was folded and compared on the main thread.
@MainActor @Suite struct ModelThreadTests {
    @Test func `U28: a model folds, compares and names items off the main actor`() async throws {
        WatchedBoard.calls.withLock { $0 = [:] }
        let store = try await TestStorage().store(WatchedBoard.self)
        let model = OptimisticModel(store, sources: Frames().sources)
        let list = ListModel<String, Note>(of: model) { list, board in
            list.section("cells")
            list.items(board.notes)
        } ghost: { intent, _ in
            WatchedBoard.note("ghost")
            guard case .set(let key, let value) = intent.event else { return nil }
            return Note(id: key, text: "\(value)")
        }
        let count = model.select { $0.cellCount }
        try await model.perform(.set("a", 1))
        try await model.perform(.set("a", 1))
        try await model.perform(.set("b", 1), confirmOnly: true)
        try await store.reject(1, message: "no")
        await until { model.rejections.map(\.number) == [1] }
        try await model.retry(1, with: .set("c", 1))
        try await model.withdraw(2)
        #expect(text(list.snapshot) == ["cells: c=1 4 pending, !b=1 3 pending"])
        #expect(count.value == 1)
        let calls = WatchedBoard.calls.withLock { $0 }
        let names = ["apply", "items(of:)", "ghost", "rows", "=="]
        #expect(Set(calls.keys) == Set(names))
        for (name, isMain) in calls { #expect(isMain == [false], "\(name)") }
        #expect(MainQueue.isCurrent)
        await store.close()
    }
}

/// A board that notes where it is called.
private struct WatchedBoard: Projection, Itemized {
    typealias Key = String

    /// For each function, whether the calls were on the main actor.
    static let calls = Mutex<[String: Set<Bool>]>([:])

    static func note(_ name: String) {
        let isMain = MainQueue.isCurrent
        calls.withLock { _ = $0[name, default: []].insert(isMain) }
    }

    private var board = Board()

    var cellCount: Int { board.cells.count }

    var notes: [Note] {
        Self.note("rows")
        return board.cells.sorted { $0.key < $1.key }.map { Note(id: $0.key, text: "\($0.value)") }
    }

    static var codec: any EventCodec<Move> { MoveCodec() }

    mutating func apply(_ move: Move, _ context: EventContext) throws {
        Self.note("apply")
        try board.apply(move, context)
    }

    static func items(of move: Move, _ context: EventContext) -> [ItemReference<String>] {
        note("items(of:)")
        return Board.items(of: move, context)
    }
}

extension WatchedBoard: Equatable {
    static func == (first: Self, second: Self) -> Bool {
        note("==")
        return first.board == second.board
    }
}
