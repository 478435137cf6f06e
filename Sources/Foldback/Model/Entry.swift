/// The content of one record of the log.
package enum Entry: Sendable {
    /// A new intent; it can also dismiss the rejection that it retries (F14).
    case intent(RecordedIntent)
    case acknowledged(Acknowledged)
    case changed(IntentNumber, IntentChange)
    case confirmed(ConfirmedBatch)
}

/// The server's acknowledgement of an intent.
package struct Acknowledged: Sendable {
    package let number: IntentNumber
    /// The position of the intent's effect at the server; nil if unknown (F3).
    package let position: Position?
    /// The event that the server applied in place of the recorded one; nil if it applied that.
    package let replacement: Payload?
    /// Whether this entry confirms the intent, not only accepts it (F3, F4).
    package let settles: Bool

    package init(
        number: IntentNumber, position: Position?, replacement: Payload?, settles: Bool
    ) {
        self.number = number
        self.position = position
        self.replacement = replacement
        self.settles = settles
    }
}

/// Confirmed events as the server sent them (F5), and the intents of this log that they confirm.
package struct ConfirmedBatch: Sendable {
    /// The events in the order in which the server sent them.
    package let events: [Confirmed]
    package let through: Position
    /// The intents of this log that the batch confirms, ascending. They are kept so that answers
    /// can be read from the entry alone (F15).
    package let settled: [IntentNumber]

    package init(events: [Confirmed], through: Position, settled: [IntentNumber]) {
        self.events = events
        self.through = through
        self.settled = settled
    }

    /// Whether the events are not all in one format.
    package var hasSeveralFormats: Bool {
        guard let first = events.first?.payload.format else { return false }
        return events.contains { $0.payload.format != first }
    }
}

/// One event of a batch.
package struct Confirmed: Sendable {
    package let position: Position
    package let payload: Payload
    /// The intent that the event comes from, of any replica; nil if it comes from none.
    package let origin: IntentID?

    package init(position: Position, payload: Payload, origin: IntentID?) {
        self.position = position
        self.payload = payload
        self.origin = origin
    }

    /// The context that a projection gets with the event (F12).
    package var context: EventContext {
        EventContext(origin.map(EventContext.Origin.intent) ?? .position(position))
    }
}

extension [Confirmed] {
    /// The bytes that count against the limit of a batch: the payloads, and 32 for each event's
    /// other fields.
    package var limitedBytes: Int { reduce(0) { $0 + $1.payload.bytes.count + 32 } }
}

/// The sequence and time of an entry.
package struct Stamp: Sendable {
    package let sequence: LogSequence
    package let time: Timestamp

    package init(sequence: LogSequence, time: Timestamp) {
        self.sequence = sequence
        self.time = time
    }
}
