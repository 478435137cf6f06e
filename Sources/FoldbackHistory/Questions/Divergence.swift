import Foldback

/// An entry behind which two states differ otherwise than before it: one line of
/// ``RecordedHistory/divergences(of:in:)`` and ``LogReader/rerun(_:_:divergencesMax:)``.
public struct Divergence: Hashable, Sendable {
    /// Behind which entry; 0: before the first.
    public let sequence: LogSequence
    /// Places of the view that came to differ, from what was to what is instead, or that are the same again: then
    /// both have one value.
    public let view: [JSONDifference]
    /// The same of confirmed state.
    public let confirmed: [JSONDifference]
    /// Overlay intents that came to be conflicted in one of the two only; of a branch, none that are new in it.
    public let conflicts: [IntentNumber]
    /// Those that no longer are.
    public let conflictsEnded: [IntentNumber]

    /// Whether there is nothing.
    public var isNone: Bool {
        view.isEmpty && confirmed.isEmpty && conflicts.isEmpty && conflictsEnded.isEmpty
    }
}

/// How two folds of the same events came to differ, and how they ended.
public struct Divergences: Hashable, Sendable {
    /// What each entry brought, those left out behind which nothing changed.
    public let entries: [Divergence]
    /// All that differs in the end.
    public let end: Divergence
}

/// In what two folds differ, kept up to date place by place.
struct DifferenceTracker {
    private var view = StateDifferences()
    private var confirmed = StateDifferences()
    private var conflicts: Set<IntentNumber> = []

    /// Looks again where the two may have changed.
    ///
    /// - Parameters:
    ///   - touched: by either.
    ///   - number: the first one's number of an intent of the second; nil: it has no such intent.
    /// - Returns: what differs otherwise now; nil: nothing.
    mutating func look<P: Projection, Q: Projection>(
        _ old: Snapshot<P>, _ new: Snapshot<Q>, at touched: TouchedPlaces,
        _ number: (IntentNumber) -> IntentNumber? = { $0 }
    ) -> Divergence? {
        let conflicts = Set(old.conflicted).symmetricDifference(
            new.conflicted.compactMap(number))
        let whole: Set = [JSONPointer([])]
        let divergence = Divergence(
            sequence: old.sequence, view: view.look(old.view, new.view, at: touched.view ?? whole),
            confirmed: confirmed.look(
                old.confirmed, new.confirmed, at: touched.confirmed ?? whole),
            conflicts: conflicts.subtracting(self.conflicts).sorted(),
            conflictsEnded: self.conflicts.subtracting(conflicts).sorted())
        self.conflicts = conflicts
        return divergence.isNone ? nil : divergence
    }

    func whole(at sequence: LogSequence) -> Divergence {
        Divergence(
            sequence: sequence, view: view.whole, confirmed: confirmed.whole,
            conflicts: conflicts.sorted(), conflictsEnded: [])
    }
}

/// The same of one of the two states.
private struct StateDifferences {
    /// By the place that was looked at, where there are any; each by its own where the whole was.
    private var found: [JSONPointer: [JSONDifference]] = [:]
    /// How many names a place in `found` has at most.
    private var depthMax = 0

    var whole: [JSONDifference] { found.values.joined().sorted { $0.place < $1.place } }

    mutating func look(
        _ old: some Projection, _ new: some Projection, at places: Set<JSONPointer>
    ) -> [JSONDifference] {
        var changes: [JSONDifference] = []
        // What is around comes before what is in it.
        for place in places.sorted() {
            let place = widened(place)
            var differences: [JSONDifference] = []
            JSON.compare(old.shown(at: place), new.shown(at: place), at: place, &differences)
            let before = replace(differences, at: place)
            changes += differences.filter { !before.contains($0) }
            for gone in before
            where !differences.contains(where: { $0.place.overlaps(gone.place) }) {
                let value = new.shown(at: gone.place)
                changes.append(JSONDifference(place: gone.place, old: value, new: value))
            }
        }
        return changes.sorted { $0.place < $1.place }
    }

    /// The place around it that was looked at and differs, if there is one.
    private func widened(_ place: JSONPointer) -> JSONPointer {
        guard !found.isEmpty else { return place }
        for count in 0..<place.names.count {
            let outer = JSONPointer(Array(place.names.prefix(count)))
            if found[outer] != nil { return outer }
        }
        return place
    }

    /// - Returns: what was found there, and at places within.
    private mutating func replace(
        _ differences: [JSONDifference], at place: JSONPointer
    ) -> [JSONDifference] {
        var before = found.removeValue(forKey: place) ?? []
        if depthMax > place.names.count {
            for inner in found.keys where inner.names.starts(with: place.names) {
                before += found.removeValue(forKey: inner) ?? []
            }
        }
        if place.names.isEmpty {
            for difference in differences { add([difference], at: difference.place) }
        } else if !differences.isEmpty {
            add(differences, at: place)
        }
        return before
    }

    private mutating func add(_ differences: [JSONDifference], at place: JSONPointer) {
        found[place] = differences
        depthMax = max(depthMax, place.names.count)
    }
}

extension RecordedHistory {
    /// Where a branch of this history shows something else, entry by entry: behind each entry of this history,
    /// what the branch shows once it has had what stands in that one's place. Behind the last both have come to their ends.
    ///
    /// - Complexity: folds both; looks at what an entry touched where ``Projection/places(touchedBy:_:)`` says so,
    ///   otherwise at each state whole.
    public func divergences<P: Projection>(
        of branch: HistoryBranch<Event>, in projection: P.Type
    ) -> Divergences where P.Event == Event {
        var differing = DifferenceTracker()
        var found: [Divergence] = []
        var others = branch.history.snapshots(of: projection)
        var other = following([]).snapshot(of: projection)
        var own = snapshots(of: projection)
        own.noteTouched()
        others.noteTouched()
        var last = other
        let places = branch.places
        let end = sequences.last
        var taken = 0
        while let snapshot = own.next() {
            var touched = own.touched
            // New entries behind this one belong to the next; behind the last there is none.
            let place = snapshot.sequence == end ? .max : places[snapshot.sequence] ?? -1
            while taken <= place, let next = others.next() {
                other = next
                touched.unite(others.touched)
                taken += 1
            }
            if let divergence = differing.look(snapshot, other, at: touched, { branch.intents[$0] })
            {
                found.append(divergence)
            }
            last = snapshot
        }
        // Only where this history has no entry.
        while let next = others.next() { other = next }
        if end == nil,
            let divergence = differing.look(last, other, at: .anything, { branch.intents[$0] })
        {
            found.append(divergence)
        }
        return Divergences(entries: found, end: differing.whole(at: last.sequence))
    }
}

extension HistoryBranch {
    /// Of each place of the history it was made of where an entry stands: how many come before that one.
    fileprivate var places: [LogSequence: Int] {
        var places: [LogSequence: Int] = [:]
        for (place, sequence) in history.sequences.enumerated() {
            if let slot = slots[sequence] { places[slot] = place }
        }
        return places
    }
}
