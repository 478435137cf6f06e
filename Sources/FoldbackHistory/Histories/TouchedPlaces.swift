import Foldback

/// The places of the view and of confirmed state that an entry may have changed; nil means any
/// place.
struct TouchedPlaces {
    var view: Set<JSONPointer>? = []
    var confirmed: Set<JSONPointer>? = []

    static let anything = TouchedPlaces(view: nil, confirmed: nil)

    mutating func unite(_ other: TouchedPlaces) {
        view.unite(other.view)
        confirmed.unite(other.confirmed)
    }
}

extension TouchedEvents {
    /// Returns the places that the events can change, as the projection says.
    ///
    /// - Complexity: one call of ``TraceableProjection/places(touchedBy:_:)`` for each event, until
    ///   one can change any place.
    func places<P: Projection>(in projection: P.Type) -> TouchedPlaces {
        TouchedPlaces(
            view: Self.places(of: view, projection),
            confirmed: Self.places(of: confirmed, projection))
    }

    private static func places<P: Projection>(
        of events: [Folded]?, _: P.Type
    ) -> Set<JSONPointer>? {
        guard let events else { return nil }
        var found: Set<JSONPointer>? = []
        for folded in events where found != nil {
            // An event that cannot be read touches no place, because it changes nothing.
            guard let event: P.Event = folded.payload.event() else { continue }
            found.unite(P.tracedPlaces(of: event, folded.context))
        }
        return found
    }
}

extension Set<JSONPointer>? {
    /// Returns whether these places may include the value at `place`.
    func has(_ place: JSONPointer) -> Bool {
        self?.contains { $0.mayOverlap(place) } ?? true
    }

    /// Adds places; nil means any place.
    mutating func unite(_ places: (some Sequence<JSONPointer>)?) {
        if let places { self?.formUnion(places) } else { self = nil }
    }
}

extension JSONPointer {
    /// Returns whether one place is in the other.
    func overlaps(_ other: JSONPointer) -> Bool {
        names.starts(with: other.names) || other.names.starts(with: names)
    }

    /// Returns whether one place is in the other, or may be: `id=mia.6` and `0` may be one element.
    fileprivate func mayOverlap(_ other: JSONPointer) -> Bool {
        zip(names, other.names).allSatisfy { $0 == $1 || $0.selector != nil || $1.selector != nil }
    }
}
