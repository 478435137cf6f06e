import Foldback
import Foundation

/// Measures the cost of `record`, compared with plain LMDB on the same disk.
struct RecordingLoads: Sendable {
    let bench: Workbench
    let durability: Durability
    let limit: Limit

    /// The most intents that are recorded at once. Rounds measure them in this order.
    private static let inFlightCounts = [1, 256, 16, 64, 1_024]
    private static let bytes = "record, raw bytes"
    private static let json = "record, JSON documents"

    init(_ durability: Durability, _ bench: Workbench) {
        self.bench = bench
        self.durability = durability
        limit = Limit(count: 131_072, time: bench.isFull ? .seconds(3) : .milliseconds(800))
    }

    /// - Parameter rounds: The number of rounds; in each, every load starts with an empty log.
    func measurements(rounds: Int) async throws -> [Measurement] {
        let encoded = EncodedRecords.intents(count: limit.count)
        let documents = Events.documents(keyCount: 1_000)
        var run = InterleavedRun()
        for inFlight in Self.inFlightCounts {
            let (tally, documentsLoad) = (name(Self.bytes, inFlight), name(Self.json, inFlight))
            if inFlight == 1 || inFlight == 256 {
                let raw = name(ofRaw: inFlight)
                run.add(load(ofRaw: raw, encoded, perTransaction: inFlight))
                compare([tally, documentsLoad], with: raw, inFlight, in: &run)
            }
            run.add(load(tally, Tally.self, Events.raw, inFlight))
            run.add(load(documentsLoad, Documents.self, documents, inFlight))
        }
        run.add(queuedLoad(name("enqueue and receipt(), raw bytes", 256), 256))
        addTogether(to: &run)
        return try await run.measurements(rounds: rounds, bench)
    }

    /// Counts the allocations for each intent. Each load records once more for that, because counting
    /// takes time.
    func allocations() async throws -> [Measurement] {
        if let obstacle = AllocationCount.obstacle {
            bench.note("left out: allocations. The reason: \(obstacle)")
            return []
        }
        bench.note("counting allocations")
        let documents = Events.documents(keyCount: 1_000)
        var figures: [Measurement] = []
        for inFlight in Self.inFlightCounts {
            figures.append(
                try await allocations(
                    name(Self.bytes, inFlight), Tally.self, Events.raw, inFlight))
            figures.append(
                try await allocations(
                    name(Self.json, inFlight), Documents.self, documents, inFlight))
        }
        return figures
    }

    private func name(_ what: String, _ inFlight: Int) -> String {
        "\(durability.rawValue) \(what), \(inFlight.grouped) in flight"
    }

    private func name(ofRaw perTransaction: Int) -> String {
        "\(durability.rawValue) raw LMDB, \(perTransaction) a transaction"
    }

    /// Adds comparisons. The targets are only for durable recording, because a relaxed commit has
    /// no flush that hides other costs.
    private func compare(
        _ ours: [String], with raw: String, _ inFlight: Int, in run: inout InterleavedRun
    ) {
        let isDurable = durability == .durable
        for (name, leastSpeed) in zip(ours, [0.55, 0.4]) {
            if inFlight == 1 {
                run.compareLatency(of: name, withRaw: raw, isDurable ? .atMost(40) : nil)
                run.compareTime(of: name, withRaw: raw, isDurable ? .atMost(1.15) : nil)
            } else {
                run.compareSpeed(of: name, withRaw: raw, isDurable ? .atLeast(leastSpeed) : nil)
            }
        }
    }

    /// Adds actions of several events in one call (F20).
    private func addTogether(to run: inout InterleavedRun) {
        let isDurable = durability == .durable
        let (calls, action) = (together(256), together(500))
        run.add(togetherLoad(calls, 256))
        run.add(togetherLoad(action, 500))
        run.compareSpeed(
            of: calls, withRaw: name(ofRaw: 256), isDurable ? .atLeast(0.75) : nil)
        run.compareSpeed(
            of: action, with: name(Self.bytes, 1), called: "one after another",
            isDurable ? .atLeast(20) : nil)
    }

    private func together(_ count: Int) -> String {
        "\(durability.rawValue) record(contentsOf:), raw bytes, \(count) in a call"
    }

    private func togetherLoad(_ name: String, _ count: Int) -> InterleavedRun.Load {
        InterleavedRun.Load(name: name) {
            try await withStore(Tally.self) { store in
                try await store.pace(recordingTogether: Events.raw, count, upTo: limit)
            }
        }
    }

    // MARK: Loads

    private func load(
        ofRaw name: String, _ encoded: EncodedRecords, perTransaction: Int
    ) -> InterleavedRun.Load {
        InterleavedRun.Load(name: name, call: "transaction") {
            try await bench.withDirectory(on: .disk) { directory in
                try await encoded.pace(
                    in: directory, durability, perTransaction: perTransaction, upTo: limit)
            }
        }
    }

    private func load<P: Projection>(
        _ name: String, _: P.Type, _ events: [P.Event], _ inFlight: Int
    ) -> InterleavedRun.Load {
        InterleavedRun.Load(name: name) {
            try await withStore(P.self) { store in
                try await store.pace(recording: events, inFlight: inFlight, upTo: limit)
            }
        }
    }

    /// The allocations of all threads count, also those of checkpoints.
    private func allocations<P: Projection>(
        _ name: String, _: P.Type, _ events: [P.Event], _ inFlight: Int
    ) async throws -> Measurement {
        let (pace, count) = try await withStore(P.self) { store in
            try await AllocationCount.during {
                try await store.pace(recording: events, inFlight: inFlight, upTo: limit)
            }
        }
        return Measurement(
            name: "\(name), allocations", value: Double(count) / Double(pace.count),
            unit: "allocations/intent", n: pace.count)
    }

    private func queuedLoad(_ name: String, _ inFlight: Int) -> InterleavedRun.Load {
        InterleavedRun.Load(name: name) {
            try await withStore(Tally.self) { store in
                try await store.pace(queueing: Events.raw, inFlight: inFlight, upTo: limit)
            }
        }
    }

    private func withStore<P: Projection, R>(
        _: P.Type, _ body: (Store<P>) async throws -> R
    ) async throws -> R {
        try await bench.withDirectory(on: .disk) { directory in
            let store = try await Store.open(
                at: directory, P.self, confirmedBy: .downlink, durability: durability)
            let result = try await body(store)
            await store.close()
            return result
        }
    }
}

extension Store {
    /// Records with one task for each intent in flight. Each task waits for its intent before it
    /// records the next.
    func pace(
        recording events: [Event], inFlight: Int, upTo limit: Limit
    ) async throws -> Pace {
        let clock = ContinuousClock()
        let share = limit.count / inFlight
        let start = clock.now
        let latencies = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for task in 0..<inFlight {
                group.addTask {
                    var latencies: [Duration] = []
                    latencies.reserveCapacity(share)
                    var last = clock.now
                    while latencies.count < share, last < start + limit.time {
                        let place = task + latencies.count * inFlight
                        _ = try await self.record(events[place % events.count])
                        let now = clock.now
                        latencies.append(now - last)
                        last = now
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: [Duration]()) { $0 += $1 }
        }
        return Pace(count: latencies.count, elapsed: clock.now - start, latencies: latencies)
    }

    /// Records one action of several events after another. A latency is that of a whole action.
    func pace(
        recordingTogether events: [Event], _ count: Int, upTo limit: Limit
    ) async throws -> Pace {
        let clock = ContinuousClock()
        let start = clock.now
        var latencies: [Duration] = []
        var last = start
        while latencies.count * count < limit.count, last < start + limit.time {
            let first = latencies.count * count
            let action = (first..<first + count).map { events[$0 % events.count] }
            _ = try await record(contentsOf: action)
            let now = clock.now
            latencies.append(now - last)
            last = now
        }
        return Pace(
            count: latencies.count * count, elapsed: clock.now - start, latencies: latencies)
    }

    /// Records with one task that queues at most `inFlight` intents ahead of the disk, and a task
    /// that awaits them.
    func pace(
        queueing events: [Event], inFlight: Int, upTo limit: Limit
    ) async throws -> Pace {
        let clock = ContinuousClock()
        let start = clock.now
        let (queued, queue) = AsyncStream.makeStream(of: [Queued].self)
        async let latencies = latencies(of: queued)
        var window: [QueuedIntent] = []
        var group: [Queued] = []
        var count = 0
        while count < limit.count {
            let queuedAt = clock.now
            guard queuedAt < start + limit.time else { break }
            let recording = try await enqueue(events[count % events.count])
            // Intents go through the stream in groups, because one element costs more than an
            // intent.
            group.append(Queued(recording: recording, at: queuedAt))
            if group.count == 32 {
                queue.yield(group)
                group.removeAll(keepingCapacity: true)
            }
            if window.count < inFlight {
                window.append(recording)
            } else {
                _ = try await window[count % inFlight].receipt()
                window[count % inFlight] = recording
            }
            count += 1
        }
        queue.yield(group)
        queue.finish()
        let all = try await latencies
        return Pace(count: all.count, elapsed: clock.now - start, latencies: all)
    }

    private func latencies(of queued: AsyncStream<[Queued]>) async throws -> [Duration] {
        let clock = ContinuousClock()
        var latencies: [Duration] = []
        for await group in queued {
            for intent in group {
                _ = try await intent.recording.receipt()
                latencies.append(clock.now - intent.at)
            }
        }
        return latencies
    }
}

/// An intent on its way into the log, and the time at which it was queued.
private struct Queued: Sendable {
    let recording: QueuedIntent
    let at: ContinuousClock.Instant
}
