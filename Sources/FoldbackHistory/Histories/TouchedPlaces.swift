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

/// Finds the places of a projection's states that an entry may have changed. The projection says
/// which places its events touch.
///
/// The tracker follows the fold plan, so its cost is in proportion to the cost of the fold. An
/// entry that only moves the border between confirmed state and the overlay touches only confirmed
/// state, at the places of its events. If an entry makes the overlay fold again from an intent, it
/// touches the places of all intents from there on, both before and after the entry.
struct PlaceTracker<P: Projection>: Sendable {
    /// The places of each intent in the overlay; nil means any place.
    private var ofIntents = NumberMap<IntentNumber, [JSONPointer]?>()
    /// Which projections share their conflicts. If any do, an intent that the view left out can
    /// come into it when it is confirmed.
    private let shared: SharedConflicts

    init(_ overlay: Overlay, _ shared: SharedConflicts) {
        self.shared = shared
        for (number, intent) in overlay { ofIntents[number] = Self.places(of: intent) }
    }

    /// Returns the places that an entry may have changed.
    ///
    /// - Parameters:
    ///   - plan: the fold plan of the entry.
    ///   - overlay: the overlay after the entry.
    ///   - sequences: the entry before, and the entry.
    mutating func take(
        _ plan: FoldPlan, _ overlay: Overlay, _ sequences: (before: LogSequence, now: LogSequence)
    ) -> TouchedPlaces {
        var found = TouchedPlaces()
        for folded in plan.confirm {
            found.confirmed.unite(Self.places(of: folded.payload, folded.context))
        }
        switch plan.view {
        case .unchanged where shared.isEmpty || plan.confirm.isEmpty: break
        case .apply(let intent):
            let places = Self.places(of: intent)
            ofIntents[intent.recorded.number] = .some(places)
            found.view.unite(places)
        case .rollBack(let number):
            found.view.unite(found.confirmed)
            takeAgain(from: number, overlay, &found.view)
        case .rebase, .unchanged:
            found.view.unite(found.confirmed)
            takeAgain(from: 0, overlay, &found.view)
        }
        for number in plan.removed { ofIntents[number] = nil }
        // With another period, every view may change.
        if shared.changes(after: sequences.before, upTo: sequences.now) { found.view = nil }
        return found
    }

    /// Adds the places of all intents from `number` on, before and after the entry.
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

    /// An event that cannot be read touches no place, because it changes nothing.
    private static func places(of payload: Payload, _ context: EventContext) -> [JSONPointer]? {
        guard let event: P.Event = payload.event() else { return [] }
        return P.places(touchedBy: event, context)
    }
}

extension Set<JSONPointer>? {
    /// Returns whether these places may include the value at `place`.
    func has(_ place: JSONPointer) -> Bool {
        self?.contains { $0.overlaps(place) } ?? true
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
}
