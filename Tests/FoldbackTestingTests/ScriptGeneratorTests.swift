import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A review found steps that no generated script contained.
@Suite struct ScriptGeneratorTests {
    @Test func `F7: scripts have attempts, also of settled intents, and withdrawals after them`()
        throws
    {
        let scripts = Generator<Int>.integers(in: 0...3).scripts(nil, steps: 24)
        var (attempts, repeated, settled, withdrawn, abandoned) = (0, 0, 0, 0, 0)
        for seed in 0..<450 as Range<UInt64> {
            var attempted: Set<IntentNumber> = []
            var answered: Set<IntentNumber> = []
            for step in try scripts.value(seed: seed).steps {
                switch step {
                case .attempt(let place):
                    attempts += 1
                    settled += answered.contains(place) ? 1 : 0
                    repeated += attempted.insert(place).inserted ? 0 : 1
                case .change(let place, .withdraw, _):
                    withdrawn += attempted.contains(place) ? 1 : 0
                case .change(let place, .abandon, _):
                    abandoned += attempted.contains(place) ? 1 : 0
                    answered.insert(place)
                case .reject(let place, _, _), .acknowledge(let place, _, _): answered.insert(place)
                default: break
                }
            }
        }
        #expect(attempts >= 100 && repeated >= 10 && settled >= 5)
        #expect(withdrawn >= 5 && abandoned >= 5)
    }

    @Test func `scripts have unknown origins, and retries of intents that are not rejected`()
        throws
    {
        let scripts = Generator<Int>.integers(in: 0...3).scripts(.downlink, steps: 24)
        var origins = 0
        var retries = 0
        for seed in 0..<450 as Range<UInt64> {
            let steps = try scripts.value(seed: seed).steps
            for (index, step) in steps.enumerated() {
                switch step {
                case .confirm(let events, _):
                    for case .foreign(let id) in events.map(\.origin) where id.replica == .own {
                        #expect(id.number.value > UInt64(steps.count))
                        origins += 1
                    }
                case .change(let place, .retry, _):
                    let isRejected = steps[..<index].contains { before in
                        if case .reject(place, _, _) = before { true } else { false }
                    }
                    retries += isRejected ? 0 : 1
                default: break
                }
            }
        }
        #expect(origins >= 5 && retries >= 5)
    }
}
