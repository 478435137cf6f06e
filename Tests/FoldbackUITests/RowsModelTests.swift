import Foldback
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from the question whether a model over rows on a disk keeps the promises of a model over a
/// value, without reading the disk on the main actor.
@MainActor @Suite struct RowsModelTests {
    private let frames = Frames()

    @Test func `U24: when a command returns, the selections of rows are at its entry or later`()
        async throws
    {
        let model = RowsModel(Store.rowBoard(), sources: frames.sources)
        let cell = model.select { try $0.get("a", in: RowBoard.cells) }
        let sequence = model.select { $0.sequence }
        #expect(cell.value == .loading)
        let receipt = try await model.perform(.set("a", 1))
        #expect(cell.value == .success(1))
        #expect(sequence.value == .success(receipt.sequence))
        #expect(model.revision == receipt.sequence)
        #expect(model.status(of: "a").marks.map(\.actions) == [[.withdraw]])
        try await model.withdraw(receipt.number)
        #expect(cell.value == .success(nil))
        #expect(sequence.value == .success(model.revision))
        #expect(model.status(of: "a") == .settled)
    }

    @Test func `U24: a retried and a dismissed intent of rows is shown on return`() async throws {
        let store = Store.rowBoard()
        let model = RowsModel(store, sources: frames.sources)
        let cell = model.select { try $0.get("a", in: RowBoard.cells) }
        let receipt = try await model.perform(.set("a", 1))
        try await store.reject(receipt.number, message: "no")
        await until { model.rejections.map(\.number) == [receipt.number] }
        #expect(cell.value == .success(nil))
        let retried = try await model.retry(receipt.number, with: .set("a", 2))
        #expect(cell.value == .success(2))
        try await store.reject(retried.number, message: "no")
        await until { model.rejections.map(\.number) == [retried.number] }
        try await model.dismiss(retried.number)
        #expect(model.rejections == [])
        #expect(model.status(of: "a") == .settled)
    }

    @Test func `U9: rows that were fetched are shown before the fetch has succeeded`() async throws
    {
        let store = Store.rowBoard()
        let frames = Frames(held: true)
        let model = RowsModel(store, sources: frames.sources)
        let cell = model.select { try $0.get("a", in: RowBoard.cells) }
        // The model waits for the next frame, which does not begin.
        while !frames.isWaiting {
            try await store.record(.set("b", 1))
            await Task.yield()
        }
        let loading = FetchModel<Void, any Error>("loading") { _ in
            try await store.record(.set("a", 1))
            await model.adoptCommits()
        }
        // 0 is the fact that there is nothing, and -1 that nothing is known.
        let shown = ShownValues {
            loading.data(known: cell.value.success ?? nil, absent: 0).value(or: -1)
        }
        loading.ask()
        await loading.waitUntilIdle()
        #expect(frames.isWaiting)
        #expect(shown.values == [-1, 1])
        frames.begin()
    }

    @Test func `U25: a selection of rows notifies only if its result differs`() async throws {
        let model = RowsModel(Store.rowBoard(), sources: frames.sources)
        let a = model.select { try $0.get("a", in: RowBoard.cells) }
        let b = model.select { try $0.get("b", in: RowBoard.cells) }
        await isRead(b)
        let (ofA, ofB) = (Notifications { _ = a.value }, Notifications { _ = b.value })
        try await model.perform(.set("a", 1))
        await until { ofA.count == 1 }
        try await model.perform(.set("a", 1))
        try await model.perform(.set("b", 2))
        await until { ofB.count == 1 }
        #expect(ofA.count == 1)
    }

    @Test func `U25: a result that changes and changes back in one frame notifies nobody`()
        async throws
    {
        let store = Store.rowBoard()
        let frames = Frames(held: true)
        let model = RowsModel(store, sources: frames.sources)
        let a = model.select { try $0.get("a", in: RowBoard.cells) }
        try await model.perform(.set("a", 1))
        // In the end, the model waits for the next frame.
        while !frames.isWaiting {
            try await store.record(.set("b", 1))
            await Task.yield()
        }
        let ofA = Notifications { _ = a.value }
        try await store.record(.set("a", 2))
        try await store.record(.set("a", 1))
        frames.begin()
        await until { model.revision == store.status.sequence }
        await Task.yield()
        #expect(ofA.count == 0)
        #expect(a.value == .success(1))
        frames.begin()
    }

    @Test func `U25: a failed read is a failure, and is tried again with the next update`()
        async throws
    {
        let model = RowsModel(Store.rowBoard(), sources: frames.sources)
        let sum = model.select { rows in
            guard let value = try rows.get("a", in: RowBoard.cells) else {
                throw MoveConflict(reason: "a is absent")
            }
            return value
        }
        let others = model.select { try $0.count(of: RowBoard.cells) }
        await isRead(sum)
        #expect(sum.value == .failure(.unreadable(reason: "a is absent")))
        #expect(others.value == .success(0))
        try await model.perform(.set("a", 1))
        #expect(sum.value == .success(1))
    }

    @Test func `U28: rows are read off the main actor, and only after commits`() async throws {
        let store = Store.rowBoard()
        let model = RowsModel(store, sources: frames.sources)
        let reads = Mutex<[Bool]>([])
        let cells = model.select { rows in
            reads.withLock { $0.append(MainQueue.isCurrent) }
            return try rows.count(of: RowBoard.cells)
        }
        await isRead(cells)
        let receipt = try await model.perform(.set("a", 1))
        let attempt = Attempt(count: 1, startedAt: Timestamp(millisecondsSince1970: 5))
        _ = try await store.recordAttempts([receipt.number: attempt], flushes: false)
        await until { model.status(of: "a").marks.first?.attempt == attempt }
        #expect(reads.withLock { $0 } == [false, false])
    }

    @Test func `U28: a released selection is not read`() async throws {
        let model = RowsModel(Store.rowBoard(), sources: frames.sources)
        let reads = Mutex(0)
        do {
            let cells = model.select { rows in
                reads.withLock { $0 += 1 }
                return rows.sequence
            }
            await isRead(cells)
        }
        let before = reads.withLock { $0 }
        try await model.perform(.set("a", 1))
        #expect(reads.withLock { $0 } == before)
    }

    @Test func `U29: a model of rows is freed while its store runs`() async throws {
        let store = Store.rowBoard()
        weak var freed: RowsModel<RowBoard>?
        weak var freedPages: PageModel<RowEntry<String, Int>, Never>?
        // What only the model's link to the store holds.
        weak var freedCues: Cues?
        do {
            let model = RowsModel(store, sources: frames.sources)
            let cell = model.select { try $0.get("a", in: RowBoard.cells) }
            let pages = model.pages(of: RowBoard.cells)
            try await model.perform(.set("a", 1))
            #expect(cell.value == .success(1))
            (freed, freedPages, freedCues) = (model, pages, model.cues)
        }
        #expect(freedPages == nil)
        #expect(freed == nil)
        // A read that goes on keeps the link until it ends.
        for _ in 0..<10_000 where freedCues != nil { await Task.yield() }
        #expect(freedCues == nil)
        try await store.record(.set("a", 2))
        #expect(try store.cells == ["a": 2])
    }

    @Test func `U29: a closed store is released, and the last rows stay`() async throws {
        weak var freed: Store<RowBoard>?
        let model: RowsModel<RowBoard>
        let cell: RowSelection<Int?>
        let pages: PageModel<RowEntry<String, Int>, Never>
        do {
            let store = Store.rowBoard()
            freed = store
            model = RowsModel(store, sources: frames.sources)
            cell = model.select { try $0.get("a", in: RowBoard.cells) }
            pages = model.pages(of: RowBoard.cells)
            try await model.perform(.set("a", 1))
            await store.close()
        }
        await until { model.condition == .closed }
        #expect(freed == nil)
        #expect(cell.value == .success(1))
        #expect(pages.rows.success?.map(\.row) == [1])
        await #expect(throws: CommandError.self) { try await model.perform(.set("a", 2)) }

        let late = model.select { try $0.get("a", in: RowBoard.cells) }
        let latePages = model.pages(of: RowBoard.cells)
        await isRead(late)
        #expect(late.value == .failure(.closed))
        await isRead(latePages)
        #expect(latePages.rows == .failure(.closed))
        #expect(ReadFailure.closed.localizedDescription.hasPrefix("The store was closed"))
    }
}
