import FoldbackTesting
import Foundation

extension SplitMix64 {
    /// Returns numbers from the seed in the environment, or else from a new seed, and prints it.
    package static func printed(for test: String) -> SplitMix64 {
        let given = ProcessInfo.processInfo.environment["BROWSER_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0 ... .max)
        print("\(test): seed \(seed) (again: BROWSER_SEED=\(seed))")
        return SplitMix64(seed: seed)
    }
}
