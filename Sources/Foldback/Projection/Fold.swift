/// One projection's confirmed state and view. ``FoldGroup`` decides what the view folds.
///
/// A rollback takes intents out of the view and folds the intents after them again: the group rolls
/// the view back to the newest savepoint before the first intent that changed, or to confirmed
/// state, and applies the overlay from there.
///
/// ```
///  confirmed state │ 4  5  6  7  8  9
///                  │    s5       s8 s9     savepoints: the view after 5, after 8, after 9
///  reject 7        │ 4  5  6     8  9      s8 and s9 include 7: remove them, fold 6 8 9 on s5
/// ```
///
/// So the rollback of the newest intents costs as much as these intents, however many are pending. Intents
/// of one commit share a savepoint, so it can cost as much as the first commit that it reaches.
///
/// Invariant of ``Savepoints``: the savepoint with number n is the fold of confirmed state and all
/// optimistic intents of the overlay up to n that are not conflicted. So a change at intent n makes
/// the savepoints from n on invalid. A fast-forward that confirms intents up to n makes the
/// savepoints before n invalid, because they lack intents that have left the overlay. A rebase
/// makes all of them invalid.
///
/// Savepoints are kept when a view is published (after the newest intent), and during a long rebase
/// (at distances from the end of the overlay that halve). Readers keep a published view anyway, so
/// that savepoint costs no copy.
package struct Fold<P: Projection>: Sendable {
    private var confirmedState = GuardedState(P())
    private var viewState = GuardedState(P())
    private var savepoints = Savepoints<P>()
    package private(set) var faults: [Fault] = []
    package private(set) var counts = FoldCounts()

    /// The name under which the projection shares conflicts.
    package let memberName: ExactString
    package let excerpt: StateExcerpt
    private let inverter = P.inverter

    /// Creates the fold before the first entry.
    ///
    /// - Parameter memberName: the name of the projection whose place it takes when conflicts are
    ///   shared; by default its own.
    package init(inPlaceOf memberName: ExactString = P.memberName) {
        self.memberName = memberName
        excerpt = StateExcerpt(P.stateCodec)
    }

    /// Continues from a checkpoint. The view is folded by the first rebase.
    package init(
        confirmed: P, faults: [Fault], inPlaceOf memberName: ExactString = P.memberName,
        excerpt: StateExcerpt = StateExcerpt(P.stateCodec)
    ) {
        self.memberName = memberName
        self.excerpt = excerpt
        confirmedState = GuardedState(confirmed)
        self.faults = faults
    }

    package var confirmed: P { confirmedState.value }
    /// The view, which is up to date only after ``FoldGroup/rebase(_:_:over:undoers:)``.
    package var view: P { viewState.value }

    /// Applies the confirmed events of an entry. An event that does not apply is a fault (F9).
    package mutating func confirm(_ events: [Folded], at sequence: LogSequence) {
        for folded in events {
            counts.confirmed += 1
            guard let error = confirmedState.apply(folded) else { continue }
            faults.append(
                Fault(sequence: sequence, origin: folded.context.origin, error: error))
        }
    }

    // MARK: The view

    /// Applies an intent to the view. Returns the error that makes it conflicted; the view is then
    /// as before (F9).
    package mutating func applyToView(_ intent: UnsettledIntent) -> (any Error)? {
        counts.overlay += 1
        let context = EventContext(.intent(intent.recorded.id))
        return viewState.apply(Folded(payload: intent.payload, context: context))
    }

    /// Undoes the last ``applyToView(_:)`` that applied, because another projection refuses the
    /// intent, or because it is not recorded (F9).
    ///
    /// - Complexity: The next event copies the storage that it changes.
    package mutating func undoLast() { viewState.undoLast() }

    /// Rolls the view back to the newest savepoint before the intent, or to confirmed state if
    /// there is none.
    ///
    /// - Returns: the first number of the overlay that must be applied again.
    package mutating func rollBack(before number: IntentNumber) -> IntentNumber {
        // A savepoint is valid while no intent up to its number has changed.
        savepoints.remove(from: number)
        let savepoint = savepoints.last
        viewState = GuardedState(savepoint?.view ?? confirmed)
        return savepoint?.number.next ?? 0
    }

    /// Keeps the view as a savepoint during a long rebase.
    package mutating func keepSavepoint(after number: IntentNumber) {
        savepoints.append(number, view)
        viewState.keep()
    }

    /// Removes the savepoints before an intent that was confirmed as the view had it. They lack
    /// intents that are not in the overlay any more, so a rollback could not add them.
    package mutating func fastForward(through number: IntentNumber) {
        savepoints.remove(before: number)
    }

    // MARK: Undo

    package var isUndoable: Bool { inverter != nil }

    /// Returns the inverse of an intent that is not in the view yet (F21). The view is up to date.
    package func inverse(ofNewest intent: RecordedIntent) -> Payload? {
        inverter?(view, intent.payload, EventContext(.intent(intent.id)))
    }

    /// Returns the inverse of an intent that the view folds, on the view before it (F21).
    ///
    /// - Complexity: one `apply` for each intent between the newest savepoint before it and it.
    package func inverse(
        ofFolded intent: UnsettledIntent, over overlay: Overlay,
        leavingOut isConflicted: (IntentNumber) -> Bool
    ) -> Payload? {
        guard let inverter else { return nil }
        let number = intent.recorded.number
        let savepoint = savepoints.last(before: number)
        var state = GuardedState(savepoint?.view ?? confirmed)
        for (earlier, folded) in overlay.from(savepoint?.number.next ?? 0) {
            guard earlier < number else { break }
            guard folded.isOptimistic, !isConflicted(earlier) else { continue }
            let context = EventContext(.intent(folded.recorded.id))
            _ = state.apply(Folded(payload: folded.payload, context: context))
        }
        return inverter(state.value, intent.payload, EventContext(.intent(intent.recorded.id)))
    }

    // MARK: Publishing

    /// Keeps the view as a savepoint because readers will keep it anyway.
    ///
    /// - Precondition: the view is up to date.
    package mutating func prepareToPublish(over overlay: Overlay) {
        confirmedState.keep()
        viewState.keep()
        guard let first = overlay.first?.key, let last = overlay.last?.key else {
            // The overlay is empty, so the view equals confirmed state. Sharing one value saves
            // memory.
            savepoints.removeAll()
            viewState = GuardedState(confirmed)
            return
        }
        // A savepoint before `first` equals confirmed state, which serves as well. A savepoint
        // after `last` is from a confirm-only intent that left the overlay: it equals this view.
        savepoints.remove(before: first)
        savepoints.remove(from: last)
        savepoints.append(last, view)
        savepoints.thin()
    }
}

/// The number of events folded so far, for tests and benchmarks of an answer's cost.
package struct FoldCounts: Equatable, Sendable {
    package var overlay: Int
    package var confirmed: Int

    package init(overlay: Int = 0, confirmed: Int = 0) {
        self.overlay = overlay
        self.confirmed = confirmed
    }
}
