/// Knows which keys of its projection's state an event touches.
package protocol KeySharing: Sendable {
    /// Returns the keys, as the projection declares them; nil if it declares none, or if this code
    /// cannot read the event.
    func keys(touchedBy payload: Payload, _ id: IntentID) -> Set<AnyHashable>?
}

extension Projection {
    /// See ``KeySharing/keys(touchedBy:_:)``.
    static func keys(touchedBy payload: Payload, _ id: IntentID) -> Set<AnyHashable>? {
        guard Key.self != Never.self, let event = payload.event(as: Event.self) else { return nil }
        return Set(keys(touchedBy: event, EventContext(.intent(id))))
    }
}

extension KeySharing {
    /// Returns whether two intents of the overlay touch a key in common; nil if that is not known.
    package func share(_ a: UnsettledIntent, _ b: UnsettledIntent) -> Bool? {
        guard let first = keys(touchedBy: a.payload, a.recorded.id),
            let second = keys(touchedBy: b.payload, b.recorded.id)
        else { return nil }
        return !first.isDisjoint(with: second)
    }
}
