/// One event that the downlink delivers; see ``Store/confirm(_:through:from:)``.
///
/// ```swift
/// let format = EventFormat(codec: 1, version: 1)
/// ConfirmedEvent(position: 7, recorded: RecordedEvent(format: format, bytes: body))
/// ```
///
/// Pass the bytes that the server sent, as in the example, if a newer app may have written them. An
/// event that this code cannot read is then kept, and delays no other event (E4).
public struct ConfirmedEvent<Event: Sendable>: Sendable {
    /// The event's position at the authority, from 1 up.
    public let position: Position
    /// The event as the authority confirms it, decoded or as bytes.
    public let delivered: DeliveredEvent<Event>
    /// The intent, of this or another replica, that caused the event; nil if there is none.
    public let origin: IntentID?

    /// Creates an event of a batch.
    ///
    /// - Parameters:
    ///   - position: the event's position at the authority, from 1 up.
    ///   - event: the event as the authority confirms it.
    ///   - origin: the intent that caused it; nil if there is none.
    public init(position: Position, event: Event, origin: IntentID? = nil) {
        self.init(position: position, delivered: .event(event), origin: origin)
    }

    /// Creates an event of a batch from the bytes that the authority sent.
    ///
    /// - Parameters:
    ///   - position: the event's position at the authority, from 1 up.
    ///   - recorded: the format and bytes. The log keeps them as they are.
    ///   - origin: the intent that caused it; nil if there is none.
    public init(position: Position, recorded: RecordedEvent, origin: IntentID? = nil) {
        self.init(position: position, delivered: .recorded(recorded), origin: origin)
    }

    /// Creates an event of a batch in either form.
    public init(position: Position, delivered: DeliveredEvent<Event>, origin: IntentID? = nil) {
        self.position = position
        self.delivered = delivered
        self.origin = origin
    }

    /// The decoded event; nil if the store has yet to read it.
    public var event: Event? { delivered.event }

    /// The context that projections get with the event (F12), for servers that fold with the same
    /// code.
    public var context: EventContext {
        EventContext(origin.map(EventContext.Origin.intent) ?? .position(position))
    }
}

extension ConfirmedEvent: Equatable where Event: Equatable {}
