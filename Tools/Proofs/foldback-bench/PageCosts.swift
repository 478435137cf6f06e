import Foldback
import FoldbackUI

/// Measures a window of 200 rows that is read again after a commit, in a table of 1,000,000 rows.
///
/// The files are in memory.
struct PageCosts: Sendable {
    let bench: Workbench

    private static let pageSize = 50
    private static let windowCount = 200

    private var commitCount: Int { bench.isFull ? 2_000 : 300 }

    func measurements() async throws -> [Measurement] {
        try await bench.withDirectory(on: .memory) { directory in
            try await bench.mailboxLogs.copy(.acknowledgement, to: directory)
            let store = try await Store.open(
                at: directory, Mailbox.self, confirmedBy: .acknowledgement, durability: .relaxed,
                checkpoints: .manual)
            let figures = try await figures(store)
            await store.close()
            return figures
        }
    }

    @MainActor private func figures(_ store: Store<Mailbox>) async throws -> [Measurement] {
        let frames = HeldFrames()
        let model = RowsModel(store, sources: frames.sources)
        try await frames.hold(store, recording: .starred(0))
        let table = model.pages(of: Mailbox.messages, pageSize: Self.pageSize)
        let tableFigures = try await figures(
            "a table", table, model, store
        ) { $0.key }
        let index = model.pages(of: Mailbox.unread, pageSize: Self.pageSize)
        return try await tableFigures
            + figures("an index", index, model, store) { $0.key }
    }

    @MainActor private func figures<Element: Identifiable & Equatable & Sendable>(
        _ name: String, _ page: PageModel<Element, Never>, _ model: RowsModel<Mailbox>,
        _ store: Store<Mailbox>, key: (Element) -> UInt64
    ) async throws -> [Measurement] {
        bench.note("reading a window of \(name)")
        while page.rows.value(or: []).count < Self.windowCount {
            page.extend(.end)
            await model.readUpdate()
            model.showUpdate()
        }
        let rows = page.rows.value(or: [])
        let changes = ChangeCount { _ = page.rows }
        var times = UpdateTimes()
        for round in 0..<commitCount {
            let receipt = try await store.record(.starred(key(rows[round % rows.count])))
            await times.measure(model)
            try await store.acknowledge(receipt.number)
        }
        precondition(changes.count >= commitCount, "the page changed \(changes.count) times")
        precondition(page.rows.value(or: []).count == rows.count, "the page has other rows")
        return times.figures("window of \(rows.count) rows of \(name)", .atMost(3))
    }
}
