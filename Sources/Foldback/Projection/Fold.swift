/// One projection's confirmed state and view, which follow the fold plans of ``LogState``.
///
/// A rollback takes intents out of the view and folds the intents after them again. It has two
/// steps:
///
/// 1. ``perform(_:at:)`` gets `.rollBack(from:)` or `.rebase`, and only notes the intent in
///    `rebaseFrom`.
/// 2. ``rebaseView(over:)`` starts from the newest savepoint before that intent, or from confirmed
///    state, and folds the overlay from there. Several entries of one commit share this step.
///
/// ```
///  confirmed state │ 4  5  6  7  8  9
///                  │    s5       s8 s9     savepoints: the view after 5, after 8, after 9
///  reject 7        │ 4  5  6     8  9      s8 and s9 include 7: remove them, fold 6 8 9 on s5
/// ```
///
/// So the rollback of the newest intents costs as much as these intents, however many are pending.
///
/// Invariant of ``Savepoints``: the savepoint with number n is the fold of confirmed state and all
/// optimistic intents of the overlay up to n. So a change at intent n makes the savepoints from n
/// on invalid. A fast-forward that confirms intents up to n makes the savepoints before n invalid,
/// because they lack intents that have left the overlay. A rebase makes all of them invalid.
///
/// Savepoints are kept when a view is published (after the newest intent), and during a long rebase
/// (at distances from the end of the overlay that halve). Readers keep a published view anyway, so
/// that savepoint costs no copy.
package struct Fold<P: Projection>: Sendable {
    private var confirmedState = GuardedState(P())
    private var viewState = GuardedState(P())
    private var savepoints = Savepoints<P>()
    /// The first intent from which the view must be folded again; nil if the view is up to date.
    ///
    /// It starts at 0, so that replaying a long history folds the view only once, at the end.
    private var rebaseFrom: IntentNumber? = 0
    package private(set) var conflicted = NumberMap<IntentNumber, String>()
    package private(set) var faults: [Fault] = []
    package private(set) var counts = FoldCounts()

    package init() {}

    /// Continues from a checkpoint. ``rebaseView(over:)`` folds the view.
    package init(confirmed: P, faults: [Fault]) {
        confirmedState = GuardedState(confirmed)
        self.faults = faults
    }

    package var confirmed: P { confirmedState.value }
    /// The view, which is up to date only after ``rebaseView(over:)``.
    package var view: P { viewState.value }

    // MARK: Following the log

    /// Applies the newest intent to the view, and returns the error that makes it conflicted (F9).
    ///
    /// A stale view stays as it is. ``rebaseView(over:)`` will apply the intent then.
    package mutating func applyNewest(_ intent: UnsettledIntent) -> (any Error)? {
        guard rebaseFrom == nil else { return nil }
        return applyToView(intent)
    }

    /// Undoes the last ``applyNewest(_:)``, because the intent is not recorded (F9).
    ///
    /// - Precondition: the view was up to date when the intent was applied.
    package mutating func rollBackLast(_ number: IntentNumber) {
        guard conflicted[number] == nil else {
            conflicted[number] = nil
            return
        }
        viewState.undoLast()
    }

    /// Applies the confirmed events of a fold plan, and notes from where the view must be folded
    /// again.
    package mutating func perform(_ plan: FoldPlan, at sequence: LogSequence) {
        for folded in plan.confirm {
            counts.confirmed += 1
            guard let error = confirmedState.apply(folded) else { continue }
            faults.append(
                Fault(sequence: sequence, origin: folded.context.origin, reason: "\(error)"))
        }
        for number in plan.removed { conflicted[number] = nil }
        switch plan.view {
        case .unchanged:
            // A fast-forward confirmed intents up to `border`. A savepoint before it lacks some of
            // them, and a rollback could not add them, because they are no longer in the overlay.
            guard !plan.confirm.isEmpty, let border = plan.removed.last else { break }
            savepoints.remove(before: border)
        case .apply(let intent): _ = applyNewest(intent)
        case .rollBack(let number):
            rebaseFrom = min(number, rebaseFrom ?? number)  // mutant: roll-back
        case .rebase: rebaseFrom = 0  // mutant: rebase
        }
    }

    /// Brings the view up to date: rolls it back to a savepoint before the first intent that left or
    /// changed, and applies the rest of the overlay again (F10). Several entries of one commit are
    /// rolled back together.
    ///
    /// - Complexity: one `apply` for each intent after the newest valid savepoint.
    package mutating func rebaseView(over overlay: Overlay) {
        guard let changed = rebaseFrom else { return }
        rebaseFrom = nil
        let rest = overlay.from(rollBack(before: changed))
        var left = rest.reduce(0) { count, _ in count + 1 }
        for (number, intent) in rest {
            if intent.isOptimistic { _ = applyToView(intent) }
            left -= 1
            // Keep savepoints 1, 2, 4, … intents before the end, so that the next rollback is short
            // too.
            if left > 0, left.nonzeroBitCount == 1 {
                savepoints.append(number, view)
                viewState.keep()
            }
        }
    }

    /// Rolls the view back to the newest savepoint before the intent, or to confirmed state if there
    /// is none.
    ///
    /// - Returns: the first number of the overlay that must be applied again.
    private mutating func rollBack(before number: IntentNumber) -> IntentNumber {
        // A savepoint is valid while no intent up to its number has changed.
        savepoints.remove(from: number)
        let savepoint = savepoints.last
        viewState = GuardedState(savepoint?.view ?? confirmed)
        let next = savepoint?.number.next ?? 0
        conflicted.removeAll(from: next)  // mutant: conflicts-cleared
        return next
    }

    private mutating func applyToView(_ intent: UnsettledIntent) -> (any Error)? {
        counts.overlay += 1
        let context = EventContext(.intent(intent.recorded.id))
        let error = viewState.apply(Folded(payload: intent.payload, context: context))
        if let error { conflicted[intent.recorded.number] = "\(error)" }
        return error
    }

    // MARK: Publishing

    /// Brings the view up to date, and keeps it as a savepoint because readers will keep it anyway.
    package mutating func prepareToPublish(over overlay: Overlay) {
        rebaseView(over: overlay)
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
