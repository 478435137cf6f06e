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
        case rejected(IntentNumber, Rejection)
        case withdrawn(IntentNumber)
        case dismissed(IntentNumber)
        case confirmed([ConfirmedEvent<LoggedEvent<Event>>], through: Position)
    }

    init(_ record: Record) {
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
        case .rejected(let number, let rejection): content = .rejected(number, rejection)
        case .withdrawn(let number): content = .withdrawn(number)
        case .dismissed(let number): content = .dismissed(number)
        case .confirmed(let batch):
            let events = batch.events.map {
                ConfirmedEvent(
                    position: $0.position, event: LoggedEvent<Event>($0.payload), origin: $0.origin)
            }
            content = .confirmed(events, through: batch.through)
        }
    }
}

/// An event as the log has it.
public struct LoggedEvent<Event: Sendable>: Sendable {
    public let bytes: [UInt8]
    public let format: EventFormat
    /// Nil where this code cannot read the bytes (L5).
    public let event: Event?

    init(_ payload: Payload) {
        bytes = payload.bytes
        format = payload.format
        event = payload.event()
    }
}
