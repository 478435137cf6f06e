import Foldback
import TestSupport
import Testing

@testable import FoldbackTesting

/// A review found steps that no generated script contained.
@Suite struct ScriptGeneratorTests {
    @Test func `scripts have unknown origins, and retries of intents that are not rejected`()
        throws
    {
        let scripts = Generator<Int>.integers(in: 0...3).scripts(.downlink, steps: 24)
        var origins = 0
        var retries = 0
        for seed in 0..<300 as Range<UInt64> {
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
