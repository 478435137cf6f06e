/// What undo and replacing ask of the views: inverses, and keys in common (F16, F21).
extension LogFold {
    /// The place of the projection that knows inverses, in ``folds`` or in ``rows``.
    enum UndoablePlace {
        case value(Int)
        case rows(Int)
    }

    /// Whether the view of the projection that knows inverses has the intent's effect. The views are up
    /// to date.
    package func isFoldedByUndoable(_ number: IntentNumber) -> Bool {
        guard let undoable, state.overlay[number]?.isOptimistic == true else { return false }
        return !group(of: undoable).isConflicted(number)
    }

    /// Returns the inverse of an intent that is not recorded yet, on the present views; nil if there is
    /// none.
    package mutating func inverse(ofNewest intent: RecordedIntent) -> Payload? {
        guard let undoable else { return nil }
        rebaseViews()
        switch undoable {
        case .value(let place): return folds[place].inverse(ofNewest: intent)
        case .rows(let place): return rows[place].inverse(of: intent.payload, intent.id)
        }
    }

    /// Returns the inverse of an intent that the views fold, on what is before it; nil if there is none.
    /// The views are up to date.
    package mutating func inverse(ofFolded number: IntentNumber) -> Payload? {
        guard let undoable, let intent = state.overlay[number] else { return nil }
        switch undoable {
        case .value(let place):
            let group = group(of: undoable)
            return folds[place].inverse(
                ofFolded: intent, over: state.overlay, leavingOut: group.isConflicted)
        case .rows(let place): return rows[place].inverse(of: intent.payload, intent.recorded.id)
        }
    }

    private func group(of undoable: UndoablePlace) -> FoldGroup {
        for group in groups where group.has(undoable) { return group }
        preconditionFailure("\(undoable) is in no group")
    }

    /// Returns whether a later intent of the overlay touches a key of this one, or may (F16). The views
    /// are up to date.
    package func isTouchedLater(_ number: IntentNumber) -> Bool {
        guard let intent = state.overlay[number] else { return true }
        let touched = touch(of: intent)
        return state.overlay.from(number.next).contains {
            touch(of: $0.value).mayOverlap(touched)
        }
    }

    /// Returns the log without an intent of the overlay, with its views up to date (F16).
    package func leavingOut(_ number: IntentNumber) -> LogFold {
        var fold = self
        fold.state.leaveOut(number)
        fold.performInViews(FoldPlan(view: .rollBack(from: number), removed: [number]))
        fold.rebaseViews()
        return fold
    }
}
