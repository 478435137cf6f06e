/// What comes in by one of the two doors: the app's commands, the authority's answers and batches.
package enum Command: Sendable {
    case record(Proposal)
    case change(IntentNumber, IntentCommand)
    case acknowledge(IntentNumber, position: Position?, replacement: Payload?)
    case reject(IntentNumber, Rejection)
    /// `through` nil: the highest position of the events.
    case confirm([Confirmed], through: Position?)

    /// The numbers of this log's own intents that are named, and have to be looked up where they are
    /// settled.
    package func named(in replicas: ReplicaTable) -> [IntentNumber] {
        switch self {
        case .record: []
        case .change(let number, _), .acknowledge(let number, _, _), .reject(let number, _):
            [number]
        case .confirm(let events, _):
            events.compactMap { event in
                event.origin.flatMap { replicas.has($0.replica) ? $0.number : nil }
            }
        }
    }
}

/// An intent that somebody wants to record.
package struct Proposal: Sendable {
    package let payload: Payload
    package let isConfirmOnly: Bool
    package let once: ExactString?
    package let info: [String: String]

    package init(
        payload: Payload, isConfirmOnly: Bool, once: ExactString?,
        info: [String: String]
    ) {
        self.payload = payload
        self.isConfirmOnly = isConfirmOnly
        self.once = once
        self.info = info
    }
}

/// What becomes of a command.
package enum Decision: Sendable {
    /// This entry is appended.
    case append(Entry)
    /// An intent with the same once key is in the overlay (F14). Retrying it dismisses the rejection.
    case join(IntentNumber, appending: Entry?)
    /// Nothing changes, because the intent stands so already (F7).
    case ignore(IntentState)
    /// Nothing changes, because the batch brings nothing new (F6).
    case ignoreBatch
    case refuse(Refusal)
}

/// Why a command cannot be carried out on this log; nothing is appended.
package enum Refusal: Hashable, Sendable {
    case unknownIntent(IntentNumber)
    case notPending(IntentNumber, IntentState)
    /// `isDismissed`: it was rejected, and is dismissed or retried already.
    case notRejected(IntentNumber, IntentState, isDismissed: Bool)
    case positionBelowOne
    case throughBelowPosition(through: Position, highest: Position)
    /// An acknowledgement log takes neither positions nor batches (F2, F4).
    case positionInAcknowledgementLog
    case batchInAcknowledgementLog
}
