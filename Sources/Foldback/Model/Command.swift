/// A command of the app, or an answer or batch of the authority.
package enum Command: Sendable {
    case record(Proposal)
    /// Records several intents as one action, or none of them (F20).
    case recordAll([Proposal])
    case change(IntentNumber, IntentCommand)
    /// Records another event in place of a rejected intent's, and dismisses the rejection (F14).
    case retry(IntentNumber, with: Payload)
    case acknowledge(IntentNumber, position: Position?, replacement: Payload?)
    case reject(IntentNumber, Rejection)
    /// A batch. If `through` is nil, it is the highest position of the events.
    case confirm([Confirmed], through: Position?)
}

/// An intent that the app wants to record.
package struct Proposal: Sendable {
    package let payload: Payload
    package let isConfirmOnly: Bool
    package let once: ExactString?
    package let info: [String: String]
    package let terms: IntentTerms
    /// The intents of the overlay that its terms name, if their numbers are not known yet.
    package let links: IntentLinks?

    package init(
        payload: Payload, isConfirmOnly: Bool, once: ExactString?,
        info: [String: String], terms: IntentTerms = .none, links: IntentLinks? = nil
    ) {
        self.links = links
        self.payload = payload
        self.isConfirmOnly = isConfirmOnly
        self.once = once
        self.info = info
        self.terms = terms
    }

    /// The intent again, with what an answer and time have made of its terms.
    init(
        again intent: RecordedIntent, payload: Payload, keepsOnce: Bool = true, terms: IntentTerms
    ) {
        self.init(
            payload: payload, isConfirmOnly: intent.isConfirmOnly,
            once: keepsOnce ? intent.once : nil,
            info: intent.info, terms: terms)
    }
}

/// Intents that the terms of an intent name by their once keys. An intent of a superseded log is
/// recorded with them, because the intents that it names get new numbers too (N6).
package struct IntentLinks: Sendable {
    /// The intent that it undoes.
    package var undoes: ExactString?
    /// The first intent of its group, perhaps the intent itself.
    package var group: ExactString?
}

/// The result of a command, decided by ``LogState``.
package enum Decision: Sendable {
    /// Append these entries, or none of them.
    case append([Entry])
    /// Take these steps, or none of them. The fold knows the events that they record (F21).
    case reverse([Reversal])
    /// Return the intent in the overlay that has the same once key (F14). Also append these entries: they
    /// dismiss the retried rejection, and release the draft with the key (F22).
    case join(IntentNumber, appending: [Entry])
    /// Append nothing: the answer cannot change an intent in this state (F7).
    case ignore(IntentState)
    /// Append nothing: the batch has nothing new (F6).
    case ignoreBatch
    /// Append nothing, and report the refusal to the caller.
    case refuse(Refusal)
}

/// The reason why a command cannot be carried out on this log.
package enum Refusal: Hashable, Sendable {
    case unknownIntent(IntentNumber)
    case notPending(IntentNumber, IntentState)
    /// The intent has no listed rejection. If `isDismissed`, its rejection was dismissed or
    /// retried.
    case notRejected(IntentNumber, IntentState, isDismissed: Bool)
    /// The intent may have left the device, so it can only be abandoned (F7).
    case mayHaveLeft(IntentNumber)
    /// Only a held intent can be released (F22).
    case notHeld(IntentNumber, IntentState)
    /// An intent of the overlay has the once key of intents to record together (F20).
    case onceKeyInUse(IntentNumber)
    /// The answer's authority is another one, or has lost events (N6).
    case superseded(shared: Position)
    case positionBelowOne
    case throughBelowPosition(through: Position, highest: Position)
    /// An acknowledgement log accepts no positions (F4).
    case positionInAcknowledgementLog
    /// An acknowledgement log accepts no batches (F2).
    case batchInAcknowledgementLog
}

/// One step of undoing or redoing an action (F21).
package enum Reversal: Sendable {
    /// Take back an intent that was never sent.
    case takeBack(IntentNumber)
    /// Record an intent that undoes this one.
    case undo(RecordedIntent, Undoing)
    /// Record the intent again. The new intent undoes the intent with the number, or follows it if
    /// that one was taken back. `takenBack`: the newest form of that one, whose draft it goes on.
    ///
    /// `keepsOnce`: whether it has the once key of the intent. Another intent of the chain may have it.
    case again(
        RecordedIntent, undoing: IntentNumber, takenBack: IntentNumber?, keepsOnce: Bool)

    /// Which event undoes an intent.
    package enum Undoing: Sendable {
        /// The inverse of what the view folds for the intent, if it folds it; else the kept inverse.
        case ofOverlay
        /// The kept inverse, if the authority has applied the event that was recorded.
        case ofConfirmed
    }
}
