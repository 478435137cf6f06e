import Foldback
import FoldbackSync
import Foundation

/// Measures how fast an authority in the same process answers intents that were recorded ahead:
/// through an `Outbox`, and in a downlink log also through a `Downlink` that runs at the same time.
///
/// Two loads do less: raw LMDB writes the same rows, and `acknowledge(contentsOf:)` records the same
/// number of answers without sending anything.
struct DrainingLoads: Sendable {
    let bench: Workbench

    private static let policy = SyncPolicy.ordered
    /// All intents of a log, which each round answers.
    private static let limit = Limit(count: 16_384, time: .seconds(60))
    private static let unit = "answers/s"

    func measurements() async throws -> [Measurement] {
        let together = Self.policy.intentsPerRequestMax
        let answers = "durable raw LMDB, attempts and answers, \(together) a request"
        let events = "durable raw LMDB, attempts, answers and events, \(together) a request"
        let acknowledging = "durable acknowledge(contentsOf:), \(together) at a time"
        let outbox = "durable Outbox, acknowledgement log"
        let both = "durable Outbox and Downlink, downlink log"
        var run = InterleavedRun()
        run.add(load(ofRaw: answers, .acknowledgement))
        run.add(load(acknowledging: acknowledging, together: together))
        run.add(load(draining: outbox, .acknowledgement))
        run.add(load(ofRaw: events, .downlink))
        run.add(load(draining: both, .downlink))
        run.compareSpeed(of: outbox, withRaw: answers)
        run.compareSpeed(of: outbox, with: acknowledging, called: "acknowledge(contentsOf:)")
        run.compareSpeed(of: both, withRaw: events)
        return try await run.measurements(rounds: bench.isFull ? 15 : 5, bench)
    }

    // MARK: Loads

    private func load(ofRaw name: String, _ kind: LogKind) -> InterleavedRun.Load {
        let rows = AnswerRows(
            of: kind, count: Self.limit.count, perRequest: Self.policy.intentsPerRequestMax)
        return InterleavedRun.Load(name: name, call: "request", unit: Self.unit) {
            try await bench.withDirectory(on: .disk) { try await rows.pace(in: $0) }
        }
    }

    private func load(acknowledging name: String, together: Int) -> InterleavedRun.Load {
        InterleavedRun.Load(name: name, unit: Self.unit) {
            try await withStore(.acknowledgement) { store, intents in
                try await store.pace(
                    acknowledging: intents, together: together, upTo: Self.limit)
            }
        }
    }

    private func load(draining name: String, _ kind: LogKind) -> InterleavedRun.Load {
        InterleavedRun.Load(name: name, unit: Self.unit) {
            try await withStore(kind) { store, intents in
                try await Self.drain(store, kind, intents)
            }
        }
    }

    /// Opens a log on the measured disk, and records the intents.
    private func withStore(
        _ kind: LogKind, _ body: (Store<Tally>, [IntentNumber]) async throws -> Pace
    ) async throws -> Pace {
        try await bench.withDirectory(on: .disk) { directory in
            let store = try await Store.open(
                at: directory, Tally.self, confirmedBy: kind, durability: .durable)
            let intents = try await store.recordAll(Events.raw(count: Self.limit.count))
            let pace = try await body(store, intents)
            await store.close()
            return pace
        }
    }

    /// Runs an outbox, and in a downlink log a downlink, until every intent is settled.
    private static func drain(
        _ store: Store<Tally>, _ kind: LogKind, _ intents: [IntentNumber]
    ) async throws -> Pace {
        guard let last = intents.last else { preconditionFailure("there are no intents") }
        let authority = InProcessAuthority(Tally.self)
        let outbox = Outbox(store, to: authority, policy: policy)
        let downlink = Downlink(store, from: authority, policy: policy)
        let receipt = try store.receipt(for: last)
        let clock = ContinuousClock()
        let start = clock.now
        let elapsed = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await outbox.run() }
            if kind == .downlink { group.addTask { try await downlink.follow() } }
            _ = try await receipt.settlement()
            let elapsed = clock.now - start
            group.cancelAll()
            try await group.waitForAll()
            return elapsed
        }
        let left = store.overlay.count
        precondition(left == 0, "\(left) intents are left")
        return Pace(count: intents.count, elapsed: elapsed, latencies: [])
    }
}
