import Foldback
import FoldbackHistory
import Foundation

/// Measures the work of a replay tool on a long history, without its store.
struct Replays: Sendable {
    let bench: Workbench

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for shape in bench.longHistories {
            let documents = try LogReader(at: try await bench.settledLogs.log(of: shape))
            bench.note("looking at \(shape.words)")
            figures += try looking(shape, documents)
            figures += try passing(
                Documents.self, "\(shape.words), JSON", documents, rerunGoal: 0.45)
            documents.close()
            let counters = try LogReader(at: try await bench.settledLogs.counters(of: shape))
            figures += try passing(
                Counters.self, "\(shape.words), own codec", counters, rerunGoal: 0.4)
            counters.close()
        }
        return figures
    }

    /// `at` and `diff` at evenly spaced sequences, and the plots of the whole log.
    private func looking(
        _ shape: SettledLogs.Shape, _ reader: LogReader
    ) throws -> [Measurement] {
        let clock = ContinuousClock()
        let last = try reader.lastSequence().value
        let count: UInt64 = bench.isFull ? 100 : 20
        var (at, diff): ([Double], [Double]) = ([], [])
        for place in 1...count {
            let sequence = LogSequence(last * (2 * place - 1) / (2 * count))
            let start = clock.now
            let view = JSON(describing: try reader.snapshot(of: Documents.self, at: sequence).view)
            at.append((clock.now - start) / .milliseconds(1))
            let other = LogSequence(last - sequence.value)
            _ = view.differences(
                to: JSON(describing: try reader.snapshot(of: Documents.self, at: other).view))
            diff.append((clock.now - start) / .milliseconds(1))
        }
        return [
            at.quartered("at, \(shape.words)", unit: "ms")
                .judged(by: .atMost(200), on: at.max()),
            diff.quartered("diff, \(shape.words)", unit: "ms")
                .judged(by: .atMost(200), on: diff.max()),
            try pace("plots, \(shape.words)", Int(last)) { _ = try LogPlots(reader) },
        ]
    }

    /// Passes over the whole history, and the plain fold for comparison.
    ///
    /// - Parameter rerunGoal: how much of the plain fold's pace a rerun should reach.
    private func passing<P: Projection>(
        _ projection: P.Type, _ words: String, _ reader: LogReader, rerunGoal: Double
    ) throws -> [Measurement] {
        bench.note("going through \(words)")
        // One entry in a thousand changes this value.
        let place = JSONPointer(
            projection == Documents.self ? [Events.key(1), "n"] : ["counts", "1"])
        let expectation = try StateExpectation("\(place) >= 0")
        let count = try Int(reader.lastSequence().value)
        let fold = try pace("folding alone, \(words)", count) {
            var fold = LogFold(
                kind: .acknowledgement, replica: reader.replica, folds: [Fold<P>()])
            try reader.fold(&fold, reading: P.codec)
        }
        let search = try pace("first-break, \(words)", count) {
            let found = try reader.firstBreak(of: expectation, in: projection)
            precondition(found == nil, "firstBreak found a break where there is none")
        }
        let check = try pace("first-break by a check, \(words)", count) {
            let found = try reader.firstBreak(in: projection) { $0.faults.isEmpty ? .good : .bad }
            precondition(found == nil, "firstBreak found a fault where there is none")
        }
        let causes = try pace("why, \(words)", count) {
            _ = try reader.causes(of: place, in: projection)
        }
        let rerun = try pace("rerun, \(words)", count) {
            let rerun = try reader.rerun(projection, projection)
            precondition(rerun.divergenceCount == 0, "a projection differs from itself")
            precondition(rerun.partsFailed == nil, "the parts of a projection lack a difference")
        }
        func ratio(_ name: String, _ pace: Measurement) -> Measurement {
            Measurement(
                name: "\(name) / folding alone, \(words)", value: pace.value / fold.value,
                unit: "times", n: pace.n)
        }
        return [
            fold, search, check, causes, rerun, ratio("first-break", search),
            ratio("rerun", rerun).judged(by: .atLeast(rerunGoal)),
        ]
    }

    private static let rounds = 3

    private func pace(
        _ name: String, _ count: Int, _ body: () throws -> Void
    ) throws -> Measurement {
        let clock = ContinuousClock()
        let rates = try (0..<Self.rounds).map { _ in
            let start = clock.now
            try body()
            return Double(count) / ((clock.now - start) / .seconds(1))
        }
        return rates.measurement(
            name, unit: "entries/s", each: "rounds", samples: Self.rounds * count)
    }
}
