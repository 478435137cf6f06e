/// What an entry does beyond the bookkeeping: the actions that come out of ``LogState``.
package struct Effects: Sendable {
    /// Intents that left the overlay or changed their verdict.
    package var verdicts: [SettlementChange] = []
    /// Intents that are back in the overlay: their verdict no longer holds (F7).
    package var reopened: [IntentNumber] = []
    /// Intents whose state changed, for those who wait for an answer.
    package var answered: [IntentNumber] = []
    package var fold = FoldPlan()
}

package struct SettlementChange: Sendable {
    package let number: IntentNumber
    package let verdict: Settlement
    /// The intent's own entry; nil where only the verdict changes and the log knows it.
    package let intentSequence: LogSequence?
    /// The entry that said so; nil where only a dismissal is noted.
    package let verdictSequence: LogSequence?
}

/// What the projections have to do.
///
/// The view is the fold of one list: the events of confirmed state, then those of the overlay. An
/// entry that only moves the border between the two leaves the view as it is; any other change is
/// folded again from the first place where the list has changed.
package struct FoldPlan: Sendable {
    /// To be applied to confirmed state, in this order.
    package var confirm: [Folded] = []
    package var view = ViewChange.unchanged
    /// Intents that are no longer in the overlay.
    package var removed: [IntentNumber] = []
}

package enum ViewChange: Sendable {
    case unchanged
    /// The overlay has this one more, at its end.
    case apply(UnsettledIntent)
    /// The overlay changed at this intent: fold it again from there.
    case rollBack(from: IntentNumber)
    /// Confirmed state changed under the overlay: fold all of it again.
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
