import Foundation

/// How much the matrices of kills and faults try: the environment variable `FOLDBACK_TEST_EFFORT`,
/// `quick` (the default) or `full`. Tools/test sets it.
enum TestEffort {
    static let isFull = ProcessInfo.processInfo.environment["FOLDBACK_TEST_EFFORT"] == "full"

    /// The places of a matrix that this run tries: all of them, or each n-th from a random start.
    static func places(_ all: ClosedRange<Int>, quickStep: Int) -> StrideThrough<Int> {
        let step = isFull ? 1 : quickStep
        let first = all.lowerBound + Int.random(in: 0..<step)
        return stride(from: first, through: all.upperBound, by: step)
    }
}
