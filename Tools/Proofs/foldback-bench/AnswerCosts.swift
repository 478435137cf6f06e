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
                let isFlat = kind == .acknowledgingOldest
                figures += zip(Self.pendingCounts, costs).flatMap { pendingCount, costs in
                    costs.figures(
                        Self.name(kind, pendingCount, count), overlay: isFlat ? .exactly(0) : nil)
                }
                if isFlat {
                    let (few, many) = (Self.pendingCounts[0], Self.pendingCounts[costs.count - 1])
                    figures.append(
                        costs[costs.count - 1].ratio(
                            to: costs[0], "\(Self.name(kind, many, count)) / \(few) pending"
                        ).judged(by: .atMost(1.3)))
                }
            }
            for log in logs { await log.close() }
            return figures
        }
    }

    /// The logs take turns, so that other load on the machine affects all of them.
    private func costs(
        of kind: AnswerKind, in logs: inout [PendingLog], count: Int
    ) async throws -> [BatchCosts] {
        var costs = logs.map { _ in BatchCosts(answerCount: count) }
        let batchCount = kind.foldsAllAgain ? 20 : count == 1 ? 1_000 : 100
        for _ in 0..<(bench.isFull ? 3 * batchCount : batchCount) {
            for index in logs.indices {
                costs[index].append(try await kind.cost(in: &logs[index], count: count))
            }
        }
        return costs
    }

    private static func name(_ kind: AnswerKind, _ pendingCount: Int, _ count: Int) -> String {
        let how = count == 1 ? "1 alone" : "\(count) together"
        return "\(kind.words), \(pendingCount.grouped) pending, \(how)"
    }
}
