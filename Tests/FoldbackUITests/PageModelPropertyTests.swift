import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport
import Testing

/// Born from the question whether a page that is read again after changes ever repeats or loses a
/// row, or forgets which rows it showed.
///
/// Property (U23): after each random change or extension, a page has the rows of a naive window
/// over an array of all rows, and its edges say whether there are more.
@MainActor @Suite struct PageModelPropertyTests {
    @Test func `U23: pages of a table equal a naive window, after any history`() async throws {
        try await play("pages of a table") { model in
            model.pages(
                of: RowBoard.cells, in: .keys(from: "c02", upTo: "c28"), pageSize: 3, windowMax: 8)
        } all: { rows in
            try rows.page(of: RowBoard.cells, limit: .max)
                .filter { $0.key >= "c02" && $0.key < "c28" }
        } precedes: {
            $0.key < $1.key
        }
    }

    @Test func `U23: pages of an index equal a naive window, after any history`() async throws {
        try await play("pages of an index") { model in
            model.pages(
                of: RowBoard.byValue, in: .keys(through: 7), order: .descending, pageSize: 3,
                windowMax: 8)
        } all: { rows in
            try rows.page(of: RowBoard.byValue, limit: .max).reversed()
                .filter { $0.indexKey <= 7 }
        } precedes: {
            ($0.indexKey, $0.key) > ($1.indexKey, $1.key)
        }
    }

    private func play<Element: Equatable>(
        _ name: String,
        pages: (RowsModel<RowBoard>) -> PageModel<Element, Never>,
        all: @escaping @Sendable (borrowing RowReader<RowBoard>) throws -> [Element],
        precedes: @escaping (Element, Element) -> Bool
    ) async throws {
        let first = testSeed(name, variable: "PAGES_SEED")
        for seed in first..<first + TestEffort.value(quick: 40, full: 80) {
            var random = SeededGenerator(seed: seed)
            let store = Store.rowBoard()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                try await store.record(change(&random))
            }
            let model = RowsModel(store, sources: Frames().sources)
            let pages = pages(model)
            await isRead(pages)
            var window = NaiveWindow(pageSize: 3, windowMax: 8, precedes)
            window.extend(.end, try store.read(all), isFirst: true)
            var story: [String] = []
            for _ in 0..<40 {
                if random.oneIn(3) {
                    let edge: ListEdge = random.oneIn(2) ? .start : .end
                    story.append("extend \(edge)")
                    let isReached = (edge == .start ? window.start : window.end) == nil
                    pages.extend(edge)
                    await isRead(pages)
                    // At an end that was reached, the page does nothing.
                    if !isReached { window.extend(edge, try store.read(all)) }
                } else {
                    let move = change(&random)
                    story.append("\(move)")
                    try await model.perform(move)
                    window.update(try store.read(all))
                }
                let note: Comment = "seed \(seed): \(story)"
                #expect(pages.rows == .success(window.rows), note)
                #expect(pages.start == .success(window.start == nil ? .end : .more), note)
                #expect(pages.end == .success(window.end == nil ? .end : .more), note)
            }
        }
    }

    /// A change to a few of 30 cells.
    private func change(_ random: inout SeededGenerator) -> Move {
        func key() -> String {
            let number = Int.random(in: 0..<30, using: &random)
            return number < 10 ? "c0\(number)" : "c\(number)"
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<8: return .set(key(), Int.random(in: 0...9, using: &random))
        case 8..<11: return .remove(key())
        default: return .replaceAll(Dictionary([(key(), 1), (key(), 2)]) { $1 })
        }
    }
}
