import Foundation

/// How much the long property tests try: the environment variable `FOLDBACK_TEST_EFFORT`, `quick` (the
/// default), `middle` or `full`.
package enum TestEffort: String, CaseIterable, Sendable {
    case quick, middle, full

    package static let current: TestEffort = {
        guard let name = ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"] else {
            return .quick
        }
        guard let effort = TestEffort(rawValue: name) else {
            fatalError("FOLDBACK_TEST_EFFORT is \(name); use quick, middle or full")
        }
        return effort
    }()

    /// A number of tries, by the effort of this run. The middle effort is twice the quick one: CI has
    /// twenty minutes for everything.
    package static func value<V: BinaryInteger>(quick: V, full: V) -> V {
        switch current {
        case .quick: quick
        case .middle: min(2 * quick, full)
        case .full: full
        }
    }
}

/// The seed of a random test, printed so that a failure can be repeated.
///
/// - Parameters:
///   - name: the name of the test.
///   - variable: the environment variable that repeats a seed.
package func testSeed(_ name: String, variable: String) -> UInt64 {
    let given = ProcessInfo.processInfo.environment[variable].flatMap(UInt64.init)
    let seed = given ?? UInt64.random(in: 0...UInt64.max / 2)
    print("\(name): seed \(seed) (again: \(variable)=\(seed))")
    return seed
}
