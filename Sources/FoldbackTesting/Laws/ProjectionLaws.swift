import Foldback
import FoldbackHistory

/// The laws about the projection's own functions, checked on the states of the script.
extension Trial {
    /// F9: `apply` throws before it changes the state.
    func throwsChangeNothing() -> Violation? {
        for folding in foldings {
            guard let wreck = folding.wreck, let failure = folding.failure else { continue }
            if P.areSame(wreck, folding.before) { continue }
            return Violation(
                .f9, "changed",
                "apply changed the state and then threw (\(failure)) for \(StateText.inline(folding.event)).",
                expected: ("before", folding.before), found: ("after the throw", wreck))
        }
        return nil
    }

    /// P9: every two neighboring events of a fold, and the places of every event.
    func disjointKeysCommute() -> Violation? {
        if let violation = changeOutsideOfPlaces() { return violation }
        for state in modelSteps.map(\.state) {
            for (first, second) in zip(state.foldings, state.foldings.dropFirst())
            where Self.areDisjoint(first, second) {
                let there = Self.applied([first, second], to: first.before)
                let back = Self.applied([second, first], to: first.before)
                guard !P.areSame(there, back) else { continue }
                let a = StateText.inline(first.event, lengthMax: 200)
                let b = StateText.inline(second.event, lengthMax: 200)
                return Violation(
                    .p9, "order", "\(a) and \(b) touch no common key, but their order matters.",
                    expected: ("\(a) first", there), found: ("\(b) first", back))
            }
        }
        return nil
    }

    /// P17: each confirmed event of the script.
    func sameEventsAreRefused() -> Violation? {
        guard let disputed = modelSteps.lazy.compactMap(\.state.disputed).first else { return nil }
        return Violation(
            .p17, "refused",
            "\(StateText.inline(disputed.event)) is confirmed. \(disputed.refusing) refuses it, and "
                + "\(disputed.applying) applies it, so their states disagree about it.")
    }

    private func changeOutsideOfPlaces() -> Violation? {
        for folding in foldings where folding.failure == nil {
            guard let places = P.tracedPlaces(of: folding.event, folding.context) else { continue }
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
                expected: ("before", folding.before), found: ("after", folding.after))
        }
        return nil
    }

    private static func keys(of folding: ReferenceLog<P>.Folding) -> Set<P.Key> {
        Set(P.keys(touchedBy: folding.event, folding.context))
    }

    /// By the declared keys, or for rows, by the keys that were noted while the events were
    /// applied.
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
    static func eventRoundTrip(_ script: Script<P.Event>) -> Violation? {
        script.events.lazy.compactMap { roundTrip(of: $0) }.first
    }

    /// P11 of states.
    func stateRoundTrip() -> Violation? {
        guard let codec = P.stateCodec else { return nil }
        for state in modelSteps.map(\.state) {
            for state in [state.confirmed, state.view] {
                if let violation = Self.roundTrip(of: state, codec) { return violation }
                if let flaw = (state as? any RowCodecChecked)?.rowFlaw { return flaw }
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
                "The state codec cannot write or read \(StateText.inline(state)): \(error).")
        }
        if P.areSame(read, state) { return nil }
        return Violation(
            .p11, "state", "The state codec reads another state than it wrote.",
            expected: ("written", state), found: ("read", read))
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
                "The codec cannot write or read \(StateText.inline(event)): \(error).")
        }
        if !areSame(event, read) {
            return Violation(
                .p11, "event", "The codec reads another event than it wrote.",
                comparing: Violation.Comparison(
                    expectedName: "written", expected: StateText(event),
                    foundName: "read", found: StateText(read)))
        }
        return nil
    }

    /// By `==` if events have it, else by their properties.
    private static func areSame(_ a: P.Event, _ b: P.Event) -> Bool {
        if let a = a as? any Equatable { return isEqual(a, b) }
        return StateText(a) == StateText(b)
    }

    private static func isEqual<E: Equatable>(_ a: E, _ b: P.Event) -> Bool {
        guard let b = b as? E else { return false }
        return a == b
    }

    /// P12: the lists and the state of each intent agree.
    func noIntentIsLost() -> Violation? {
        var recorded = 0
        for (index, logStep) in logSteps.enumerated() {
            recorded += logStep.result?.recorded.count ?? 0
            let log = logStep.observation
            func numbers(_ state: IntentState) -> [IntentNumber] {
                log.states.indices.filter { log.states[$0] == state }
                    .map { IntentNumber(UInt64($0 + 1)) }
            }
            let overlay = Set(log.pending + log.accepted)
            let agrees =
                log.states.count == recorded && numbers(.pending) == log.pending
                && numbers(.accepted) == log.accepted
                && Set(log.rejections).isSubset(of: numbers(.rejected))
                && Set(log.conflicted).isSubset(of: overlay)
            guard !agrees else { continue }
            return Violation(
                .p12, "states",
                "After \(named(index)) \(recorded) intents were recorded. Their states are "
                    + "\(log.states.map(\.rawValue)), pending are \(log.pending), accepted "
                    + "\(log.accepted), conflicted \(log.conflicted).")
        }
        return nil
    }

    /// P13: ids are unique, and the items of an intent keep their ids on every base.
    ///
    /// It skips states in which events share an origin: several events of one intent or position
    /// have one context, and the app tells their items apart (F12). An event may make fewer items
    /// on another base, or other items, if the base already has the missing items: that does not
    /// rename them.
    func itemIDsStay(_ ids: ItemIDs<P>) -> Violation? {
        var items: [IntentID: NewItems] = [:]
        for (index, modelStep) in modelSteps.enumerated() {
            let foldings = modelStep.state.foldings
            let origins = foldings.map(\.context.origin)
            guard Set(origins).count == origins.count else { continue }
            for state in [modelStep.state.view, modelStep.state.confirmed] {
                let all = ids.of(state).sorted()
                guard let duplicate = zip(all, all.dropFirst()).first(where: { $0 == $1 })?.0 else {
                    continue
                }
                return Violation(
                    .p13, "twice",
                    "After \(named(index)) two items have the same id, \(duplicate). Make ids with "
                        + "context.id().")
            }
            for folding in foldings {
                guard case .intent(let id) = folding.context.origin else { continue }
                guard let bytes = try? P.codec.encode(folding.event) else { continue }
                let base = Set(ids.of(folding.before))
                let new = NewItems(
                    event: bytes, base: base, ids: Set(ids.of(folding.after)).subtracting(base))
                guard !new.ids.isEmpty else { continue }
                if let before = items[id], before.event == bytes, new.renames(before) {
                    return Violation(
                        .p13, "renamed",
                        "After \(named(index)) the items of intent \(id.number) have other ids than before, "
                            + "\(StateText.inline(new.ids)) instead of \(StateText.inline(before.ids)). "
                            + "Make ids with context.id().")
                }
                items[id] = new
            }
        }
        return nil
    }

    /// The ids of the items that an event added to a base.
    private struct NewItems {
        let event: [UInt8]
        let base: Set<ItemIDs<P>.ID>
        let ids: Set<ItemIDs<P>.ID>

        func renames(_ before: NewItems) -> Bool {
            if ids.isSubset(of: before.ids) || before.ids.isSubset(of: ids) { return false }
            return !before.ids.subtracting(ids).isSubset(of: base)
                || !ids.subtracting(before.ids).isSubset(of: before.base)
        }
    }
}

/// The ids of a projection's items, for P13.
public struct ItemIDs<P: Projection>: Sendable {
    /// The text of an id of any type.
    typealias ID = String

    let of: @Sendable (P) -> [ID]

    /// - Parameter ids: returns the ids of all items of a state.
    public init<IDs: Sequence & SendableMetatype>(_ ids: @escaping @Sendable (P) -> IDs)
    where IDs.Element: Hashable & SendableMetatype {
        of = { state in ids(state).map { StateText.inline($0, lengthMax: .max) } }
    }

    /// - Parameter path: the path to the ids of all items of a state, like `\.items.keys`.
    public init<IDs: Sequence & SendableMetatype>(_ path: KeyPath<P, IDs> & Sendable)
    where IDs.Element: Hashable & SendableMetatype {
        self.init { state in state[keyPath: path] }
    }
}
