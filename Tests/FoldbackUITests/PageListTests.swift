import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from a feed that kept its own flags for the placeholders at its ends. They stayed when a
/// fetch failed, and the page jumped when they vanished before the rows arrived.
@MainActor @Suite struct PageListTests {
    private let clock = ManualClock()
    private let server = FetchServer()
    private let store = Store.rowBoard(.downlink)
    private let model: RowsModel<RowBoard>
    private let pages: PageModel<RowEntry<String, Int>, RequestError>
    private let list: ListModel<String, Note>

    init() {
        model = RowsModel(store, sources: clock.sourcesWithoutFrames)
        pages = model.pages(
            of: RowBoard.cells, pageSize: 2, windowMax: 20, fetch: server.pageFetch())
        list = ListModel(of: pages, in: model, placeholders: 2) { list, entries in
            list.section("cells")
            list.items(entries.map { Note(id: $0.key) })
        }
    }

    private var rows: String { list.snapshot.rowNames }

    /// Fetches at an edge, and waits until the list has placeholders.
    private func fetch(_ edge: ListEdge) async {
        pages.extend(edge)
        await until { list.snapshot.isBusy }
    }

    @Test func `U23: a list has placeholders during a fetch, not while local rows are read`()
        async throws
    {
        try await store.confirmCells(["k1", "k2", "k3"])
        let changes = Changes(of: list)
        await isRead(pages)
        pages.extend(.end)
        await isRead(pages)
        await until { list.snapshot.rowCount == 3 }
        #expect(changes.lists == ["k1 k2", "k1 k2 k3"])

        await fetch(.end)
        #expect(rows == "k1 k2 k3 end0 end1")
        await fetch(.start)
        await until { list.snapshot.rowCount == 7 }
        #expect(rows == "start1 start0 k1 k2 k3 end0 end1")
        await server.answer(0, .failure("closed"))
        await isRead(pages, .end)
        #expect(rows == "start1 start0 k1 k2 k3")
        pages.cancel(.start)
        await until { list.snapshot.rowCount == 3 }
        #expect(!list.snapshot.isBusy)
    }

    @Test func `U20: the rows of a fetch replace the placeholders at its edge in one update`()
        async throws
    {
        try await store.confirmCells(["k5", "k6"])
        await isRead(pages)
        let edits = Edits(of: list)
        for (edge, keys) in [(ListEdge.end, ["k7", "k8", "k9"]), (.start, ["k4"])] {
            await fetch(edge)
            _ = edits.next()
            let changes = Changes(of: list)
            try await store.confirmCells(keys)
            await until { !list.snapshot.isBusy }
            await server.answer(edge == .end ? 0 : 1, .success(1))
            await isRead(pages)
            #expect(changes.lists.count == 1)
        }
        #expect(rows == "k4 k5 k6 k7 k8 k9")
        #expect(
            edits.next() == [
                "delete cells start 1 at 0.0", "delete cells start 0 at 0.1", "insert k4 at 0.0",
                "replace 0.1 by 0.0",
            ])
    }

    @Test func `U20: an empty page has placeholders, and later rows are inserted`() async throws {
        await isRead(pages)
        await until { !list.isLoading }
        #expect(rows == "")
        await fetch(.end)
        #expect(rows == "end0 end1")
        let changes = Changes(of: list)
        let edits = Edits(of: list)
        try await store.confirmCells(["k1"])
        await until { list.snapshot.rowCount == 1 }
        #expect(edits.next().last == "replace 0.0 by 0.0")
        #expect(pages.end == .loading)
        try await store.confirmCells(["k2"])
        await until { list.snapshot.rowCount == 2 }
        await server.answer(0, .success(0))
        await isRead(pages)
        #expect(changes.lists == ["k1", "k1 k2"])
    }

    @Test func `U23: placeholders in a list without sections are a failure, and do not vanish`()
        async throws
    {
        let list = ListModel<String, Note>(of: pages, in: model, placeholders: 2) { list, entries in
            guard !entries.isEmpty else { return }
            list.section("cells")
            list.items(entries.map { Note(id: $0.key) })
        }
        await isRead(pages)
        await until { !list.isLoading }
        #expect(list.failure == nil)
        for (call, edge) in ListEdge.allCases.enumerated() {
            pages.extend(edge)
            let failure = ListFailure.invalid(.missingSection(for: "placeholders at the \(edge)"))
            await until { list.failure == failure }
            #expect(failure.description.hasSuffix("begin a section, also for an empty list"))
            await server.answer(call, .failure("closed"))
            await until { list.failure == nil }
        }
        // The list may show the end of a request before the page takes the next.
        for _ in 0..<20_000 where list.failure == nil {
            pages.extend(.end)
            await Task.yield()
        }
        #expect(list.failure != nil)
        try await store.confirmCells(["k1"])
        await until { list.snapshot.rowCount == 1 }
        #expect(list.failure == nil)
        await server.answer(2, .success(0))
        await isRead(pages)
    }

    @Test func `U20: a list with placeholders that is built again has an empty difference`()
        async throws
    {
        try await store.confirmCells(["k1"])
        await isRead(pages)
        await fetch(.end)
        let changes = Changes(of: list)
        let before = list.snapshot
        await list.rebuild()
        try await model.perform(.remove("k2"))
        #expect(changes.lists == [])
        #expect(list.snapshot == before)
        #expect(list.snapshot.difference(from: before).isEmpty)
        pages.cancel(.end)
        await until { !list.snapshot.isBusy }
        await fetch(.end)
        #expect(list.snapshot == before)
        #expect(changes.lists == ["k1", "k1 end0 end1"])
    }

    @Test func `U23: an edge that the page has left has no placeholders`() async throws {
        try await store.confirmCells((10...40).map { "k\($0)" })
        await isRead(pages)
        await fetch(.start)
        while list.snapshot.place(ofItem: "k30") == nil {
            pages.extend(.end)
            await isRead(pages, .end)
        }
        #expect(pages.start == .success(.more))
        #expect(!list.snapshot.isBusy)
        await server.answer(0, .success(1))
    }
}

extension NoteList {
    /// The ids of the rows of all sections; placeholders by edge and slot.
    fileprivate var rowNames: String {
        sections.flatMap(\.rows).map { row in
            switch row.id {
            case .item(let id): id
            case .placeholder(_, let edge, let slot): "\(edge)\(slot)"
            }
        }.joined(separator: " ")
    }
}

/// The lists that are shown from now on.
@MainActor private final class Changes {
    private let follower: ListFollower
    private let shown: Shown

    @MainActor private final class Shown { var lists: [String] = [] }

    init(of list: ListModel<String, Note>) {
        let shown = Shown()
        self.shown = shown
        follower = ListFollower(list) { [unowned list] _ in
            shown.lists.append(list.snapshot.rowNames)
        }
    }

    var lists: [String] {
        follower.catchUp()
        return shown.lists
    }
}

/// Waits until an edge of a page is not loading.
@MainActor private func isRead<Element, Failure>(
    _ pages: PageModel<Element, Failure>, _ edge: ListEdge
) async {
    await until { !(edge == .start ? pages.start : pages.end).isLoading }
}
