import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a view ever shows a change that a power cut could take back.
@MainActor @Suite struct BeforeCommitTests {
    private let storage = TestStorage()

    @Test func `U24: before the commit, a model shows nothing of a command`() async throws {
        let store = try await storage.store(Board.self)
        let model = OptimisticModel(store, sources: Frames().sources)
        let list = ListModel<String, Note>(of: model) { list, board in
            list.section("cells")
            list.items(
                board.cells.sorted { $0.key < $1.key }.map { Note(id: $0.key, text: "\($0.value)") }
            )
        }
        try await model.perform(.set("a", 1))
        let words = { @MainActor in
            "\(model.revision) \(model.view.cells) \(model.status(of: "a").marks.map(\.number)) "
                + "\(text(list.snapshot))"
        }
        try await expectUnchanged(words) { try await model.perform(.set("a", 2)) }
        #expect(words() == #"2 ["a": 2] [1, 2] ["cells: a=2 1 pending 2 pending"]"#)
        try await expectUnchanged(words) { try await model.withdraw(2) }
        #expect(words() == #"3 ["a": 1] [1] ["cells: a=1 1 pending"]"#)
        await store.close()
    }

    @Test func `U24: before the commit, a model of rows shows nothing of a command`()
        async throws
    {
        let store = try await storage.store(RowBoard.self)
        let model = RowsModel(store, sources: Frames().sources)
        let cell = model.select { try $0.get("a", in: RowBoard.cells) }
        try await model.perform(.set("a", 1))
        let words = { @MainActor in
            "\(model.revision) \(cell.value) \(model.status(of: "a").marks.map(\.number))"
        }
        try await expectUnchanged(words) { try await model.perform(.set("a", 2)) }
        #expect(words() == "2 success(Optional(2)) [1, 2]")
        try await expectUnchanged(words) { try await model.withdraw(2) }
        #expect(words() == "3 success(Optional(1)) [1]")
        await store.close()
    }

    /// Holds the commit of a command for some turns of the main actor.
    private func expectUnchanged<R: Sendable>(
        _ words: @MainActor () -> String, _ command: @escaping @MainActor () async throws -> R
    ) async throws {
        let before = words()
        storage.holdWrites()
        let performing = Task { try await command() }
        await storage.waitUntilHeld()
        for _ in 0..<100 {
            await Task.yield()
            #expect(words() == before)
        }
        storage.releaseWrites()
        _ = try await performing.value
    }
}
