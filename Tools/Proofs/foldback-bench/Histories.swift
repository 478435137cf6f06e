import Foldback

/// Measures reading a history: entries in order, and views at past sequences.
struct Histories: Sendable {
    let bench: Workbench

    func measurements() async throws -> [Measurement] {
        var figures: [Measurement] = []
        for shape in bench.longHistories + [bench.manyKeys] {
            let log = try await bench.settledLogs.log(of: shape)
            let store = try await Store.open(
                at: log, Documents.self, confirmedBy: .acknowledgement, durability: .relaxed,
                checkpoints: .manual)
            bench.note("reading \(shape.words)")
            figures.append(try reading(shape, in: store))
            bench.note("looking back in \(shape.words)")
            figures += try await lookingBack(shape, in: store)
            await store.close()
        }
        return figures
    }

    private func reading(
        _ shape: SettledLogs.Shape, in store: Store<Documents>
    ) throws -> Measurement {
        let clock = ContinuousClock()
        let rounds = try (0..<3).map { _ in
            let start = clock.now
            var count = 0
            while case let entries = try store.entries(from: next(count), countMax: 512),
                !entries.isEmpty
            {
                count += entries.count
            }
            return Double(count) / ((clock.now - start) / .seconds(1))
        }
        return rounds.measurement(
            "reading entries in order, \(shape.words)", unit: "entries/s", each: "rounds",
            samples: rounds.count * Int(store.status.sequence.value))
    }

    private func next(_ count: Int) -> LogSequence { LogSequence(UInt64(count) + 1) }

    private func lookingBack(
        _ shape: SettledLogs.Shape, in store: Store<Documents>
    ) async throws -> [Measurement] {
        let times = try await store.timesOfPastViews(count: bench.isFull ? 100 : 20)
        let kept = try store.core.storage.storedCheckpoints()
        let bytes = kept.reduce(0) { $0 + $1.bytes }
        let name = "view at a past sequence, \(shape.words)"
        return [
            times.quartered(name, unit: "ms", note: "evenly spaced sequences"),
            Measurement(
                name: "\(name), longest", value: times.max() ?? 0, unit: "ms", n: times.count),
            Measurement(
                name: "checkpoints kept, \(shape.words)", value: Double(kept.count),
                unit: "checkpoints", n: 1,
                note: "\(bytes.grouped) bytes, in a log of "
                    + "\(store.status.bytesOnDisk.grouped) bytes"),
        ]
    }
}

extension Store where P: Projection {
    /// Returns how long views at evenly spaced sequences take, in milliseconds. The last entry, whose
    /// view is the current view, is not among them.
    func timesOfPastViews(count: UInt64) async throws -> [Double] {
        let last = status.sequence.value
        var times: [Double] = []
        for place in 1...count {
            let start = ContinuousClock.now
            let sequence = LogSequence(last * (2 * place - 1) / (2 * count))
            let snapshot = try await snapshot(at: sequence)
            times.append((.now - start) / .milliseconds(1))
            precondition(snapshot.sequence == sequence, "\(snapshot.sequence) is not \(sequence)")
        }
        return times
    }
}
