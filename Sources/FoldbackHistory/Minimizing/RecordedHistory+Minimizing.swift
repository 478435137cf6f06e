import Foldback

extension RecordedHistory {
    /// Returns a small history for which `stillFails` is true, found by removing more and more of
    /// this history (delta debugging: Zeller and Hildebrandt, "Simplifying and Isolating
    /// Failure-Inducing Input", 2002).
    ///
    /// The search repeats these passes until none of them makes the history smaller:
    /// 1. It removes entries from the back: halves, quarters, … single entries. With an intent it
    ///    removes the answers to it and the events in batches that name it. If it removes only an
    ///    answer, the intent is pending. An intent loses a link to an intent that cannot have it any
    ///    more: a retry without its rejection retries nothing. A batch that brings nothing new
    ///    leaves the history.
    /// 2. It removes an intent alone. The events in batches that name the intent stay.
    /// 3. It removes events from batches, replacements, positions of acknowledgements, once keys,
    ///    retries, confirm-only, and what else an intent has beside its event. It lowers `through` to the highest position in the batch.
    /// 4. In payloads that are JSON it removes members, elements and characters, and moves numbers
    ///    toward 0. It does not try a payload that the codec cannot read, so the codec must throw
    ///    on bytes that no app wrote.
    ///
    /// Every candidate is a valid history: its entries follow from each other, and it folds without
    /// an error. The order of candidates depends only on this history and on the results of
    /// `stillFails`.
    ///
    /// - Parameters:
    ///   - candidatesMax: the maximum number of calls of `stillFails`; at least 1 for any result.
    ///   - stillFails: returns whether a candidate shows the failure, and should return the same
    ///     for the same candidate. It runs on the caller's actor, one call at a time, first with
    ///     this history. Return false for "cannot tell".
    /// - Throws: any error of `stillFails`, at once.
    /// - Complexity: about 4 log2(n) candidates for each entry that stays, fewer if these entries
    ///   are adjacent. Each candidate costs one pass over its entries and one call of `stillFails`.
    public nonisolated(nonsending) func minimized(
        candidatesMax: Int,
        where stillFails:
            nonisolated(nonsending) @escaping (RecordedHistory<Event>) async throws
            -> Bool
    ) async throws -> Minimized<Event> {
        var minimizer = Minimizer(self, candidatesMax: candidatesMax, stillFails)
        return try await minimizer.minimized()
    }
}

/// The result of ``RecordedHistory/minimized(candidatesMax:where:)``.
public struct Minimized<Event: Sendable>: Sendable {
    /// Why the search ended.
    public enum End: String, Hashable, Sendable {
        /// No single step of any pass makes the history smaller. A smaller failing history may
        /// exist that these steps do not reach.
        case minimalForThesePasses
        /// The search tried `candidatesMax` candidates.
        case stoppedByBudget
        /// The given history did not fail. It is returned unchanged.
        case neverFailed
    }

    /// The smallest failing history found. ``RecordedHistory/sequences`` lists the remaining
    /// entries of the log.
    public let history: RecordedHistory<Event>
    public let end: End
    /// The number of calls of `stillFails`.
    public let candidatesTried: Int
}
