import Foundation

/// Numbers from a seed (Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators,
/// OOPSLA 2014).
package struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    package init(_ seed: UInt64) { state = seed }

    /// Returns numbers from the seed in the environment, or else from a new seed, and prints it.
    package static func printed(for test: String) -> RandomNumbers {
        let given = ProcessInfo.processInfo.environment["BROWSER_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 0 ... .max)
        print("\(test): seed \(seed) (again: BROWSER_SEED=\(seed))")
        return RandomNumbers(seed)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
