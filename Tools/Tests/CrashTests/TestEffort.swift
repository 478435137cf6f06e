import Foundation

/// How much the matrices of kills and faults try: the environment variable `FOLDBACK_TEST_EFFORT`,
/// `quick` (the default), `middle` or `full`. Tools/test sets it.
enum TestEffort {
    private static let name = ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"]

    static let isFull = name == "full"

    /// A number of tries. The middle effort is their geometric mean.
    static func value(quick: Int, full: Int) -> Int {
        switch name {
        case "full": full
        case "middle": Int((Double(quick) * Double(full)).squareRoot().rounded())
        default: quick
        }
    }

    /// The places of a matrix that this run tries: all of them, or each n-th from a random start.
    static func places(_ all: ClosedRange<Int>, quickStep: Int) -> StrideThrough<Int> {
        let step = value(quick: quickStep, full: 1)
        let first = all.lowerBound + Int.random(in: 0..<step)
        return stride(from: first, through: all.upperBound, by: step)
    }
}
