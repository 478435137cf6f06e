/// One entry of a log, for those who look at it.
public struct LogEntry<Event: Sendable>: Sendable {
    public let sequence: LogSequence
    public let time: Timestamp
    /// The replica that wrote it.
    public let replica: ReplicaID
    public let info: [String: String]
    public let content: Content

    public enum Content: Sendable {
        case intent(
            IntentNumber, LoggedEvent<Event>, isConfirmOnly: Bool, once: String?,
            retries: IntentNumber?)
        case acknowledged(IntentNumber, position: Position?, replacement: LoggedEvent<Event>?)
        case changed(IntentNumber, IntentChange)
        case confirmed([ConfirmedEvent<LoggedEvent<Event>>], through: Position)
    }

    /// An entry that comes from elsewhere than a log, for a ``RecordedHistory``.
    public init(
        sequence: LogSequence, time: Timestamp, replica: ReplicaID, info: [String: String],
        content: Content
    ) {
        self.sequence = sequence
        self.time = time
        self.replica = replica
        self.info = info
        self.content = content
    }

    package init(_ record: Record) {
        sequence = record.stamp.sequence
        time = record.stamp.time
        replica = record.replica
        info = record.info
        switch record.entry {
        case .intent(let intent):
            content = .intent(
                intent.number, LoggedEvent(intent.payload), isConfirmOnly: intent.isConfirmOnly,
                once: intent.once?.string, retries: intent.retries)
        case .acknowledged(let answer):
            content = .acknowledged(
                answer.number, position: answer.position,
                replacement: answer.replacement.map { LoggedEvent<Event>($0) })
        case .changed(let number, let change): content = .changed(number, change)
        case .confirmed(let batch):
            let events = batch.events.map {
                ConfirmedEvent(
                    position: $0.position, event: LoggedEvent<Event>($0.payload), origin: $0.origin)
            }
            content = .confirmed(events, through: batch.through)
        }
    }
}

extension LogEntry {
    /// The intents of this log that the entry is about, its own first; a batch names origins instead.
    public var intentNumbers: [IntentNumber] {
        switch content {
        case .intent(let number, _, _, _, let retries): [number] + (retries.map { [$0] } ?? [])
        case .acknowledged(let number, _, _), .changed(let number, _): [number]
        case .confirmed: []
        }
    }

    /// The intents that a batch's events were, of whatever replica.
    public var origins: [IntentID] {
        guard case .confirmed(let events, _) = content else { return [] }
        return events.compactMap(\.origin)
    }

    /// The events that the entry brings.
    public var events: [LoggedEvent<Event>] {
        switch content {
        case .intent(_, let event, _, _, _): [event]
        case .acknowledged(_, _, let replacement): replacement.map { [$0] } ?? []
        case .confirmed(let events, _): events.map(\.event)
        case .changed: []
        }
    }
}

extension Record {
    /// The record of an entry. What follows from the entries before it, whom an answer or a batch
    /// settles, is yet to be decided.
    package init<Event>(_ entry: LogEntry<Event>) {
        let stamp = Stamp(sequence: entry.sequence, time: entry.time)
        let content: Entry =
            switch entry.content {
            case .intent(let number, let event, let isConfirmOnly, let once, let retries):
                .intent(
                    RecordedIntent(
                        id: IntentID(replica: entry.replica, number: number),
                        payload: event.payload, isConfirmOnly: isConfirmOnly,
                        once: once.map { ExactString($0) }, retries: retries, info: entry.info,
                        sequence: entry.sequence, time: entry.time))
            case .acknowledged(let number, let position, let replacement):
                .acknowledged(
                    Acknowledged(
                        number: number, position: position, replacement: replacement?.payload,
                        settles: false))
            case .changed(let number, let change): .changed(number, change)
            case .confirmed(let events, let through):
                .confirmed(
                    ConfirmedBatch(
                        events: events.map {
                            Confirmed(
                                position: $0.position, payload: $0.event.payload,
                                origin: $0.origin)
                        },
                        through: through, settled: []))
            }
        self.init(stamp: stamp, replica: entry.replica, info: entry.info, entry: content)
    }
}

/// An event as the log has it.
public struct LoggedEvent<Event: Sendable>: Sendable {
    let payload: Payload

    public var bytes: [UInt8] { payload.bytes }
    public var format: EventFormat { payload.format }
    /// The bytes as text where they are any.
    public var text: String { payload.text }
    /// Nil where this code cannot read the bytes (L5).
    public var event: Event? { payload.event() }

    init(_ payload: Payload) { self.payload = payload }

    /// The event as `codec` writes it.
    /// - Throws: what the codec throws.
    public init(_ event: Event, writtenBy codec: any EventCodec<Event>) throws {
        payload = try codec.payload(of: event)
    }
}

extension LoggedEvent where Event == [UInt8] {
    /// An event whose type is not known, as the bytes that some codec wrote.
    public init(bytes: [UInt8], format: EventFormat) {
        payload = RawCodec().payload(reading: bytes, format: format)
    }
}

/// One event of the downlink.
public struct ConfirmedEvent<Event: Sendable>: Sendable {
    /// From 1 up.
    public let position: Position
    public let event: Event
    /// The intent that it comes from, of this replica or another; nil where there is none.
    public let origin: IntentID?

    public init(position: Position, event: Event, origin: IntentID? = nil) {
        self.position = position
        self.event = event
        self.origin = origin
    }

    /// What projections get with the event (F12): for servers that fold with the same code.
    public var context: EventContext {
        EventContext(origin.map(EventContext.Origin.intent) ?? .position(position))
    }
}
