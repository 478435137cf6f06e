/// Searches the simplest choices that still fail in the same way.
///
/// Simplest means fewest, then least in order (``RecordedChoices/isSimpler(than:)``). Passes
/// delete, zero, lower and move choices until no pass finds a simpler recording, or the budget is
/// spent. The result is a local minimum for these passes; only trying everything would find the
/// true minimum.
///
/// The same recording, identity and results of `check` lead to the same result: no clock and no
/// randomness.
package struct Shrinker: Sendable {
    /// The result of one candidate.
    package enum TrialResult<Identity: Hashable & Sendable>: Sendable, Hashable {
        case passes
        /// It is not a test case: a filter found no value, or a precondition does not hold.
        case discarded
        /// The identity of the failure, such as the name of a law: equal for failures that seem to
        /// have the same cause.
        case fails(Identity)
    }

    package enum Ending: Sendable, Hashable {
        /// No pass found a simpler recording.
        case minimalForThesePasses
        case stoppedByBudget
    }

    /// The simplest known recording of a failure.
    package struct Finding<Identity: Hashable & Sendable>: Sendable, Hashable {
        package let identity: Identity
        package let recording: RecordedChoices
    }

    package struct Result<Identity: Hashable & Sendable>: Sendable {
        /// Fails like the given recording; equal to it if nothing simpler was found.
        package let smallest: RecordedChoices
        /// How many candidates were checked.
        package let candidates: Int
        package let ending: Ending
        /// Other failures that were found on the way, in this order. None of them was shrunk.
        package let others: [Finding<Identity>]
    }

    /// The limit of candidates; from 0 up.
    private let candidatesMax: Int
    private let isOutOfTime: @Sendable () -> Bool

    /// - Parameter isOutOfTime: called before each candidate; true ends the search.
    package init(candidatesMax: Int, isOutOfTime: @escaping @Sendable () -> Bool = { false }) {
        precondition(candidatesMax >= 0, "\(candidatesMax) candidates")
        self.candidatesMax = candidatesMax
        self.isOutOfTime = isOutOfTime
    }

    /// Shrinks a recording.
    ///
    /// - Parameters:
    ///   - recording: the choices of a failing run of `check`.
    ///   - identity: the identity of that failure.
    ///   - check: draws from the given choices, and returns the result. It is called in the
    ///     caller's isolation, for one candidate after the other.
    /// - Complexity: besides `check`, O(n) time in the choices of each candidate, and memory for
    ///   all of them.
    package nonisolated(nonsending) func shrink<Identity>(
        _ recording: RecordedChoices, failing identity: Identity,
        check: nonisolated(nonsending) @escaping (inout Choices) async -> TrialResult<Identity>
    ) async -> Result<Identity> {
        var search = ShrinkSearch(
            from: recording, failing: identity, candidatesMax: candidatesMax,
            isOutOfTime: isOutOfTime, check: check)
        let ending: Ending
        do throws(ShrinkSearch<Identity>.OutOfBudget) {
            var before: RecordedChoices
            repeat {
                before = search.best
                try await search.deleteSpans()
                try await search.deleteRuns()
                try await search.replaceSpansByInnerOnes()
                try await search.zeroSpans()
                try await search.lowerChoices()
                try await search.lowerEqualChoices()
                try await search.lowerPairs()
                try await search.sortSpans()
                try await search.moveBetweenChoices()
            } while search.best != before
            ending = .minimalForThesePasses
        } catch {
            ending = .stoppedByBudget
        }
        return Result(
            smallest: search.best, candidates: search.candidates, ending: ending,
            others: search.others)
    }
}
