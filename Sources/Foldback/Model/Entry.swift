/// What one entry of the log says (design: section 2).
package enum Entry: Sendable {
    case intent(RecordedIntent)
    case acknowledged(Acknowledged)
    case changed(IntentNumber, IntentChange)
    case confirmed(ConfirmedBatch)
}

/// The server accepted an intent.
package struct Acknowledged: Sendable {
    package let number: IntentNumber
    package let position: Position?
    package let replacement: Payload?
    /// Confirmed by this very entry, not only accepted (F3, F4).
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

/// Confirmed events as the server sent them (F5), and what they settled here.
package struct ConfirmedBatch: Sendable {
    /// In the order in which they were sent.
    package let events: [Confirmed]
    package let through: Position
    /// The intents of this log that the batch confirmed, ascending: so that an answer can be read
    /// from its entry alone (F15).
    package let settled: [IntentNumber]

    package init(events: [Confirmed], through: Position, settled: [IntentNumber]) {
        self.events = events
        self.through = through
        self.settled = settled
    }
}

/// One event of a batch.
package struct Confirmed: Sendable {
    package let position: Position
    package let payload: Payload
    package let origin: IntentID?

    package init(position: Position, payload: Payload, origin: IntentID?) {
        self.position = position
        self.payload = payload
        self.origin = origin
    }

    /// What a projection may know beside the event (F12).
    package var context: EventContext {
        EventContext(origin.map(EventContext.Origin.intent) ?? .position(position))
    }
}

extension [Confirmed] {
    /// What counts against the limit of a batch: payloads, and about what each has beside it.
    package var limitedBytes: Int { reduce(0) { $0 + $1.payload.bytes.count + 32 } }
}

/// Where and when an entry stands.
package struct Stamp: Sendable {
    package let sequence: LogSequence
    package let time: Timestamp

    package init(sequence: LogSequence, time: Timestamp) {
        self.sequence = sequence
        self.time = time
    }
}
