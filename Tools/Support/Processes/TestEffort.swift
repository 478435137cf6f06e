import Foundation

/// How much the matrices of kills, faults and power cuts try: the environment variable `FOLDBACK_TEST_EFFORT`,
/// `quick` (the default), `middle` or `full`. Tools/test sets it.
package enum TestEffort {
    private static let name = ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"]

    package static let isFull = name == "full"

    /// A number of tries. The middle effort is twice the quick one, unless it is given.
    package static func value(quick: Int, middle: Int? = nil, full: Int) -> Int {
        switch name {
        case "full": full
        case "middle": middle ?? min(2 * quick, full)
        default: quick
        }
    }

    /// The distance between two tries. The middle effort tries twice as often as the quick one.
    package static func step(quick: Int, full: Int = 1) -> Int {
        switch name {
        case "full": full
        case "middle": max(quick / 2, full)
        default: quick
        }
    }

    /// The places of a matrix that this run tries: all of them, or each n-th from a random start.
    package static func places(_ all: ClosedRange<Int>, quickStep: Int) -> StrideThrough<Int> {
        let step = step(quick: quickStep)
        let first = all.lowerBound + Int.random(in: 0..<step)
        return stride(from: first, through: all.upperBound, by: step)
    }
}
