import Foldback

/// An entry that changed the difference between two folds: one element of
/// ``RecordedHistory/divergences(of:in:also:)`` and ``LogReader/rerun(_:_:also:divergencesMax:)``.
public struct Divergence: Hashable, Sendable {
    /// The sequence of the entry; 0 is before the first entry.
    public let sequence: LogSequence
    /// Places of the view that now differ, or that are equal again. `old` is the value in the first
    /// fold and `new` the value in the second. At a place that is equal again both are the same.
    public let view: [JSONDifference]
    /// The same for confirmed state.
    public let confirmed: [JSONDifference]
    /// Overlay intents that became conflicted in only one of the two folds. New intents of a branch
    /// are not listed.
    public let conflicts: [IntentNumber]
    /// Overlay intents that are no longer conflicted in only one of the two folds.
    public let conflictsEnded: [IntentNumber]

    /// Whether the difference did not change.
    public var isNone: Bool {
        view.isEmpty && confirmed.isEmpty && conflicts.isEmpty && conflictsEnded.isEmpty
    }
}

/// How the difference between two folds changed entry by entry, and the difference at the end.
public struct Divergences: Hashable, Sendable {
    /// One element for each entry that changed the difference.
    public let entries: [Divergence]
    /// Everything that differs at the end.
    public let end: Divergence
}

/// The present difference between two folds, updated place by place.
struct DifferenceTracker {
    private var view = StateDifferences()
    private var confirmed = StateDifferences()
    private var conflicts: Set<IntentNumber> = []

    /// Compares the two states again at the places that may have changed.
    ///
    /// - Parameters:
    ///   - touched: the places that either fold may have changed.
    ///   - number: maps an intent's number in the second fold to its number in the first; nil if
    ///     the first fold has no such intent.
    /// - Returns: how the difference changed; nil if it did not.
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

    /// Whether the states differ in any place.
    var isStateDifferent: Bool { view.isDifferent || confirmed.isDifferent }
    /// Whether any intent is conflicted in only one of the two folds.
    var hasConflicts: Bool { !conflicts.isEmpty }

    /// Returns whether these differences are those of the whole states.
    ///
    /// - Complexity: O(n) in the states.
    func agrees<P: Projection, Q: Projection>(
        with old: Snapshot<P>, _ new: Snapshot<Q>
    ) -> Bool {
        view.agrees(with: old.view, new.view)
            && confirmed.agrees(with: old.confirmed, new.confirmed)
    }

    /// Returns everything that differs now.
    func whole(at sequence: LogSequence) -> Divergence {
        Divergence(
            sequence: sequence, view: view.whole, confirmed: confirmed.whole,
            conflicts: conflicts.sorted(), conflictsEnded: [])
    }
}

/// The difference in one of the two states: the view or confirmed state.
private struct StateDifferences {
    /// The differences by compared place, for places that differ. If the whole state was compared,
    /// each difference is under its own place.
    private var found: [JSONPointer: [JSONDifference]] = [:]
    /// The maximum number of names in a key of `found`.
    private var depthMax = 0

    var isDifferent: Bool { !found.isEmpty }

    var whole: [JSONDifference] { found.values.joined().sorted { $0.place < $1.place } }

    mutating func look(
        _ old: some Projection, _ new: some Projection, at places: Set<JSONPointer>
    ) -> [JSONDifference] {
        var changes: [JSONDifference] = []
        // In sorted order, a place comes before the places in it.
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

    /// Returns whether each known difference is still there, and each difference of the whole states
    /// is known.
    ///
    /// Where one state lacks a value that has several places, a comparison of the whole states finds
    /// a difference around these places.
    func agrees(with old: some Projection, _ new: some Projection) -> Bool {
        let known = whole
        let isValid = known.allSatisfy {
            old.shown(at: $0.place) == $0.old && new.shown(at: $0.place) == $0.new
        }
        guard isValid else { return false }
        let places = Set(known.map(\.place))
        let around = Set(known.flatMap(\.place.outward))
        return JSON(describing: old).differences(to: JSON(describing: new)).allSatisfy {
            around.contains($0.place) || $0.place.outward.contains(where: places.contains)
        }
    }

    /// Returns the place around this place that was compared and differs, or this place if there is
    /// none.
    private func widened(_ place: JSONPointer) -> JSONPointer {
        guard !found.isEmpty else { return place }
        for count in 0..<place.names.count {
            let outer = JSONPointer(Array(place.names.prefix(count)))
            if found[outer] != nil { return outer }
        }
        return place
    }

    /// Stores the present differences at a place.
    ///
    /// - Returns: the previous differences at the place and at places in it.
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

extension JSONPointer {
    /// This place and all places around it.
    fileprivate var outward: [JSONPointer] {
        (0...names.count).map { JSONPointer(Array(names.prefix($0))) }
    }
}

extension RecordedHistory {
    /// Returns where the states of a branch differ from the states of this history, entry by entry.
    ///
    /// The states after each entry of this history are compared with the states of the branch after
    /// the entry that takes its place. After the last entry, the end states are compared.
    ///
    /// - Complexity: folds both. If ``TraceableProjection/places(touchedBy:_:)`` says what an
    ///   entry touches, only these places are compared. Else both states are compared as a whole
    ///   after each entry.
    /// - Throws: `.lacksProjections` if `also` lacks a projection that shares conflicts.
    public func divergences<P: Projection>(
        of branch: HistoryBranch<Event>, in projection: P.Type,
        also: [AdditionalProjection<Event>] = []
    ) throws(LogError) -> Divergences where P.Event == Event {
        var differing = DifferenceTracker()
        var found: [Divergence] = []
        var others = try branch.history.snapshots(of: projection, also: also)
        var other = try snapshot(of: projection, also: also, at: 0)
        var own = try snapshots(of: projection, also: also)
        own.startTracking()
        others.startTracking()
        var last = other
        let places = branch.places
        let end = sequences.last
        var taken = 0
        while let snapshot = own.next() {
            var touched = own.touched
            // New entries of the branch after this one are compared with the next entry. At the
            // last entry, all remaining entries of the branch are compared.
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
        // Entries remain only if this history has none.
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
    /// For each place of the original history that has an entry in the branch: the number of
    /// entries of the branch before that entry.
    fileprivate var places: [LogSequence: Int] {
        var places: [LogSequence: Int] = [:]
        for (place, sequence) in history.sequences.enumerated() {
            if let slot = slots[sequence] { places[slot] = place }
        }
        return places
    }
}
