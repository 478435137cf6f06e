import Foldback

/// Measures acknowledgements, compared with plain LMDB on the same disk. Each acknowledgement
/// settles an intent, so two tables change.
struct SettlingLoads: Sendable {
    let bench: Workbench

    private static let together = 256

    func measurements() async throws -> [Measurement] {
        let limit = Limit(count: 32_768, time: .seconds(2))
        let encoded = EncodedRecords.acknowledgements(count: limit.count)
        let raw = "durable raw LMDB, 256 acknowledgements a transaction"
        let ours = "durable acknowledge(contentsOf:), 256 at a time"
        let unit = "answers/s"
        var run = InterleavedRun()
        run.add(
            InterleavedRun.Load(name: raw, call: "transaction", unit: unit) {
                try await bench.withDirectory(on: .disk) { directory in
                    try await encoded.pace(
                        in: directory, .durable, perTransaction: Self.together, upTo: limit)
                }
            })
        run.add(
            InterleavedRun.Load(name: ours, unit: unit) {
                try await bench.withDirectory(on: .disk) { directory in
                    let store = try await Store.open(
                        at: directory, Tally.self, confirmedBy: .acknowledgement,
                        durability: .durable)
                    let intents = try await store.recordAll(Events.raw(count: limit.count))
                    let pace = try await store.pace(
                        acknowledging: intents, together: Self.together, upTo: limit)
                    await store.close()
                    return pace
                }
            })
        run.compareSpeed(of: ours, withRaw: raw)
        return try await run.measurements(rounds: bench.isFull ? 15 : 7, bench)
    }
}

extension Store {
    /// Acknowledges intents in their order, `together` in each call.
    func pace(
        acknowledging intents: [IntentNumber], together: Int, upTo limit: Limit
    ) async throws -> Pace {
        let clock = ContinuousClock()
        var latencies: [Duration] = []
        let start = clock.now
        var last = start
        var done = 0
        while done < intents.count, last < start + limit.time {
            let group = intents[done..<min(done + together, intents.count)]
            try await acknowledge(contentsOf: group.map { Acknowledgement($0) })
            done += group.count
            let now = clock.now
            latencies.append(now - last)
            last = now
        }
        return Pace(count: done, elapsed: last - start, latencies: latencies)
    }

    /// Records all events as fast as one task can, and returns the intents' numbers in ascending
    /// order.
    func recordAll(_ events: some Sequence<Event>) async throws -> [IntentNumber] {
        var recordings: [QueuedIntent] = []
        for event in events { recordings.append(try await enqueue(event)) }
        var numbers: [IntentNumber] = []
        for recording in recordings { numbers.append(try await recording.receipt().number) }
        return numbers
    }
}
