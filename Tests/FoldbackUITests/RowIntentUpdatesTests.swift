import Foldback
import FoldbackUI
import TestSupport
import Testing

/// Born from a model of rows that said nothing about what becomes of one intent.
@MainActor @Suite struct RowIntentUpdatesTests {
    /// The updates of one intent with what a selection shows at each, as text.
    private func told(
        _ answer: (Store<RowBoard>, IntentNumber) async throws -> Void
    ) async throws -> [String] {
        let store = Store.rowBoard(.downlink)
        let model = RowsModel(store, sources: Frames().sources)
        let cell = model.select { try $0.get("a", in: RowBoard.cells) }
        let receipt = try await model.perform(.set("a", 1))
        var told: [String] = []
        for await update in model.updates(of: receipt) {
            let shown = cell.value.success.map { $0.map { "\($0)" } ?? "none" } ?? "unread"
            let state = update.data.map(or: "\(update.data)") { "\($0.content)" }
            told.append("\(update.revision): \(shown), \(state)")
            if told.count == 1 { try await answer(store, receipt.number) }
        }
        return told
    }

    @Test func `U27: an accepted intent is told with the rows that have it, and its downlink`()
        async throws
    {
        let told = try await told { store, number in
            try await store.acknowledge(number)
            let id = try store.intent(number).id
            let event = ConfirmedEvent<Move>(position: 1, event: .set("a", 7), origin: id)
            _ = try await store.confirm([event], through: 1)
        }
        #expect(told.first == "1: 1, loading")
        #expect(told.last == "3: 7, confirmed")
    }

    @Test func `U27: a rejected intent is told with the rows without it`() async throws {
        let told = try await told { store, number in
            try await store.reject(number, message: "no")
        }
        #expect(told == ["1: 1, loading", "2: none, failure(no)"])
    }
}
