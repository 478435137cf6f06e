/// Decides how long the writer waits for callers of `record` that it has just resumed (L3).
///
/// A caller that records in a loop is back some microseconds after its commit. If the writer took
/// only what is queued by then, it would meet half of such callers, and would flush twice as often.
///
/// ```
///  resumes 256 callers ─▶ takes what is queued ─▶ decides on it ─▶ looks at the queue again
///                                                      ▲                  │ a caller came
///                                                      └──────────────────┤
///                                      all are back, or 30 us passed ─────┴─▶ commits
/// ```
///
/// Only callers that wait from the start count (``Request/hasCaller``). A caller that queues ahead
/// does not depend on the last commit. With nobody expected, the writer commits at once.
///
/// Times are nanoseconds of a clock that never goes back.
package struct ReturningCallers: Sendable {
    /// The callers that the last commit resumed and that are not back.
    package private(set) var missing = 0
    private var resumedAt: UInt64 = 0
    /// When the writer found the queue empty since the last arrival; nil if it did not.
    private var quietSince: UInt64?
    /// The time that the transaction has spent on waiting before the last arrival.
    private var waited: UInt64 = 0

    package init() {}

    /// Expects the callers that a commit has just resumed.
    package mutating func expect(_ count: Int, at now: UInt64) {
        missing = count
        resumedAt = now
    }

    /// Begins a transaction with the first requests.
    ///
    /// If they come long after the last commit, its callers do other work now and are not expected.
    package mutating func begin(with callers: Int, at now: UInt64) {
        if now - resumedAt > Limits.returnNanosecondsMax { missing = 0 }
        missing = max(0, missing - callers)
        quietSince = nil
        waited = 0
    }

    /// Notes requests that join the transaction, so many of them from callers.
    package mutating func joined(_ callers: Int, at now: UInt64) {
        missing = max(0, missing - callers)
        guard callers > 0, let since = quietSince else { return }
        waited += now - since
        quietSince = nil
    }

    /// Returns whether the writer looks at the empty queue again. If the time is over, nobody is
    /// expected any more.
    package mutating func isWorthWaiting(at now: UInt64) -> Bool {
        guard missing > 0 else { return false }
        let since = quietSince ?? now
        quietSince = since
        let quiet = now - since
        let isShort =
            quiet <= Limits.quietNanosecondsMax && waited + quiet <= Limits.gatherNanosecondsMax
        if isShort { return true }  // mutant: absent-callers
        missing = 0
        return false
    }
}
