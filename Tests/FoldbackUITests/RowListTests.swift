import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a list of rows on a disk has the same promises as a list of a
/// view.
@MainActor @Suite struct RowListTests {
    private let store = Store.rowBoard()
    private let model: RowsModel<RowBoard>

    init() { model = RowsModel(store, sources: Frames().sources) }

    nonisolated private static func note(_ entry: RowEntry<String, Int>) -> Note {
        Note(id: entry.key, text: "\(entry.row)")
    }

    @Test func `U32: a list of rows has the statuses and ghosts of its revision`() async throws {
        let list = ListModel<String, Note>(of: model) { reader in
            try reader.page(of: RowBoard.cells, limit: .max)
        } rows: { list, entries in
            list.section("cells")
            list.items(entries.map(Self.note))
        } ghost: { intent, _ in
            guard case .set(let key, let value) = intent.event else { return nil }
            return Note(id: key, text: "\(value)")
        }
        try await model.perform(.set("a", 1))
        let refused = try await model.perform(.set("b", 2))
        #expect(text(list.snapshot) == ["cells: a=1 1 pending, b=2 2 pending"])
        let edits = Edits(of: list)
        try await store.reject(refused.number, message: "no")
        await until { model.revision == 3 }
        #expect(text(list.snapshot) == ["cells: a=1 1 pending, !b=2 2 rejected"])
        #expect(edits.next() == ["change b at 0.1: status"])
        await store.close()
        await until { model.condition == .closed }
        #expect(text(list.snapshot) == ["cells: a=1 1 pending, !b=2 2 rejected"])
    }

    @Test func `a list of a page follows the page's rows, also without a commit`() async throws {
        for number in 1...5 { try await store.record(.set("k\(number)", number)) }
        let pages = model.pages(of: RowBoard.cells, pageSize: 2, windowMax: 4)
        let list = ListModel<String, Note>(of: pages, in: model) { list, entries in
            list.section("cells")
            list.items(entries.map(Self.note))
        }
        await until { !list.isLoading }
        #expect(list.snapshot.sections[0].rows.compactMap(\.content?.id) == ["k1", "k2"])
        pages.extend(.end)
        await until { list.snapshot.rowCount == 4 }
        #expect(list.snapshot.sections[0].rows.map(\.status.marks.count) == [1, 1, 1, 1])
        let edits = Edits(of: list)
        try await store.acknowledge(2)
        await until { model.revision == 6 }
        #expect(edits.next() == ["change k2 at 0.1: status"])
    }

    @Test func `rows that cannot be read are a failure of the list`() async throws {
        let list = ListModel<String, Note>(of: model) { reader in
            guard try reader.get("a", in: RowBoard.cells) != nil else {
                throw MoveConflict(reason: "a is absent")
            }
            return 1
        } rows: { list, _ in
            list.section("cells")
        }
        await until { list.failure != nil }
        #expect(list.failure == .unreadable(.unreadable(reason: "a is absent")))
        #expect(list.isLoading)
        try await model.perform(.set("a", 1))
        #expect(list.failure == nil)
        #expect(!list.isLoading)
        await store.close()
        await until { model.condition == .closed }

        let late = ListModel<String, Note>(of: model) { _ in
            1
        } rows: { _, _ in
        }
        await until { late.failure != nil }
        #expect(late.failure == .unreadable(.closed))
    }
}
