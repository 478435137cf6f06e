import Foldback
import FoldbackHistory

/// The laws that look at the projection's own functions, on the states that the history led to.
extension Trial {
    /// F9.
    func throwsChangeNothing() -> Violation? {
        for folding in foldings {
            guard let wreck = folding.wreck, let failure = folding.failure else { continue }
            if P.areSame(wreck, folding.before) { continue }
            return Violation(
                .f9, "changed",
                "apply changed the state and then threw (\(failure)) for \(StateText.inline(folding.event)).",
                expected: ("before", folding.before), found: ("behind the throw", wreck))
        }
        return nil
    }

    /// P9: every two neighbours of a fold, and every event's places.
    func disjointKeysCommute() -> Violation? {
        if let violation = changeOutsideOfPlaces() { return violation }
        for state in refolded.map(\.state) {
            for (first, second) in zip(state.foldings, state.foldings.dropFirst())
            where Self.areDisjoint(first, second) {
                let there = Self.applied([first, second], to: first.before)
                let back = Self.applied([second, first], to: first.before)
                guard !P.areSame(there, back) else { continue }
                let a = StateText.inline(first.event, lengthMax: 200)
                let b = StateText.inline(second.event, lengthMax: 200)
                return Violation(
                    .p9, "order", "\(a) and \(b) touch no key in common, and their order matters.",
                    expected: ("\(a) first", there), found: ("\(b) first", back))
            }
        }
        return nil
    }

    private func changeOutsideOfPlaces() -> Violation? {
        for folding in foldings where folding.failure == nil {
            guard let places = P.places(touchedBy: folding.event, folding.context) else { continue }
            let changes = JSON(describing: folding.before)
                .differences(to: JSON(describing: folding.after))
            let outside = changes.first { change in
                !places.contains { change.place.names.starts(with: $0.names) }
            }
            guard let outside else { continue }
            let event = StateText.inline(folding.event, lengthMax: 200)
            return Violation(
                .p9, "place",
                "\(event) changes \(outside.place), which places(touchedBy:) does not name.",
                expected: ("before", folding.before), found: ("behind it", folding.after))
        }
        return nil
    }

    private static func keys(of folding: ReferenceLog<P>.Folding) -> Set<P.Key> {
        Set(P.keys(touchedBy: folding.event, folding.context))
    }

    /// As the projection declares it; of rows, as it was noted while they were applied.
    private static func areDisjoint(_ a: ReferenceLog<P>.Folding, _ b: ReferenceLog<P>.Folding)
        -> Bool
    {
        if let first = touched(by: a), let second = touched(by: b) {
            return first.isDisjoint(with: second)
        }
        let (first, second) = (keys(of: a), keys(of: b))
        return !first.isEmpty && !second.isEmpty && first.isDisjoint(with: second)
    }

    private static func touched(by folding: ReferenceLog<P>.Folding) -> TouchedKeys? {
        (folding.before as? any RowModel)?.touched(by: folding.event, folding.context)
    }

    private static func applied(_ foldings: [ReferenceLog<P>.Folding], to start: P) -> P {
        var state = start
        for folding in foldings {
            let before = state
            do { try state.apply(folding.event, folding.context) } catch { state = before }
        }
        return state
    }

    /// P11 of events; folds nothing.
    static func eventRoundTrip(_ history: Script<P.Event>) -> Violation? {
        history.events.lazy.compactMap { roundTrip(of: $0) }.first
    }

    /// P11 of states.
    func stateRoundTrip() -> Violation? {
        guard let codec = P.stateCodec else { return nil }
        for state in refolded.map(\.state) {
            for state in [state.confirmed, state.view] {
                if let violation = Self.roundTrip(of: state, codec) { return violation }
                if let flaw = (state as? any RowModel)?.rowFlaw { return flaw }
            }
        }
        return nil
    }

    private static func roundTrip(of state: P, _ codec: any StateCodec<P>) -> Violation? {
        let read: P
        do {
            let bytes = try codec.encode(state)
            read = try codec.decode(bytes.span.bytes)
        } catch {
            return Violation(
                .p11, "state unreadable",
                "The state codec cannot write and read \(StateText.inline(state)): \(error).")
        }
        if P.areSame(read, state) { return nil }
        return Violation(
            .p11, "state", "The state codec writes one state and reads another.",
            expected: ("the state", state), found: ("as it was read", read))
    }

    private static func roundTrip(of event: P.Event) -> Violation? {
        let codec = P.codec
        let bytes: [UInt8]
        let read: P.Event
        do {
            bytes = try codec.encode(event)
            read = try codec.decode(bytes.span.bytes, format: codec.format)
        } catch {
            return Violation(
                .p11, "event unreadable",
                "The codec cannot write and read \(StateText.inline(event)): \(error).")
        }
        if !areSame(event, read) {
            return Violation(
                .p11, "event", "The codec writes one event and reads another.",
                comparing: Violation.Comparison(
                    expectedName: "the event", expected: StateText(event),
                    foundName: "as it was read", found: StateText(read)))
        }
        return nil
    }

    /// By `==` where events have one, else by their properties.
    private static func areSame(_ a: P.Event, _ b: P.Event) -> Bool {
        if let a = a as? any Equatable { return isEqual(a, b) }
        return StateText(a) == StateText(b)
    }

    private static func isEqual<E: Equatable>(_ a: E, _ b: P.Event) -> Bool {
        guard let b = b as? E else { return false }
        return a == b
    }

    /// P12: what the lists say, and what is said of each intent.
    func noIntentIsLost() -> Violation? {
        var recorded = 0
        for (index, passage) in passages.enumerated() {
            if case .recorded = passage.outcome { recorded += 1 }
            let sight = passage.sight
            func numbers(_ state: IntentState) -> [IntentNumber] {
                sight.states.indices.filter { sight.states[$0] == state }
                    .map { IntentNumber(UInt64($0 + 1)) }
            }
            let overlay = Set(sight.pending + sight.accepted)
            let isWhole =
                sight.states.count == recorded && numbers(.pending) == sight.pending
                && numbers(.accepted) == sight.accepted
                && Set(sight.rejections).isSubset(of: numbers(.rejected))
                && Set(sight.conflicted).isSubset(of: overlay)
            guard !isWhole else { continue }
            return Violation(
                .p12, "states",
                "Behind \(named(index)) \(recorded) intents were recorded; their states are "
                    + "\(sight.states.map(\.rawValue)), pending are \(sight.pending), accepted "
                    + "\(sight.accepted), conflicted \(sight.conflicted).")
        }
        return nil
    }

    /// P13: ids are unique, and what an intent makes keeps its ids on every base.
    ///
    /// Events that share an origin are left out: several of one intent, or of one position, have one
    /// context, and what they make is told apart by the app (F12). Making fewer items, or those that
    /// another event made before, is no renaming: an event that sets two finds one of them there on
    /// another base.
    func itemIDsStay(_ ids: ItemIDs<P>) -> Violation? {
        var made: [IntentID: Making] = [:]
        for (index, refolded) in refolded.enumerated() {
            let foldings = refolded.state.foldings
            let origins = foldings.map(\.context.origin)
            guard Set(origins).count == origins.count else { continue }
            for state in [refolded.state.view, refolded.state.confirmed] {
                let all = ids.of(state).sorted()
                guard let twice = zip(all, all.dropFirst()).first(where: { $0 == $1 })?.0 else {
                    continue
                }
                return Violation(
                    .p13, "twice",
                    "Behind \(named(index)) two items have the same id, \(twice): make ids of "
                        + "context.id().")
            }
            for folding in foldings {
                guard case .intent(let id) = folding.context.origin else { continue }
                guard let bytes = try? P.codec.encode(folding.event) else { continue }
                let base = Set(ids.of(folding.before))
                let new = Making(
                    event: bytes, base: base, ids: Set(ids.of(folding.after)).subtracting(base))
                guard !new.ids.isEmpty else { continue }
                if let before = made[id], before.event == bytes, new.renames(before) {
                    return Violation(
                        .p13, "renamed",
                        "Behind \(named(index)) what intent \(id.number) made has other ids than before, "
                            + "\(StateText.inline(new.ids)) instead of \(StateText.inline(before.ids)): "
                            + "make ids of context.id().")
                }
                made[id] = new
            }
        }
        return nil
    }

    /// The ids that an event brought to a base.
    private struct Making {
        let event: [UInt8]
        let base: Set<ItemIDs<P>.ID>
        let ids: Set<ItemIDs<P>.ID>

        func renames(_ before: Making) -> Bool {
            if ids.isSubset(of: before.ids) || before.ids.isSubset(of: ids) { return false }
            return !before.ids.subtracting(ids).isSubset(of: base)
                || !ids.subtracting(before.ids).isSubset(of: before.base)
        }
    }
}

/// How a projection's items are told apart, for P13.
public struct ItemIDs<P: Projection>: Sendable {
    /// An id of any type, by its text.
    typealias ID = String

    let of: @Sendable (P) -> [ID]

    /// - Parameter ids: the ids of all items of a state.
    public init<IDs: Sequence & SendableMetatype>(_ ids: @escaping @Sendable (P) -> IDs)
    where IDs.Element: Hashable & SendableMetatype {
        of = { state in ids(state).map { StateText.inline($0, lengthMax: .max) } }
    }

    /// - Parameter path: to the ids of all items of a state, like `\.items.keys`.
    public init<IDs: Sequence & SendableMetatype>(_ path: KeyPath<P, IDs> & Sendable)
    where IDs.Element: Hashable & SendableMetatype {
        self.init { state in state[keyPath: path] }
    }
}
