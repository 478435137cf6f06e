/// What undo and replacing ask of the views: inverses, and keys in common (F16, F21).
extension LogFold {
    /// Whether the view of the projection that knows inverses has the intent's effect. The views are up
    /// to date.
    package func isFoldedByUndoable(_ number: IntentNumber) -> Bool {
        guard let intent = state.overlay[number], intent.isOptimistic else { return false }
        let values = folds.indices.filter { folds[$0].isUndoable }
        let stored = rows.indices.filter { rows[$0].isUndoable }
        return !groups.contains { group in
            group.isConflicted(number)
                && (values.contains(where: group.has(value:))
                    || stored.contains(where: group.has(rows:)))
        }
    }

    /// Returns the inverse of an intent that is not recorded yet, on the present views; nil if there is
    /// none.
    package mutating func inverse(ofNewest intent: RecordedIntent) -> Payload? {
        guard isUndoable else { return nil }
        rebaseViews()
        for fold in folds where fold.isUndoable { return fold.inverse(ofNewest: intent) }
        for index in rows.indices where rows[index].isUndoable {
            return rows[index].inverse(of: intent.payload, intent.id)
        }
        return nil
    }

    /// Returns the inverse of an intent that the views fold, on what is before it; nil if there is none.
    /// The views are up to date.
    package mutating func inverse(ofFolded number: IntentNumber) -> Payload? {
        guard let intent = state.overlay[number] else { return nil }
        for place in folds.indices where folds[place].isUndoable {
            for group in groups where group.has(value: place) {
                return group.inverse(
                    ofFolded: intent, byValue: place, folds, over: state.overlay)
            }
        }
        for index in rows.indices where rows[index].isUndoable {
            return rows[index].inverse(of: intent.payload, intent.recorded.id)
        }
        return nil
    }

    /// Returns whether a later intent of the overlay touches a key of this one, or may (F16). The views
    /// are up to date.
    package func isTouchedLater(_ number: IntentNumber) -> Bool {
        guard let intent = state.overlay[number] else { return true }
        return state.overlay.from(number.next).contains { later, other in
            folds.contains { $0.share(intent, other) ?? true }
                || rows.contains { $0.share(number, later) ?? true }
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
