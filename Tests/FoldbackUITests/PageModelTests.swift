import Foldback
import FoldbackUI
import Synchronization
import TestSupport
import Testing

/// Born from feeds that jumped, repeated rows or read everything when rows arrived while they were
/// scrolled.
@MainActor @Suite struct PageModelTests {
    private let frames = Frames()

    @Test func `U23: a page begins with the first rows, and can be extended to the last`()
        async throws
    {
        let model = RowsModel(try await board(12), sources: frames.sources)
        let pages = model.pages(of: RowBoard.cells, pageSize: 5, windowMax: 100)
        #expect(pages.rows == .loading)
        #expect(pages.end == .loading)
        await isRead(pages)
        #expect(keys(pages) == "k01 k02 k03 k04 k05")
        #expect((pages.start, pages.end) == (.success(.end), .success(.more)))
        pages.extend(.end)
        #expect(pages.end == .loading)
        await isRead(pages)
        #expect(keys(pages).hasSuffix("k09 k10"))
        pages.extend(.end)
        await isRead(pages)
        #expect(keys(pages).hasSuffix("k11 k12"))
        #expect(pages.end == .success(.end))
        pages.extend(.end)
        #expect(pages.end == .success(.end))
        try await model.perform(.set("k99", 1))
        #expect(keys(pages).hasSuffix("k12 k99"))
    }

    @Test func `U23: a page beyond windowMax drops rows at the other edge`() async throws {
        let model = RowsModel(try await board(12), sources: frames.sources)
        let pages = model.pages(
            of: RowBoard.cells, order: .descending, pageSize: 3, windowMax: 4)
        await isRead(pages)
        #expect(keys(pages) == "k12 k11 k10")
        pages.extend(.end)
        await isRead(pages)
        #expect(keys(pages) == "k10 k09 k08 k07")
        #expect((pages.start, pages.end) == (.success(.more), .success(.more)))
        pages.extend(.start)
        await isRead(pages)
        #expect(keys(pages) == "k12 k11 k10 k09")
        #expect((pages.start, pages.end) == (.success(.end), .success(.more)))
    }

    @Test func `U23: a page of a range of an index shows only its rows`() async throws {
        let model = RowsModel(try await board(9), sources: frames.sources)
        let pages = model.pages(
            of: RowBoard.byValue, in: .keys(from: 3, through: 7), order: .descending, pageSize: 3)
        await isRead(pages)
        #expect(pages.rows.success?.map(\.key) == ["k07", "k06", "k05"])
        try await model.perform(.set("k01", 7))
        #expect(pages.rows.success?.map(\.id) == ["k07", "k01", "k06", "k05"])
    }

    @Test func `U23: a page that lost its last rows takes in rows added beyond them`()
        async throws
    {
        let model = RowsModel(try await board(4), sources: frames.sources)
        let pages = model.pages(of: RowBoard.cells, pageSize: 2)
        await isRead(pages)
        try await model.perform(.remove("k03"))
        #expect(pages.end == .success(.more))
        try await model.perform(.remove("k04"))
        #expect(pages.end == .success(.end))
        try await model.perform(.set("k05", 5))
        #expect(keys(pages) == "k01 k02 k05")
    }

    @Test func `U23: a page is read in O(window), and only after its table was touched`()
        async throws
    {
        let store = Store.inMemory(CountedRows.self, confirmedBy: .acknowledgement)
        for number in 100..<400 { try await store.record(.set("k\(number)", number)) }
        let model = RowsModel(store, sources: frames.sources)
        let pages = model.pages(of: CountedRows.books, pageSize: 20, windowMax: 40)
        await isRead(pages)
        let ofRows = Notifications { _ = pages.rows }
        _ = reads()
        for number in 1...5 { try await model.perform(.set("other", number)) }
        #expect(reads() == 0)
        try await model.perform(.set("k101", 0))
        #expect((20...23).contains(reads()))
        pages.extend(.end)
        await isRead(pages)
        #expect((40...50).contains(reads()))
        await until { ofRows.count > 0 }
        #expect(ofRows.count <= 2)
    }

    @Test func `U25: a page notifies the observers of what differs`() async throws {
        let model = RowsModel(try await board(4), sources: frames.sources)
        let pages = model.pages(of: RowBoard.cells, pageSize: 2)
        await isRead(pages)
        let ofRows = Notifications { _ = pages.rows }
        let ofEnd = Notifications { _ = pages.end }
        try await model.perform(.set("k04", 0))
        try await model.perform(.set("k01", 0))
        await until { ofRows.count > 0 }
        #expect((ofRows.count, ofEnd.count) == (1, 0))
    }

    @Test func `U23: a page is read again after a commit with too many changes to keep`()
        async throws
    {
        let store = try await board(4)
        let model = RowsModel(store, sources: frames.sources)
        let pages = model.pages(of: RowBoard.cells, pageSize: 3)
        await isRead(pages)
        var changes = try store.changes(of: RowBoard.cells).makeAsyncIterator()
        var cells = Dictionary(uniqueKeysWithValues: (10_000...20_001).map { ("k\($0)", $0) })
        cells["k02"] = 7
        try await model.perform(.replaceAll(cells))
        #expect(try await changes.next()?.isComplete == false)
        #expect(pages.rows.success?.map(\.row) == [7])
        #expect((pages.start, pages.end) == (.success(.end), .success(.more)))
        pages.extend(.end)
        await isRead(pages)
        #expect(keys(pages) == "k02 k10000 k10001 k10002")
    }

    // MARK: Fetching

    private struct Offline: Error, Equatable {}

    @Test func `U23: local rows come first, then the fetch of the edge`() async throws {
        let store = Store.rowBoard(.downlink)
        try await confirm(1...3, in: store)
        let model = RowsModel(store, sources: frames.sources)
        let calls = Mutex<[String]>([])
        let pages = model.pages(of: RowBoard.cells, pageSize: 2) {
            (edge, last, _) async throws(Offline) -> EdgeState in
            let count = calls.withLock { calls in
                calls.append("\(edge) \(last?.key ?? "-")")
                return calls.count
            }
            if count == 1 { throw Offline() }
            let first = count == 2 ? 4 : 6
            _ = try? await Self.confirm(first...first + 1, in: store)
            return count == 2 ? .more : .end
        }
        await isRead(pages)
        #expect((pages.start, pages.end) == (.notAsked, .success(.more)))
        pages.extend(.end)
        await isRead(pages)
        #expect(pages.end == .notAsked)
        #expect(calls.withLock { $0 } == [])

        pages.extend(.end)
        pages.extend(.end)
        #expect(pages.end == .loading)
        await isRead(pages)
        #expect(pages.end == .failure(Offline()))
        pages.extend(.end)
        await isRead(pages)
        #expect(keys(pages) == "k01 k02 k03 k04 k05")
        #expect(pages.end == .success(.more))
        pages.extend(.end)
        await isRead(pages)
        #expect(keys(pages).hasSuffix("k06 k07"))
        #expect(pages.end == .success(.end))
        pages.extend(.end)
        #expect(pages.end == .success(.end))
        #expect(calls.withLock { $0 } == ["end k03", "end k03", "end k05"])
    }

    // MARK: Boards

    /// A board with the cells k01, k02 and so on.
    private func board(_ count: Int) async throws -> Store<RowBoard> {
        let store = Store.rowBoard()
        for number in 1...count { try await store.record(.set(key(number), number)) }
        return store
    }

    private func confirm(_ numbers: ClosedRange<Int>, in store: Store<RowBoard>) async throws {
        try await Self.confirm(numbers, in: store)
    }

    private nonisolated static func confirm(
        _ numbers: ClosedRange<Int>, in store: Store<RowBoard>
    ) async throws {
        try await store.confirm(
            numbers.map { number in
                ConfirmedEvent(
                    position: Position(UInt64(number)),
                    event: .set("k0\(number)", number))
            })
    }

    private func key(_ number: Int) -> String { number < 10 ? "k0\(number)" : "k\(number)" }

    private func keys<Failure>(_ pages: PageModel<RowEntry<String, Int>, Failure>) -> String {
        pages.rows.value(or: []).map(\.key).joined(separator: " ")
    }

    /// Returns the number of rows decoded since the last call.
    private func reads() -> Int {
        CountedRows.decoded.withLock { count in
            defer { count = 0 }
            return count
        }
    }

    @Test func `U29: a store is closed while a page is extended`() async throws {
        for _ in 0..<100 {
            let store = Store.rowBoard()
            for number in 0..<9 { try await store.record(.set("k\(number)", number)) }
            let model = RowsModel(store, sources: frames.sources)
            let pages = model.pages(of: RowBoard.cells, pageSize: 2, windowMax: 4)
            let closing = Task.detached { await store.close() }
            for _ in 0..<4 {
                pages.extend(.end)
                await Task.yield()
            }
            await closing.value
            await until { model.condition == .closed }
            pages.extend(.start)
            await untilSoon { !pages.start.isLoading }
            #expect(!pages.start.isLoading)
        }
    }
}
