/// Looks for the simplest choices that still fail in the same way.
///
/// Simplest means fewest, then least in order (``RecordedChoices/isSimpler(than:)``). Passes over the choices
/// delete, zero, lower and move them until none finds anything simpler, or the budget is spent. What is
/// found is a local minimum for these passes: the true minimum cannot be had but by trying everything.
///
/// The same recording, identity and answers give the same result: no clock and no randomness.
package struct Shrinker: Sendable {
    /// How one candidate ended.
    package enum TrialResult<Identity: Hashable & Sendable>: Sendable, Hashable {
        case passes
        /// It is no case to test: a filter found nothing, or a precondition does not hold.
        case discarded
        /// What failed, such as the name of a law: equal for failures that have the same cause as far
        /// as can be told.
        case fails(Identity)
    }

    package enum Ending: Sendable, Hashable {
        /// No pass found anything simpler.
        case minimalForThesePasses
        case stoppedByBudget
    }

    /// The simplest recording seen of a failure.
    package struct Finding<Identity: Hashable & Sendable>: Sendable, Hashable {
        package let identity: Identity
        package let recording: RecordedChoices
    }

    package struct Result<Identity: Hashable & Sendable>: Sendable {
        /// Fails as what was given did; that itself where nothing simpler was found.
        package let smallest: RecordedChoices
        /// How many candidates were checked.
        package let candidates: Int
        package let ending: Ending
        /// Failures that were met on the way and are others, in order of meeting. None of them was
        /// followed.
        package let others: [Finding<Identity>]
    }

    /// How many candidates are checked at most; from 0 up.
    private let candidatesMax: Int
    private let isOutOfTime: @Sendable () -> Bool

    /// - Parameter isOutOfTime: asked before each candidate; true ends the search.
    package init(candidatesMax: Int, isOutOfTime: @escaping @Sendable () -> Bool = { false }) {
        precondition(candidatesMax >= 0, "\(candidatesMax) candidates")
        self.candidatesMax = candidatesMax
        self.isOutOfTime = isOutOfTime
    }

    /// Shrinks a recording.
    ///
    /// - Parameters:
    ///   - recording: as drawn by a run of `check` that failed.
    ///   - identity: how it failed.
    ///   - check: draws from the choices that it is given, and says how that ends. Called in the
    ///     caller's isolation, for one candidate after the other.
    /// - Complexity: each candidate costs time in proportion to its choices besides `check`, and all of
    ///   them are kept until the end.
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
