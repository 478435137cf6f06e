import Foldback
import Foundation

/// Measures what an ordinary app does with its log: Codable events, a value, and rows with two
/// indexes, with the default conflicts.
struct AppCosts: Sendable {
    let bench: Workbench

    private static let actionCounts = [10_000, 200_000]
    private static let batch = 32
    private static let pageLimit = 50

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for count in Self.actionCounts { figures += try await measurements(actions: count) }
        return figures
    }

    private func measurements(actions count: Int) async throws -> [Measurement] {
        try await bench.withDirectory(on: .disk) { folder in
            let log = folder.appending(path: "log", directoryHint: .isDirectory)
            let name = "an app of \(count.grouped) actions"
            bench.note("writing \(name)")
            try await OrdinaryLogs.write(actions: count, to: log)
            var figures = try await OpeningProcess.figures(
                name, log, openings: 5, OpeningProcess.report(ofTodos:))
            let store = try await OrdinaryLogs.open(at: log, .durable)
            bench.note("looking back in \(name)")
            // The value's conflicts depend on the rows, and rows in the past are a fold from the first
            // entry.
            figures += [
                try await store.timesOfPastViews(count: 20).quartered(
                    "\(name), past view of the value", unit: "ms", note: "evenly spaced sequences"),
                try await pastRows(of: name, in: store),
                try await page(of: name, in: store),
            ]
            bench.note("recording and answering in \(name)")
            figures += try await answers(of: name, in: store)
            await store.close()
            return figures
        }
    }

    private func pastRows(
        of name: String, in store: Store<TodoCounts>
    ) async throws -> Measurement {
        let rows = store.projected(TodoRows.self)
        let last = store.status.sequence.value
        var times: [Double] = []
        for place: UInt64 in 1...3 {
            times.append(
                try await milliseconds {
                    let sequence = LogSequence(last * (2 * place - 1) / 6)
                    _ = try await rows.read(at: sequence) { try $0.count(of: TodoRows.todos) }
                })
        }
        return times.quartered(
            "\(name), past rows", unit: "ms", note: "a fold from the first entry")
    }

    private func page(
        of name: String, in store: Store<TodoCounts>
    ) async throws -> Measurement {
        let rows = store.projected(TodoRows.self)
        var times: [Double] = []
        for _ in 0..<100 {
            times.append(
                try await milliseconds {
                    let page = try rows.read { rows in
                        // Each item is done at the end, and not due any more.
                        try rows.page(of: TodoRows.byList, limit: Self.pageLimit).count
                    }
                    precondition(page == Self.pageLimit, "a page of \(page) rows")
                })
        }
        return times.quartered("\(name), page of \(Self.pageLimit) rows", unit: "ms")
    }

    /// Recording, the answer to one intent, and a batch of answers, all durable.
    private func answers(
        of name: String, in store: Store<TodoCounts>
    ) async throws -> [Measurement] {
        var (records, singles, batches): ([Double], [Double], [Double]) = ([], [], [])
        var events = TodoEvent.all(count: 4_000)[...]
        for round in 0..<40 {
            let count = round % 2 == 0 ? 1 : Self.batch
            var page: [ConfirmedEvent<TodoEvent>] = []
            for event in events.prefix(count) {
                let start = ContinuousClock.now
                let receipt = try await store.record(event)
                records.append((.now - start) / .milliseconds(1))
                let position = Position(store.status.through.value + UInt64(page.count) + 1)
                page.append(ConfirmedEvent(position: position, event: event, origin: receipt.id))
            }
            events = events.dropFirst(count)
            let time = try await milliseconds { try await store.confirm(page) }
            if count == 1 { singles.append(time) } else { batches.append(time) }
        }
        return [
            records.quartered("\(name), recording", unit: "ms", note: "durable"),
            singles.quartered("\(name), answer to one", unit: "ms", note: "durable"),
            batches.quartered(
                "\(name), answers to \(Self.batch) at once", unit: "ms", note: "durable"),
        ]
    }

    private func milliseconds(_ body: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return (.now - start) / .milliseconds(1)
    }
}
