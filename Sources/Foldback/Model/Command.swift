/// A command of the app, or an answer or batch of the authority.
package enum Command: Sendable {
    case record(Proposal)
    case change(IntentNumber, IntentCommand)
    /// Records another event in place of a rejected intent's, and dismisses the rejection (F14).
    case retry(IntentNumber, with: Payload)
    case acknowledge(IntentNumber, position: Position?, replacement: Payload?)
    case reject(IntentNumber, Rejection)
    /// A batch. If `through` is nil, it is the highest position of the events.
    case confirm([Confirmed], through: Position?)

    /// Returns the numbers of this log's own intents that the command names. The caller of
    /// ``LogState/decision(for:settled:time:)`` looks up those that are settled.
    package func named(in replicas: ReplicaTable) -> [IntentNumber] {
        switch self {
        case .record: []
        case .change(let number, _), .acknowledge(let number, _, _), .reject(let number, _),
            .retry(let number, _):
            [number]
        case .confirm(let events, _):
            events.compactMap { event in
                event.origin.flatMap { replicas.has($0.replica) ? $0.number : nil }
            }
        }
    }
}

/// An intent that the app wants to record.
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

/// The result of a command, decided by ``LogState``.
package enum Decision: Sendable {
    /// Append this entry.
    case append(Entry)
    /// Return the intent in the overlay that has the same once key (F14). For a retry, also append
    /// the entry that dismisses the rejection.
    case join(IntentNumber, appending: Entry?)
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
    /// The answer's authority is another one, or has lost events (N6).
    case superseded(shared: Position)
    case positionBelowOne
    case throughBelowPosition(through: Position, highest: Position)
    /// An acknowledgement log accepts no positions (F4).
    case positionInAcknowledgementLog
    /// An acknowledgement log accepts no batches (F2).
    case batchInAcknowledgementLog
}
