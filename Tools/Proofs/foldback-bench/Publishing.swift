import Foldback

/// Measures how long an observer waits for a change, for two kinds of state: persistent documents,
/// and a flat array.
///
/// Each commit copies the array once, because the observer keeps the previous array. The logs are
/// in memory and relaxed, and have no checkpoints.
struct Publishing: Sendable {
    let bench: Workbench

    private static let count = 100_000

    private var changeCount: Int { bench.isFull ? 2_000 : 300 }

    func measurements() async throws -> [Measurement] {
        let documents = Events.documents(keyCount: Self.count)
        let places = (0..<changeCount).map { $0 * 7_919 % Self.count }
        return try await figures(
            "\(Self.count.grouped) documents", Documents.self, filling: .all(documents),
            changes: places.map { .increment(Events.key($0), field: "n", by: 1) })
            + figures(
                "a flat array of \(Self.count.grouped) rows", FlatRows.self,
                filling: .filled(count: Self.count), changes: places.map { .toggled($0) })
    }

    private func figures<P: Projection>(
        _ state: String, _: P.Type, filling: P.Event, changes: [P.Event]
    ) async throws -> [Measurement] {
        bench.note("observing \(state)")
        return try await bench.withDirectory(on: .memory) { directory in
            let store = try await Store.open(
                at: directory, P.self, confirmedBy: .acknowledgement, durability: .relaxed,
                checkpoints: .manual)
            try await store.acknowledge(try await store.record(filling).number)
            let delays = try await delays(of: changes, in: store)
            await store.close()
            return [
                delays.map { $0.observed / .microseconds(1) }.quartered(
                    "record to its observer, \(state)", unit: "us"),
                delays.map { $0.returned / .microseconds(1) }.quartered(
                    "record to its return with an observer, \(state)", unit: "us"),
            ]
        }
    }

    private struct Delay {
        /// The time from the call of `record` until the observer has the snapshot.
        let observed: Duration
        let returned: Duration
    }

    private struct Sighting: Sendable {
        let sequence: LogSequence
        let time: ContinuousClock.Instant
    }

    /// Records one change after the other. The acknowledgements are not timed.
    private func delays<P: Projection>(
        of changes: [P.Event], in store: Store<P>
    ) async throws -> [Delay] {
        let clock = ContinuousClock()
        let (seen, sightings) = AsyncStream.makeStream(of: Sighting.self)
        let observer = Task {
            var held: Snapshot<P>?
            for await snapshot in store.views {
                held = snapshot
                sightings.yield(Sighting(sequence: snapshot.sequence, time: clock.now))
            }
            withExtendedLifetime(held) { sightings.finish() }
        }
        defer { observer.cancel() }
        var delays: [Delay] = []
        var iterator = seen.makeAsyncIterator()
        for change in changes {
            let start = clock.now
            let receipt = try await store.record(change)
            let returned = clock.now - start
            while let sighting = await iterator.next() {
                guard sighting.sequence >= receipt.sequence else { continue }
                delays.append(Delay(observed: sighting.time - start, returned: returned))
                break
            }
            try await store.acknowledge(receipt.number)
        }
        return delays
    }
}
