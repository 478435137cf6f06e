import Foundation

/// How much the matrices of kills and faults try: the environment variable `FOLDBACK_TEST_EFFORT`,
/// `quick` (the default), `middle` or `full`. Tools/test sets it.
enum TestEffort {
    private static let name = ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"]

    static let isFull = name == "full"

    /// A number of tries. The middle effort is twice the quick one.
    static func value(quick: Int, full: Int) -> Int {
        switch name {
        case "full": full
        case "middle": min(2 * quick, full)
        default: quick
        }
    }

    /// The distance between two tries. The middle effort tries twice as often as the quick one.
    static func step(quick: Int, full: Int = 1) -> Int {
        switch name {
        case "full": full
        case "middle": max(quick / 2, full)
        default: quick
        }
    }

    /// The places of a matrix that this run tries: all of them, or each n-th from a random start.
    static func places(_ all: ClosedRange<Int>, quickStep: Int) -> StrideThrough<Int> {
        let step = step(quick: quickStep)
        let first = all.lowerBound + Int.random(in: 0..<step)
        return stride(from: first, through: all.upperBound, by: step)
    }
}
