import Foldback

/// Places of both states that an entry may have changed; nil: any.
struct TouchedPlaces {
    var view: Set<JSONPointer>? = []
    var confirmed: Set<JSONPointer>? = []

    static let anything = TouchedPlaces(view: nil, confirmed: nil)

    mutating func unite(_ other: TouchedPlaces) {
        view.unite(other.view)
        confirmed.unite(other.confirmed)
    }
}

/// Which places of a projection's states an entry may have changed, from what the projection says of its events.
///
/// Taken at what the fold does, so that it costs what folding costs: an entry that only moves the border between
/// confirmed state and the overlay touches what its events touch in the one; one behind which the overlay is
/// folded again from some intent touches what all from there touch, before and after.
struct PlaceTracker<P: Projection>: Sendable {
    /// Of the intents in the overlay; nil: any place.
    private var ofIntents = NumberMap<IntentNumber, [JSONPointer]?>()

    init(_ overlay: Overlay) {
        for (number, intent) in overlay { ofIntents[number] = Self.places(of: intent) }
    }

    /// - Parameters:
    ///   - plan: what was done for an entry.
    ///   - overlay: as it is behind that.
    mutating func take(_ plan: FoldPlan, _ overlay: Overlay) -> TouchedPlaces {
        var found = TouchedPlaces()
        for folded in plan.confirm {
            found.confirmed.unite(Self.places(of: folded.payload, folded.context))
        }
        switch plan.view {
        case .unchanged: break
        case .apply(let intent):
            let places = Self.places(of: intent)
            ofIntents[intent.recorded.number] = .some(places)
            found.view.unite(places)
        case .rollBack(let number):
            found.view.unite(found.confirmed)
            takeAgain(from: number, overlay, &found.view)
        case .rebase:
            found.view.unite(found.confirmed)
            takeAgain(from: 0, overlay, &found.view)
        }
        for number in plan.removed { ofIntents[number] = nil }
        return found
    }

    private mutating func takeAgain(
        from number: IntentNumber, _ overlay: Overlay, _ found: inout Set<JSONPointer>?
    ) {
        for (_, places) in ofIntents.from(number) { found.unite(places) }
        ofIntents.removeAll(from: number)
        for (number, intent) in overlay.from(number) {
            let places = Self.places(of: intent)
            ofIntents[number] = .some(places)
            found.unite(places)
        }
    }

    private static func places(of intent: UnsettledIntent) -> [JSONPointer]? {
        guard intent.isOptimistic else { return [] }
        return places(of: intent.payload, EventContext(.intent(intent.recorded.id)))
    }

    /// An event that cannot be read changes nothing.
    private static func places(of payload: Payload, _ context: EventContext) -> [JSONPointer]? {
        guard let event: P.Event = payload.event() else { return [] }
        return P.places(touchedBy: event, context)
    }
}

extension Set<JSONPointer>? {
    /// Whether the value at `place` may be among these.
    func has(_ place: JSONPointer) -> Bool {
        self?.contains { $0.overlaps(place) } ?? true
    }

    /// Nil is any place.
    mutating func unite(_ places: (some Sequence<JSONPointer>)?) {
        if let places { self?.formUnion(places) } else { self = nil }
    }
}

extension JSONPointer {
    /// Whether one is in the other.
    func overlaps(_ other: JSONPointer) -> Bool {
        names.starts(with: other.names) || other.names.starts(with: names)
    }
}
