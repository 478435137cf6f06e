import Foldback

extension RecordedHistory {
    /// A small history for which `stillFails` still holds, found by leaving out more and more of this
    /// one (delta debugging: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
    /// 2002).
    ///
    /// Tried are, over and over until none of them helps any more:
    /// 1. entries: halves, quarters, … single ones, from the back. With an intent go the answers
    ///    to it and the events in batches that name it; without an answer alone the intent is pending; a
    ///    retry whose rejection is gone retries nothing; a batch that brings nothing new goes;
    /// 2. an intent alone, events of batches that name it staying as somebody else's;
    /// 3. events of batches, `through` down to the highest of them, replacements, positions of
    ///    acknowledgements, once keys, confirm-only;
    /// 4. in payloads that are JSON: members, elements, characters; numbers toward 0. What the codec
    ///    cannot read is not tried; it must throw on bytes that no app wrote.
    ///
    /// Every candidate is a history like any other: it follows from itself and folds without an error.
    /// The order of candidates depends on this history and the answers alone.
    ///
    /// - Parameters:
    ///   - candidatesMax: how often `stillFails` may be asked; at least 1 for any result.
    ///   - stillFails: whether a candidate shows what is looked for; should answer the same for the
    ///     same candidate. Called on the caller's actor, once at a time, first with this history. For
    ///     "cannot tell" answer false.
    /// - Throws: what `stillFails` throws, at once.
    /// - Complexity: about 4 log2(n) candidates for each entry that is left, fewer where they lie
    ///   together; for each candidate one pass over its entries, beside what `stillFails` costs.
    public nonisolated(nonsending) func minimized(
        candidatesMax: Int,
        where stillFails:
            nonisolated(nonsending) @escaping (RecordedHistory<Event>) async throws
            -> Bool
    ) async throws -> Minimized<Event> {
        var minimiser = Minimizer(self, candidatesMax: candidatesMax, stillFails)
        return try await minimiser.minimized()
    }
}

/// What minimising came to.
public struct Minimized<Event: Sendable>: Sendable {
    public enum End: String, Hashable, Sendable {
        /// No single step of any pass makes it smaller. There may be a smaller history all the same, of
        /// which these steps lead to none.
        case minimalForThesePasses
        /// As many candidates were tried as were allowed.
        case stoppedByBudget
        /// The history that was to be made smaller did not fail; it is returned as it was.
        case neverFailed
    }

    /// The smallest found that fails; ``RecordedHistory/sequences`` says what is left of the log.
    public let history: RecordedHistory<Event>
    public let end: End
    /// How often it was asked whether a candidate fails.
    public let candidatesTried: Int
}
