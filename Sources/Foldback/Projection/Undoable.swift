/// A projection that knows which event reverses an event, so that users can undo what was sent.
///
/// ```swift
/// extension Board: Undoable {
///     func inverse(of event: Event, _ context: EventContext) -> Event? {
///         switch event {
///         case .renamed(let card, _): cards[card].map { .renamed(card, title: $0.title) }
///         case .added(let card, _): .removed(card)
///         case .removed: nil  // The server cannot bring a card back.
///         }
///     }
/// }
/// ```
///
/// ``Store/undo(_:force:)`` asks for it. Each intent keeps its inverse in the log, so that it can be undone
/// after a restart. At most one projection of a log is `Undoable` or ``UndoableRows``. <doc:UndoAndRedo>
/// explains more.
public protocol Undoable: Projection {
    /// Returns the event that takes back the effect of `event`; nil if none does.
    ///
    /// `self` is the state before the event. The result must depend on nothing else (F12). Applying
    /// `event` and then its inverse should lead to `self` again.
    func inverse(of event: Event, _ context: EventContext) -> Event?
}

/// Projections with the same inverse for each event. A store may have several of them (F21).
package protocol SharesInverse {
    /// The name of the projection that has the inverse first.
    static var inverseOwner: ExactString { get }
}

/// The inverse of an event on a state, without the event's type.
typealias Inverter<P> = @Sendable (P, Payload, EventContext) -> Payload?

extension Projection {
    /// The projection's inverse; nil if it is not ``Undoable``.
    static var inverter: Inverter<Self>? {
        func inverter<U: Undoable>(_: U.Type) -> Inverter<Self> {
            let codec = U.codec
            return { state, payload, context in
                guard let event = payload.event(as: U.Event.self), let state = state as? U else {
                    return nil
                }
                return codec.inversePayload(of: state.inverse(of: event, context))
            }
        }
        return (Self.self as? any Undoable.Type).map { inverter($0) }
    }
}

extension EventCodec {
    /// Returns the payload of an inverse; nil if there is none, or if the log could not record it.
    func inversePayload(of event: Event?) -> Payload? {
        guard let event, let payload = try? payload(of: event),
            payload.bytes.count <= Limits.eventBytesMax
        else { return nil }
        return payload
    }
}
