import Foldback
import FoldbackSync
import Foundation

/// Measures what a decision of an outbox costs, with few and with many pending intents in lanes (S1).
///
/// Only `OutboxState` runs, without store and authority. Each round is a request that is answered, with
/// as many new intents recorded as it had. So the number of pending intents stays the same.
struct LaneLoads: Sendable {
    let bench: Workbench

    private static let requests = Limit(count: 2_000, time: .seconds(20))

    func measurements() async throws -> [Measurement] {
        let few = "OutboxState, 1,000 pending in 100 lanes"
        let many = "OutboxState, 100,000 pending in 10,000 lanes"
        let ordered = "OutboxState, 100,000 pending in one lane"
        var run = InterleavedRun()
        run.add(load(few, pending: 1_000, lanes: 100))
        run.add(load(many, pending: 100_000, lanes: 10_000))
        run.add(load(ordered, pending: 100_000, lanes: nil))
        run.compareSpeed(of: many, with: few, called: "1,000 in 100 lanes")
        return try await run.measurements(rounds: bench.isFull ? 9 : 5, bench)
    }

    private func load(_ name: String, pending: Int, lanes: Int?) -> InterleavedRun.Load {
        InterleavedRun.Load(name: name, unit: "intents/s") {
            var rounds = Rounds(lanes: lanes)
            rounds.record(pending)
            return rounds.pace(upTo: Self.requests)
        }
    }

    private struct Rounds {
        private var state: OutboxState
        private let lanes: Int?
        private var last: UInt64 = 0
        private var requests: [(RequestNumber, [IntentNumber])] = []
        private let now = Timestamp(millisecondsSince1970: 0)

        init(lanes: Int?) {
            self.lanes = lanes
            state = OutboxState(policy: .ordered, hasLanes: lanes != nil)
        }

        mutating func record(_ count: Int) {
            take(
                .recorded(
                    (0..<count).map { _ in
                        last += 1
                        return PendingIntent(
                            IntentNumber(last), attempt: nil, isReadable: true,
                            lane: lanes.map { "\(last % UInt64($0))" })
                    }))
        }

        mutating func pace(upTo limit: Limit) -> Pace {
            let clock = ContinuousClock()
            let start = clock.now
            var count = 0
            for _ in 0..<limit.count where clock.now - start < limit.time {
                let (request, intents) = requests.removeFirst()
                count += intents.count
                take(
                    .attemptAnswered(
                        request, Dictionary(uniqueKeysWithValues: intents.map { ($0, .settled) })))
                take(.answered(intents))
                record(intents.count)
            }
            return Pace(count: count, elapsed: clock.now - start, latencies: [])
        }

        private mutating func take(_ input: OutboxState.Input) {
            for action in state.take([input], at: now, jitter: 1) {
                switch action {
                case .cover(let request, let attempts, _):
                    take(.covered(request, pending: attempts.keys.sorted()))
                case .send(let request, let intents): requests.append((request, intents))
                case .note, .wait: break
                }
            }
        }
    }
}
