import Foldback
import Foundation

/// Measures recording and answers on 1,000,000 rows, with few and with many pending intents: time,
/// and calls of `apply`.
///
/// The logs are in memory and relaxed, so that no flush hides a cost.
struct RowAnswerCosts: Sendable {
    let bench: Workbench

    private static let together = 256
    /// The numbers of pending intents after the answers.
    private static let pendingCounts = [10, 1_000, 100_000]

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for places in [PendingPlaces.fives, .tenRows] {
            for answer in RowAnswer.allCases {
                bench.note("\(answer.words), pending \(places.words)")
                figures += try await measurements(of: answer, places)
            }
        }
        return figures
    }

    private func measurements(
        of answer: RowAnswer, _ places: PendingPlaces
    ) async throws -> [Measurement] {
        try await bench.withDirectory(on: .memory) { directory in
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false)
            var logs: [PendingMail] = []
            for count in Self.pendingCounts {
                let log = directory.appending(path: "\(count)", directoryHint: .isDirectory)
                try await bench.mailboxLogs.copy(answer.logKind, to: log)
                logs.append(
                    try await PendingMail(
                        at: log, answer.logKind, places, pendingCount: count))
            }
            let costs = try await costs(of: answer, places, in: &logs)
            for log in logs { await log.close() }
            let figures = zip(Self.pendingCounts, costs).flatMap { pendingCount, costs in
                Self.figures(of: answer, places, pendingCount, costs)
            }
            return figures + [Self.growth(of: answer, places, costs)]
        }
    }

    /// The logs take turns, so that other load on the machine affects all of them.
    private func costs(
        of answer: RowAnswer, _ places: PendingPlaces, in logs: inout [PendingMail]
    ) async throws -> [[BatchCost]] {
        var costs: [[BatchCost]] = logs.map { _ in [] }
        let batchCount = places == .tenRows ? 10 : 40
        for _ in 0..<(bench.isFull ? 3 * batchCount : batchCount) {
            for index in logs.indices {
                costs[index].append(
                    try await logs[index].cost(of: answer, count: Self.together))
            }
        }
        return costs
    }

    // MARK: Figures

    private static func name(
        _ answer: RowAnswer, _ places: PendingPlaces, _ pendingCount: Int
    ) -> String { "rows, \(answer.words), \(pendingCount.grouped) pending \(places.words)" }

    private static func figures(
        of answer: RowAnswer, _ places: PendingPlaces, _ pendingCount: Int, _ costs: [BatchCost]
    ) -> [Measurement] {
        let name = name(answer, places, pendingCount)
        let calls = costs.map { Double($0.folds.overlay) / Double(together) }
        let confirmed = costs.map { Double($0.folds.confirmed) / Double(together) }.median
        var counted = calls.measurement(
            "\(name), overlay folds", unit: "applies/answer", each: "batches",
            samples: costs.count * together)
        counted.note += confirmed == 0 ? "" : "; and \(confirmed.text) on confirmed state"
        if places == .fives {
            let connected = Double(answer.connectedMax(groupSize: places.groupSize))
            counted = counted.judged(by: .atMost(connected), on: calls.max() ?? 0)
        }
        return [
            microseconds(costs).quartered(
                name, unit: "us/answer", samples: costs.count * together),
            counted,
        ]
    }

    private static func microseconds(_ costs: [BatchCost]) -> [Double] {
        costs.map { $0.elapsed / .microseconds(1) / Double(together) }
    }

    /// The time of an answer with the most pending intents, relative to the time with the fewest,
    /// by turn.
    private static func growth(
        of answer: RowAnswer, _ places: PendingPlaces, _ costs: [[BatchCost]]
    ) -> Measurement {
        let fewPending = microseconds(costs[0])
        let manyPending = microseconds(costs[costs.count - 1])
        let ratio = zip(manyPending, fewPending).map { $0 / $1 }.quartered(
            name(answer, places, pendingCounts[pendingCounts.count - 1])
                + " / \(pendingCounts[0])", unit: "times")
        guard places == .fives else { return ratio }
        switch answer {
        case .rejectingOldest: return ratio.judged(by: .atMost(1.5))
        case .rejectingNewest: return ratio.judged(by: .atMost(1.3))
        case .recording, .acknowledgingOldest, .foreignEvent: return ratio
        }
    }
}
