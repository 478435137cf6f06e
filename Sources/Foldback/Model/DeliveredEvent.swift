/// An event as the authority delivers it: decoded, or as the bytes that it sent.
///
/// Prefer `.recorded` if the authority sends bytes. The log then keeps them as they came, and an
/// event that this code cannot read delays no other event (E4).
public enum DeliveredEvent<Event: Sendable>: Sendable {
    /// An event that the caller has decoded. The store writes it with its own codec.
    case event(Event)
    /// The bytes that the authority sent. The store's codec reads them, and the log keeps them.
    case recorded(RecordedEvent)

    /// The decoded event; nil if the store has yet to read it.
    public var event: Event? {
        switch self {
        case .event(let event): event
        case .recorded: nil
        }
    }
}

extension DeliveredEvent: Equatable where Event: Equatable {}
extension DeliveredEvent: Hashable where Event: Hashable {}
