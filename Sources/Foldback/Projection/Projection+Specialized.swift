/// The default and only implementations of the hidden requirements of ``Projection``.
///
/// A log can have several projections, so its folds know neither the type of a state nor the type
/// of its events. Generic code of this module looks up the layout and the conformances of these
/// types at each use. A fold calls these functions instead. Each conformance has its own copy of
/// them, and the compiler specializes it in the app's module, where the types are known.
extension Projection {
    @inlinable
    public static func _apply(
        _ event: any Sendable, _ context: EventContext, to state: inout Self
    ) throws {
        try state.apply(_typed(event), context)
    }

    @inlinable
    public func _noteParts(
        touchedBy event: any Sendable, _ context: EventContext, in differences: _PartDifferences
    ) {
        let differences = Self._typed(differences)
        if differences.isNewEvent {
            differences.isNewEvent = false
            differences.noted.removeAll(keepingCapacity: true)
        }
        let keys = Self.keys(touchedBy: Self._typed(event), context)
        // An event without keys may touch any key.
        if keys.isEmpty { differences.noteUnknownKeys() }
        // Both versions mostly name the same keys in the same order. It does no harm if a key is
        // compared twice.
        let compared = differences.noted.count
        for (place, key) in keys.enumerated()
        where place >= compared || differences.noted[place].key != key {
            differences.noted.append((key, part(at: key)))
        }
        if compared > 0 { differences.noted.removeFirst(compared) }
        differences.hasNoted = !differences.noted.isEmpty
    }

    @inlinable
    public func _compareParts(in differences: _PartDifferences) {
        let differences = Self._typed(differences)
        differences.hasNoted = false
        for (key, part) in differences.noted {
            let isDifferent = part != self.part(at: key)
            guard isDifferent || differences.hasKeys else { continue }
            differences.take(key, isDifferent: isDifferent)
        }
    }

    @inlinable
    static func _typed(_ event: any Sendable) -> Event {
        guard let event = event as? Event else {
            preconditionFailure("the event has type \(type(of: event)), not \(Event.self)")
        }
        return event
    }

    @inlinable
    static func _typed(_ differences: _PartDifferences) -> _KeyedPartDifferences<Key, Part> {
        guard let differences = differences as? _KeyedPartDifferences<Key, Part> else {
            preconditionFailure("the parts to compare are \(type(of: differences))")
        }
        return differences
    }
}
