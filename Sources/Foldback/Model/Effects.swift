/// The work that an entry causes outside of ``LogState``.
package struct Effects: Sendable {
    /// New settlements, for the table `verdicts`.
    package var settlements: [SettlementChange] = []
    /// Intents that returned to the overlay, so that their settlement no longer holds (F7).
    package var reopened: [IntentNumber] = []
    /// Intents whose state changed, so that callers who wait for an answer resume.
    package var answered: [IntentNumber] = []
    package var fold = FoldPlan()
}

/// A new settlement of one intent.
package struct SettlementChange: Sendable {
    package let number: IntentNumber
    package let settlement: Settlement
    /// The intent's own entry; nil if the intent was settled before, so that the table has it.
    package let intentSequence: LogSequence?
    /// The entry of the answer; nil for a dismissal, which keeps the rejection's entry.
    package let settlementSequence: LogSequence?
}

/// The work that an entry causes in every projection.
///
/// The view is the fold of one list: the confirmed events, then the events of the overlay.
///
/// ```
///  confirmed events  |  overlay
///  a  b  c           |  4  5  6       the view folds a b c 4 5 6
///  a  b  c  4        |  5  6          fast-forward: the list is the same (unchanged)
///  a  b  c           |  4  6          5 is rejected: fold 6 again (roll back from 5)
///  a  b  c  d        |  4  5  6       d is new: fold 4 5 6 again (rebase)
/// ```
package struct FoldPlan: Sendable {
    /// The events to apply to confirmed state, in this order.
    package var confirm: [Folded] = []
    /// The places, in the entry, of the events of `confirm` that this code cannot read, ascending
    /// (E6). A batch's events count from 0 in the order of the batch. An acknowledgement's only
    /// event has place 0.
    package var unread: [Int] = []
    package var view = ViewChange.unchanged
    /// The intents that left the overlay, ascending.
    package var removed: [IntentNumber] = []

    package init(view: ViewChange = .unchanged, removed: [IntentNumber] = []) {
        self.view = view
        self.removed = removed
    }
}

/// The work that an entry causes in a view.
package enum ViewChange: Sendable {
    /// The view folds the same list of events as before.
    case unchanged
    /// The overlay has this new intent at its end: apply it.
    case apply(UnsettledIntent)
    /// The overlay changed at this intent: fold the overlay again from there.
    case rollBack(from: IntentNumber)
    /// The overlay changed at this intent, and has this new intent at its end: fold the overlay again
    /// from there.
    case replace(from: IntentNumber, by: UnsettledIntent)
    /// Confirmed state changed below the overlay: fold the whole overlay again.
    case rebase
}

/// An event with the context that a projection gets (F12).
package struct Folded: Sendable {
    package let payload: Payload
    package let context: EventContext

    package init(payload: Payload, context: EventContext) {
        self.payload = payload
        self.context = context
    }
}
