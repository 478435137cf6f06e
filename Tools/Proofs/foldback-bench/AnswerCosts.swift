import Foldback
import Foundation

/// Measures what answers cost with few and with many pending intents: time, and calls of `apply`.
///
/// The logs are in memory and relaxed, so that no flush hides a cost.
struct AnswerCosts: Sendable {
    let bench: Workbench

    private static let together = 256
    /// The numbers of pending intents after the answers.
    private static let pendingCounts = [10, 1_000, 100_000]

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for kind in AnswerKind.allCases {
            bench.note(kind.words)
            figures += try await measurements(of: kind)
        }
        return figures
    }

    private func measurements(of kind: AnswerKind) async throws -> [Measurement] {
        try await bench.withDirectory(on: .memory) { directory in
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: false)
            var logs: [PendingLog] = []
            for count in Self.pendingCounts {
                let log = directory.appending(path: "\(count)", directoryHint: .isDirectory)
                logs.append(try await PendingLog(at: log, kind.logKind, pendingCount: count))
            }
            var figures: [Measurement] = []
            for count in [Self.together, 1] {
                let costs = try await costs(of: kind, in: &logs, count: count)
                figures += zip(Self.pendingCounts, costs).flatMap { pendingCount, costs in
                    Self.figures(of: kind, pendingCount, answerCount: count, costs)
                }
                if kind == .acknowledgingOldest {
                    figures.append(Self.growth(of: kind, answerCount: count, costs))
                }
            }
            for log in logs { await log.close() }
            return figures
        }
    }

    /// The logs take turns, so that other load on the machine affects all of them.
    private func costs(
        of kind: AnswerKind, in logs: inout [PendingLog], count: Int
    ) async throws -> [[BatchCost]] {
        var costs: [[BatchCost]] = logs.map { _ in [] }
        let batchCount = kind.foldsAllAgain ? 20 : count == 1 ? 1_000 : 100
        for _ in 0..<(bench.isFull ? 3 * batchCount : batchCount) {
            for index in logs.indices {
                costs[index].append(try await kind.cost(in: &logs[index], count: count))
            }
        }
        return costs
    }

    // MARK: Figures

    private static func name(_ kind: AnswerKind, _ pendingCount: Int, _ count: Int) -> String {
        let how = count == 1 ? "1 alone" : "\(count) together"
        return "\(kind.words), \(pendingCount.grouped) pending, \(how)"
    }

    private static func figures(
        of kind: AnswerKind, _ pendingCount: Int, answerCount: Int, _ costs: [BatchCost]
    ) -> [Measurement] {
        let name = name(kind, pendingCount, answerCount)
        let calls = costs.map { Double($0.folds.overlay) / Double(answerCount) }
        let confirmed = costs.map { Double($0.folds.confirmed) / Double(answerCount) }.median
        var counted = calls.measurement(
            "\(name), overlay folds", unit: "applies/answer", each: "batches",
            samples: costs.count * answerCount)
        counted.note += confirmed == 0 ? "" : "; and \(confirmed.text) on confirmed state"
        if kind == .acknowledgingOldest {
            // Even the batch with the most calls must have none.
            counted = counted.judged(by: .exactly(0), on: calls.max() ?? 0)
        }
        return [
            microseconds(costs, answerCount).quartered(
                name, unit: "us/answer", samples: costs.count * answerCount),
            counted,
        ]
    }

    private static func microseconds(_ costs: [BatchCost], _ answerCount: Int) -> [Double] {
        costs.map { $0.elapsed / .microseconds(1) / Double(answerCount) }
    }

    /// The time of an answer with the most pending intents, relative to the time with the fewest,
    /// by turn.
    private static func growth(
        of kind: AnswerKind, answerCount: Int, _ costs: [[BatchCost]]
    ) -> Measurement {
        let fewPending = microseconds(costs[0], answerCount)
        let manyPending = microseconds(costs[costs.count - 1], answerCount)
        return zip(manyPending, fewPending).map { $0 / $1 }.quartered(
            name(kind, pendingCounts[pendingCounts.count - 1], answerCount)
                + " / \(pendingCounts[0]) pending", unit: "times"
        ).judged(by: .atMost(1.3))
    }
}
