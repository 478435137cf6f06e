import Foldback
import Foundation

/// Measures the log of an ordinary app: Codable events, a value, and rows with two indexes, confirmed
/// by a downlink.
struct OrdinaryLogs: Sendable {
    let bench: Workbench

    private static let actionCount = 200_000
    /// 30 days of 200 actions, with their answers.
    private static let kept = 12_000

    static let also = [AdditionalProjection(TodoRows.self)]

    static func open(at log: URL, _ durability: Durability) async throws -> Store<TodoCounts> {
        try await Store.open(
            at: log, TodoCounts.self, also: also, confirmedBy: .downlink, durability: durability)
    }

    func measurements() async throws -> [Measurement] {
        try await bench.withDirectory(on: .disk) { folder in
            let log = folder.appending(path: "log", directoryHint: .isDirectory)
            bench.note("writing \(Self.actionCount.grouped) actions of an ordinary app")
            try await Self.write(actions: Self.actionCount, to: log)
            let name = "an ordinary app, \(Self.actionCount.grouped) actions"
            var figures = try await OpeningProcess.figures(
                "\(name), before compacting", log, openings: 11, OpeningProcess.report(ofTodos:))
            bench.note("compacting it")
            let clock = ContinuousClock()
            let start = clock.now
            let done = try await Store.compact(
                at: log, TodoCounts.self, also: Self.also, keeping: .entries(Self.kept))
            figures.append(
                Measurement(
                    name: "\(name), compacting with proof",
                    value: (clock.now - start) / .seconds(1), unit: "s", n: 1,
                    note: "\(done.removed.grouped) entries removed"))
            return figures
                + (try await OpeningProcess.figures(
                    "\(name), compacted", log, openings: 11, OpeningProcess.report(ofTodos:)))
        }
    }

    static func write(actions actionCount: Int, to log: URL) async throws {
        let store = try await open(at: log, .relaxed)
        let events = TodoEvent.all(count: actionCount)
        var position: Position = 0
        for start in stride(from: 0, to: events.count, by: 256) {
            let piece = events[start..<min(start + 256, events.count)]
            var queued: [QueuedIntent] = []
            for event in piece { queued.append(try await store.enqueue(event)) }
            var answers: [Acknowledgement<TodoEvent>] = []
            var page: [ConfirmedEvent<TodoEvent>] = []
            for (intent, event) in zip(queued, piece) {
                let id = try await intent.receipt().id
                position = Position(position.value + 1)
                answers.append(Acknowledgement(id.number, position: position))
                page.append(ConfirmedEvent(position: position, event: event, origin: id))
            }
            try await store.acknowledge(contentsOf: answers)
            try await store.confirm(page)
        }
        try await store.checkpoint()
        try await store.flush()
        await store.close()
    }
}
