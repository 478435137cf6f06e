/// One entry of a log, as apps and tools read it.
///
/// ```swift
/// for entry in try store.entries(from: 1, countMax: 100) {
///     print(entry.sequence, entry.intentNumbers, entry.events.map(\.text))
/// }
/// ```
public struct LogEntry<Event: Sendable>: Sendable {
    /// The entry's place in the log, from 1 up.
    public let sequence: LogSequence
    /// When the entry was recorded.
    public let time: Timestamp
    /// The replica that wrote the entry.
    public let replica: ReplicaID
    /// The `info` that was recorded with an intent; empty for other entries.
    public let info: [String: String]
    /// What the entry says: the intent, answer or batch.
    public let content: Content

    /// The kinds of entries.
    public enum Content: Sendable {
        /// An intent was recorded.
        case intent(LoggedIntent<Event>)
        /// The authority accepted an intent, at its own position and with its own event if it gave
        /// any (F3, F4).
        case acknowledged(IntentNumber, position: Position?, replacement: LoggedEvent<Event>?)
        /// An intent was rejected, taken back, released or restored, or a rejection was dismissed.
        case changed(IntentNumber, IntentChange)
        /// A batch of the downlink. `through`: the highest position that confirmed state then
        /// covers (F5).
        case confirmed([BatchEvent<Event>], through: Position)
    }

    /// Creates an entry that does not come from a log, for a `RecordedHistory`.
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

    /// The entry that a record has.
    package init(_ record: Record) {
        sequence = record.stamp.sequence
        time = record.stamp.time
        replica = record.replica
        info = record.info
        switch record.entry {
        case .intent(let intent):
            content = .intent(LoggedIntent(intent))
        case .acknowledged(let answer):
            content = .acknowledged(
                answer.number, position: answer.position,
                replacement: answer.replacement.map { LoggedEvent<Event>($0) })
        case .changed(let number, let change): content = .changed(number, change)
        case .confirmed(let batch):
            let events = batch.events.map {
                BatchEvent(
                    position: $0.position, event: LoggedEvent<Event>($0.payload), origin: $0.origin)
            }
            content = .confirmed(events, through: batch.through)
        }
    }
}

extension LogEntry {
    /// The numbers of this log's intents that the entry is about: the recorded intent first, then
    /// the intents that it retries, replaces and undoes.
    ///
    /// Empty for a batch, which has ``origins``.
    public var intentNumbers: [IntentNumber] {
        switch content {
        case .intent(let intent):
            [intent.number]
                + [intent.retries, intent.replaces, intent.undoes].compactMap { $0 }
        case .acknowledged(let number, _, _), .changed(let number, _): [number]
        case .confirmed: []
        }
    }

    /// The intents, of any replica, from which the events of a batch come; empty for other entries.
    public var origins: [IntentID] {
        guard case .confirmed(let events, _) = content else { return [] }
        return events.compactMap(\.origin)
    }

    /// The events in the entry: of an intent, of a batch, or the server's replacement.
    public var events: [LoggedEvent<Event>] {
        switch content {
        case .intent(let intent): [intent.event]
        case .acknowledged(_, _, let replacement): replacement.map { [$0] } ?? []
        case .confirmed(let events, _): events.map(\.event)
        case .changed: []
        }
    }
}

extension Record {
    /// Creates the record of an entry.
    ///
    /// The intents that an answer or a batch settles depend on the entries before it. They are not
    /// set yet.
    package init<Event>(_ entry: LogEntry<Event>) {
        let stamp = Stamp(sequence: entry.sequence, time: entry.time)
        let content: Entry =
            switch entry.content {
            case .intent(let intent):
                .intent(
                    RecordedIntent(
                        id: IntentID(replica: entry.replica, number: intent.number),
                        payload: intent.event.payload, isConfirmOnly: intent.isConfirmOnly,
                        once: intent.once.map { ExactString($0) }, retries: intent.retries,
                        info: entry.info, sequence: entry.sequence, time: entry.time,
                        terms: intent.terms))
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

/// An intent as its entry has it.
public struct LoggedIntent<Event: Sendable>: Sendable {
    /// The intent's number in its log.
    public var number: IntentNumber
    /// The event as it was recorded.
    public var event: LoggedEvent<Event>
    /// Whether the intent is folded only once it is confirmed (F13).
    public var isConfirmOnly = false
    /// The once key with which it was recorded; nil if none (F14).
    public var once: String?
    /// The rejected intent that it retries; nil if none (F14).
    public var retries: IntentNumber?
    /// Whether it was recorded as a draft (F22).
    public var isHeld = false
    /// The key with which a later intent can replace it; nil if none (F16).
    public var replacingKey: String?
    /// The intent that it has replaced; nil if none (F16).
    public var replaces: IntentNumber?
    /// The first of the intents that were recorded together; nil if it was recorded alone (F20).
    public var group: IntentNumber?
    /// The intent that it undoes; nil if none (F21).
    public var undoes: IntentNumber?
    /// The event that reverses it; nil if none is known (F21).
    public var inverse: RecordedEvent?

    /// Creates an intent that does not come from a log, for a `RecordedHistory`.
    public init(
        _ number: IntentNumber, _ event: LoggedEvent<Event>, isConfirmOnly: Bool = false,
        once: String? = nil, retries: IntentNumber? = nil
    ) {
        self.number = number
        self.event = event
        self.isConfirmOnly = isConfirmOnly
        self.once = once
        self.retries = retries
    }

    init(_ intent: RecordedIntent) {
        self.init(
            intent.number, LoggedEvent(intent.payload), isConfirmOnly: intent.isConfirmOnly,
            once: intent.once?.string, retries: intent.retries)
        let terms = intent.terms
        isHeld = terms.isHeld
        replacingKey = terms.replacingKey?.string
        replaces = terms.replaces
        group = terms.group
        undoes = terms.undoes
        inverse = terms.inverse
    }

    /// The same intent with another event.
    package func with<Other>(_ event: LoggedEvent<Other>) -> LoggedIntent<Other> {
        var intent = LoggedIntent<Other>(
            number, event, isConfirmOnly: isConfirmOnly, once: once, retries: retries)
        intent.isHeld = isHeld
        intent.replacingKey = replacingKey
        intent.replaces = replaces
        intent.group = group
        intent.undoes = undoes
        intent.inverse = inverse
        return intent
    }

    fileprivate var terms: IntentTerms {
        IntentTerms(
            isHeld: isHeld, replacingKey: replacingKey.map { ExactString($0) }, replaces: replaces,
            group: group, undoes: undoes, inverse: inverse)
    }
}

/// An event as the log has it: its bytes, and the event if this code can read them.
public struct LoggedEvent<Event: Sendable>: Sendable {
    let payload: Payload

    /// The bytes as the codec wrote them.
    public var bytes: [UInt8] { payload.bytes }
    /// The codec that wrote the bytes, and its version.
    public var format: EventFormat { payload.format }
    /// The bytes as text if they are valid UTF-8, else their count. An event that makes its own JSON,
    /// such as a decision of FoldbackServer, is that JSON if this code can read it.
    public var text: String { described.map { "\($0)" } ?? payload.text }
    /// The JSON that the event makes of itself. Nil if the bytes are JSON, if the event does not make
    /// any, or if this code cannot read the bytes.
    package var described: JSON? {
        guard format.codec != EventFormat.json.codec, let event = event as? any JSONRepresentable
        else { return nil }
        return event.json
    }
    /// The event; nil if this code cannot read the bytes (L5).
    public var event: Event? { payload.event() }

    init(_ payload: Payload) { self.payload = payload }

    /// Encodes an event with `codec`.
    ///
    /// - Throws: the codec's error.
    public init(_ event: Event, writtenBy codec: any EventCodec<Event>) throws {
        payload = try codec.payload(of: event)
    }
}

extension LoggedEvent where Event == [UInt8] {
    /// Creates an event of unknown type from the bytes that its codec wrote.
    public init(bytes: [UInt8], format: EventFormat) {
        payload = RawCodec().payload(reading: bytes, format: format)
    }
}

/// One event of a batch, as the log has it.
public struct BatchEvent<Event: Sendable>: Sendable {
    /// The event's position at the authority, from 1 up.
    public let position: Position
    /// The event as the authority delivered it.
    public let event: LoggedEvent<Event>
    /// The intent, of this or another replica, that caused the event; nil if there is none.
    public let origin: IntentID?

    /// Creates an event of a batch that does not come from a log, for a `RecordedHistory`.
    public init(position: Position, event: LoggedEvent<Event>, origin: IntentID? = nil) {
        self.position = position
        self.event = event
        self.origin = origin
    }
}
