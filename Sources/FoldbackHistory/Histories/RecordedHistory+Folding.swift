import Foldback

/// The states of a history. If the log's projections shared their conflicts
/// (``/Foldback/ConflictPolicy``), all of them are folded.
extension RecordedHistory {
    /// Returns the states after the last entry.
    ///
    /// - Parameters:
    ///   - projection: the projection whose states are returned.
    ///   - also: the log's other projections. Only those that share conflicts with it are folded.
    /// - Complexity: one `apply` for each confirmed event, and for each intent in the overlay. The
    ///   same for each projection that shares conflicts.
    /// - Throws: `.lacksProjections` if one that shares conflicts is not given.
    public func snapshot<P: Projection>(
        of projection: P.Type, also: [AdditionalProjection<Event>] = []
    ) throws(LogError) -> Snapshot<P> where P.Event == Event {
        try snapshot(of: projection, also, after: records, at: sequences.last ?? 0)
    }

    /// Returns the states after the last entry up to `sequence`; 0 is before the first entry (F11).
    ///
    /// - Complexity: as ``snapshot(of:also:)``, for the entries up to `sequence`.
    /// - Throws: `.beyondEnd`; as ``snapshot(of:also:)``.
    public func snapshot<P: Projection>(
        of projection: P.Type, also: [AdditionalProjection<Event>] = [], at sequence: LogSequence
    ) throws(LogError) -> Snapshot<P> where P.Event == Event {
        let last = records.last?.stamp.sequence ?? 0
        guard sequence <= last else { throw .beyondEnd(sequence, last: last) }
        return try snapshot(
            of: projection, also, after: records.prefix { $0.stamp.sequence <= sequence },
            at: sequence)
    }

    /// Returns the states after each entry, in order, in one pass over the history.
    ///
    /// - Complexity: each step costs the same as recording or applying the entry in a store.
    /// - Throws: as ``snapshot(of:also:)``, if any of the states needs a projection that is not
    ///   given.
    public func snapshots<P: Projection>(
        of projection: P.Type, also: [AdditionalProjection<Event>] = []
    ) throws(LogError) -> HistorySnapshots<P> where P.Event == Event {
        let fold = fold(of: projection, also, from: 0)
        let last = records.last?.stamp.sequence ?? 0
        for period in shared.periods where period.start <= last {
            try fold.requireShared(with: P.memberName, at: period.start)
        }
        return HistorySnapshots(records, fold: fold.fold)
    }

    private func snapshot<P: Projection>(
        of projection: P.Type, _ also: [AdditionalProjection<Event>],
        after records: some Sequence<Record>, at sequence: LogSequence
    ) throws(LogError) -> Snapshot<P> where P.Event == Event {
        let sharing = fold(of: projection, also, from: sequence)
        try sharing.requireShared(with: P.memberName, at: sequence)
        var fold = sharing.fold
        for record in records { fold.append(record) }
        fold.share(asAt: sequence)
        return Snapshot(fold.makePublishedState(), 0)
    }

    private func fold<P: Projection>(
        of projection: P.Type, _ also: [AdditionalProjection<Event>], from start: LogSequence
    ) -> SharingFold where P.Event == Event {
        let others = ProjectionSet(also).sharing(with: P.memberName, shared, from: start)
        let projections = ProjectionSet(members: [.init(Fold<P>())] + others.members)
        return SharingFold(
            fold: HistoryFold(
                kind: kind, replica: replica, projections, sharing: shared),
            names: projections.names, shared: shared)
    }
}

/// The fold of a projection and of those that share conflicts with it.
private struct SharingFold {
    let fold: HistoryFold
    /// The names of the projections that are folded.
    let names: Set<ExactString>
    let shared: SharedConflicts

    func requireShared(
        with name: ExactString, at sequence: LogSequence
    ) throws(LogError) {
        guard shared.members(at: sequence).contains(where: { $0.name == name }) else { return }
        try shared.require(names, at: sequence, path: "(a history)")
    }
}

/// The states of a projection after each entry of a history: see
/// ``RecordedHistory/snapshots(of:also:)``.
public struct HistorySnapshots<P: Projection>: Sequence, IteratorProtocol, Sendable {
    private var records: ArraySlice<Record>
    private var fold: HistoryFold
    private var tracker: TouchTracker?
    private var touchedEvents = TouchedEvents.anything

    init(_ records: [Record], fold: HistoryFold) {
        self.records = records[...]
        self.fold = fold
    }

    public mutating func next() -> Snapshot<P>? {
        guard let record = records.popFirst() else { return nil }
        return take(record)
    }

    /// Applies a record that ``following(_:)`` returned, in place of the next one.
    mutating func take(_ record: Record) -> Snapshot<P> {
        let before = fold.sequence
        let plan = fold.append(record)
        touchedEvents = tracker?.take(plan, fold.overlay, (before, fold.sequence)) ?? .anything
        return snapshot
    }

    /// Returns a record as a log would append it here; nil if it does not follow.
    func following(_ record: Record) -> Record? { fold.following(record) }

    /// The number of intents in the overlay.
    var openCount: Int { fold.overlay.count }

    /// Whether an intent is in the overlay.
    func isOpen(_ number: IntentNumber) -> Bool { fold.overlay[number] != nil }

    /// The states after the last entry.
    var snapshot: Snapshot<P> { mutating get { Snapshot(fold.makePublishedState(), 0) } }

    /// Makes ``touched`` track the places that each later entry touches.
    mutating func startTracking() { tracker = fold.tracker }

    /// The places that the last entry may have changed; tracked only after ``startTracking()``.
    ///
    /// - Complexity: as ``TouchedEvents/places(in:)``.
    var touched: TouchedPlaces { touchedEvents.places(in: P.self) }

    public var underestimatedCount: Int { records.count }
}
