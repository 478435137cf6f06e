/// A key of a projection's state, without its type.
package struct TouchedKey: Hashable, Sendable {
    private let key: any Hashable & Sendable

    package static func == (a: TouchedKey, b: TouchedKey) -> Bool {
        AnyHashable(a.key) == AnyHashable(b.key)
    }

    package func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }

    /// Returns the keys that an intent touches, as the projection declares them; nil if it declares
    /// none, or if this code cannot read the event.
    static func keys<P: Projection>(
        touchedBy intent: UnsettledIntent, in _: P.Type
    ) -> Set<TouchedKey>? {
        guard P.Key.self != Never.self, let event = intent.payload.event(as: P.Event.self) else {
            return nil
        }
        let context = EventContext(.intent(intent.recorded.id))
        return Set(P.keys(touchedBy: event, context).map { TouchedKey(key: $0) })
    }
}
