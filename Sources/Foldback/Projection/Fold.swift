/// One projection's confirmed state and view, kept up to date by the fold plans of ``LogState``.
///
/// Beside the two states there are ``Savepoints``. Folding again from an intent starts at the mark before it, so
/// taking back the newest intents costs what they cost, however many are pending. Marks are taken when
/// a view is published: readers keep that value anyway, so a mark costs no copy.
package struct Fold<P: Projection>: Sendable {
    private var confirmedState = GuardedState(P())
    private var viewState = GuardedState(P())
    private var marks = Savepoints<P>()
    /// From which intent on the view has yet to be folded again; nil: it is up to date. It starts stale,
    /// so that taking a long history in folds no view before the end.
    private var rebaseFrom: IntentNumber? = 0
    package private(set) var conflicted = NumberMap<IntentNumber, String>()
    package private(set) var faults: [Fault] = []
    package private(set) var counts = FoldCounts()

    package init() {}

    /// Goes on from a checkpoint; the view is folded when it is asked for.
    package init(confirmed: P, faults: [Fault]) {
        confirmedState = GuardedState(confirmed)
        self.faults = faults
    }

    package var confirmed: P { confirmedState.value }
    /// Up to date only behind ``rebaseView(over:)``.
    package var view: P { viewState.value }

    // MARK: Following the log

    /// Adds the newest intent to the view; what `apply` throws makes it conflicted (F9).
    package mutating func applyNewest(_ intent: UnsettledIntent) -> (any Error)? {
        guard rebaseFrom == nil else { return nil }
        return applyToView(intent)
    }

    /// Takes the intent appended last out again: it is not recorded after all (F9).
    package mutating func rollBackLast(_ number: IntentNumber) {
        guard conflicted[number] == nil else {
            conflicted[number] = nil
            return
        }
        viewState.undoLast()
    }

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
            // The border moved: a mark before it lacks what is confirmed now.
            guard !plan.confirm.isEmpty, let border = plan.removed.last else { break }
            marks.remove(before: border)
        case .apply(let intent): _ = applyNewest(intent)
        case .rollBack(let number):
            rebaseFrom = min(number, rebaseFrom ?? number)  // mutant: roll-back
        case .rebase: rebaseFrom = 0  // mutant: rebase
        }
    }

    /// Brings the view up to date. Several entries of one commit are folded again together.
    package mutating func rebaseView(over overlay: Overlay) {
        guard let start = rebaseFrom else { return }
        rebaseFrom = nil
        // A mark is the view of all up to its intent: good as long as none of these has changed.
        marks.remove(from: start)
        let mark = marks.last
        viewState = GuardedState(mark?.view ?? confirmed)
        let from = mark?.number.next ?? 0
        conflicted.removeAll(from: from)  // mutant: conflicts-cleared
        let rest = overlay.from(from)
        var left = rest.reduce(0) { count, _ in count + 1 }
        for (number, intent) in rest {
            if intent.isOptimistic { _ = applyToView(intent) }
            left -= 1
            if left > 0, left.nonzeroBitCount == 1 {
                marks.append(number, view)
                viewState.keep()
            }
        }
    }

    private mutating func applyToView(_ intent: UnsettledIntent) -> (any Error)? {
        counts.overlay += 1
        let context = EventContext(.intent(intent.recorded.id))
        let error = viewState.apply(Folded(payload: intent.payload, context: context))
        if let error { conflicted[intent.recorded.number] = "\(error)" }
        return error
    }

    // MARK: Publishing

    /// To be called when the view is about to be shared with readers.
    package mutating func prepareToPublish(over overlay: Overlay) {
        rebaseView(over: overlay)
        confirmedState.keep()
        viewState.keep()
        guard let first = overlay.first?.key, let last = overlay.last?.key else {
            // Nothing is pending: the view is confirmed state, and may as well share its storage.
            marks.removeAll()
            viewState = GuardedState(confirmed)
            return
        }
        // A newest intent that was not folded may have left without a change: its mark is this one.
        marks.remove(before: first)
        marks.remove(from: last)
        marks.append(last, view)
        marks.thin()
    }
}

/// How many events were folded so far, for tests and benchmarks of what an answer costs.
package struct FoldCounts: Equatable, Sendable {
    package var overlay: Int
    package var confirmed: Int

    package init(overlay: Int = 0, confirmed: Int = 0) {
        self.overlay = overlay
        self.confirmed = confirmed
    }
}
