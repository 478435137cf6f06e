import Foldback
import Foundation

/// What a replay tool does with a long history, from outside of its store.
struct Replays: Sendable {
    let bench: Workbench

    private static let small = SettledLogs.Shape(entryCount: 2_000, keyCount: 1_000)

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for shape in bench.longHistories {
            let reader = try LogReader(at: try await bench.settledLogs.log(of: shape))
            bench.note("looking at \(shape.words)")
            figures += try looking(shape, reader)
            bench.note("going through \(shape.words)")
            figures += try passing(shape, reader)
            reader.close()
        }
        let reader = try LogReader(at: try await bench.settledLogs.log(of: Self.small))
        bench.note("two versions over \(Self.small.words)")
        figures.append(
            try pace("rerun, \(Self.small.words)", rounds: 3) {
                try reader.rerun(Documents.self, Documents.self).entryCount
            })
        reader.close()
        return figures
    }

    /// `at` and `diff`, at places all over the history.
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
        ]
    }

    /// Whole passes, beside the fold alone.
    private func passing(
        _ shape: SettledLogs.Shape, _ reader: LogReader
    ) throws -> [Measurement] {
        let place = JSONPointer(["none"])
        let fold = try pace("folding alone, \(shape.words)", rounds: 3) {
            var fold = LogFold(
                kind: .acknowledgement, replica: reader.replica, folds: [Fold<Documents>()])
            try reader.fold(&fold, reading: Documents.codec)
            return Int(fold.state.sequence.value)
        }
        let search = try pace("first-break, \(shape.words)", rounds: 3) {
            let found = try reader.firstBreak(in: Documents.self) { snapshot in
                snapshot.view.shown(at: place) == nil ? .good : .bad
            }
            precondition(found == nil, "there is a break")
            return try Int(reader.lastSequence().value)
        }
        let causes = try pace("why, \(shape.words)", rounds: 3) {
            _ = try reader.causes(of: place, in: Documents.self)
            return try Int(reader.lastSequence().value)
        }
        let ratio = Measurement(
            name: "first-break / folding alone, \(shape.words)", value: search.value / fold.value,
            unit: "times", n: search.n)
        return [fold, search, causes, ratio]
    }

    private func pace(
        _ name: String, rounds: Int, _ body: () throws -> Int
    ) throws -> Measurement {
        let clock = ContinuousClock()
        var count = 0
        let rates = try (0..<rounds).map { _ in
            let start = clock.now
            count = try body()
            return Double(count) / ((clock.now - start) / .seconds(1))
        }
        return rates.measurement(name, unit: "entries/s", each: "rounds", samples: rounds * count)
    }
}
