import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from a screen of a value and of rows: a command through the model of the value returned, and
/// the rows did not have it yet.
@MainActor @Suite struct ModelGroupTests {
    private let frames = Frames()
    private let store = Store.inMemory(
        Board.self, also: [.init(RowBoard.self)], confirmedBy: .acknowledgement,
        replica: ReplicaID("me"), sources: .counting())

    private func rows() -> RowsModel<RowBoard> {
        RowsModel(store, showing: RowBoard.self, sources: frames.sources)
    }

    private func cell(_ key: String, of rows: RowsModel<RowBoard>) -> RowSelection<Int?> {
        rows.select { try $0.get(key, in: RowBoard.cells) }
    }

    /// Commits until the models wait for the next frame, which does not begin. So they show nothing by
    /// themselves after that.
    private func recordUntilAwaited(_ held: Frames) async throws {
        while !held.isWaiting {
            try await store.record(.set("b", 1))
            await Task.yield()
        }
    }

    @Test func `U25: when a command of a model returns, all models of the store have it`()
        async throws
    {
        let (model, rows) = (OptimisticModel(store, sources: frames.sources), rows())
        let cell = cell("a", of: rows)
        let receipt = try await model.perform(.set("a", 1))
        #expect(cell.value == .success(1))
        #expect((rows.revision, model.revision) == (1, 1))
        #expect(rows.status(of: "a").worst == .pending)
        try await rows.withdraw(receipt.number)
        #expect(model.view.cells == [:])
        #expect(cell.value == .success(nil))
        #expect((rows.revision, model.revision) == (2, 2))
    }

    @Test func `U25: a model that is made before an update is shown is at the others' revision`()
        async throws
    {
        let held = Frames(held: true)
        let model = OptimisticModel(store, sources: held.sources)
        try await recordUntilAwaited(held)
        let revision = model.revision
        let receipt = try await store.record(.set("a", 2))
        await model.readUpdate()
        let late = OptimisticModel(store, sources: held.sources)
        #expect(late.view.cells["a"] == nil)
        // The update that was read lacks the new model, so that nobody shows it.
        model.showUpdate()
        #expect((model.revision, late.revision) == (revision, revision))
        await model.adoptCommits()
        #expect((model.revision, late.revision) == (receipt.sequence, receipt.sequence))
        #expect((model.view.cells["a"], late.view.cells["a"]) == (2, 2))
        #expect(late.status(of: "a").marks.map(\.number) == [receipt.number])
    }

    @Test func `U25: if the rows of a closed store cannot be read, no model shows its last commit`()
        async throws
    {
        let held = Frames(held: true)
        let model = OptimisticModel(store, sources: held.sources)
        let rows = rows()
        let cell = cell("a", of: rows)
        try await model.perform(.set("a", 1))
        await until { cell.value == .success(1) }
        try await recordUntilAwaited(held)
        let revision = model.revision
        try await store.record(.set("a", 2))
        await store.close()
        held.begin()
        await until { model.condition == .closed && rows.condition == .closed }
        #expect(cell.value == .success(1))
        #expect(model.view.cells["a"] == 1)
        #expect((rows.revision, model.revision) == (revision, revision))
    }

    @Test func `U29: a model that is released leaves the others, and the last releases the store`()
        async throws
    {
        var store: Store<Board>? = Store.board()
        weak let released = store
        var models = try (0..<2).map { _ in
            OptimisticModel(try #require(store), sources: frames.sources)
        }
        store = nil
        weak let first = models.first
        try await models[0].perform(.set("a", 1))
        models.removeFirst()
        await untilSoon { first == nil }
        #expect(first == nil)
        try await models[0].perform(.set("a", 2))
        #expect(models[0].view.cells == ["a": 2])
        models = []
        await untilSoon { released == nil }
        #expect(released == nil)
    }

    @Test func `U25: a value and rows on one screen are of one revision`() async throws {
        let store = Store.inMemory(
            People.self, also: [.init(Followed.self)], confirmedBy: .acknowledgement)
        let screen = CountScreen(store)
        // The rows are read on another thread.
        #expect(screen.line == "…")
        try await screen.model.perform(.loaded(Person(name: "mia", followers: 9)))
        try await screen.model.perform(.loaded(Person(name: "zoe", followers: 9)))
        #expect(screen.line == "0 of 2 followed")
        try await screen.model.perform(.following("mia", true))
        #expect(screen.line == "1 of 2 followed")
    }
}
