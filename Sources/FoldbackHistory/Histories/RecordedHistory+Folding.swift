import Foldback

/// The states of a history. Only a sequence beyond the end is an error.
extension RecordedHistory {
    /// Returns the states after the last entry.
    ///
    /// - Complexity: one `apply` for each confirmed event, and for each intent in the overlay.
    public func snapshot<P: Projection>(of projection: P.Type) -> Snapshot<P>
    where P.Event == Event {
        snapshot(of: projection, after: records)
    }

    /// Returns the states after the last entry up to `sequence`; 0 is before the first entry (F11).
    ///
    /// - Complexity: as ``snapshot(of:)``, for the entries up to `sequence`.
    /// - Throws: `.beyondEnd`.
    public func snapshot<P: Projection>(
        of projection: P.Type, at sequence: LogSequence
    ) throws(FoldbackError) -> Snapshot<P> where P.Event == Event {
        let last = records.last?.stamp.sequence ?? 0
        guard sequence <= last else { throw .beyondEnd(sequence, last: last) }
        return snapshot(
            of: projection, after: records.prefix { $0.stamp.sequence <= sequence })
    }

    /// Returns the states after each entry, in order, in one pass over the history.
    ///
    /// - Complexity: each step costs the same as recording or applying the entry in a store.
    public func snapshots<P: Projection>(of projection: P.Type) -> HistorySnapshots<P>
    where P.Event == Event {
        HistorySnapshots(records, fold: fold(of: projection))
    }

    private func fold<P: Projection>(of _: P.Type) -> HistoryFold {
        HistoryFold(kind: kind, replica: replica, folds: [Fold<P>()])
    }

    private func snapshot<P: Projection>(
        of projection: P.Type, after records: some Sequence<Record>
    ) -> Snapshot<P> {
        var fold = fold(of: projection)
        for record in records { fold.append(record) }
        return Snapshot(fold.makePublishedState(), 0)
    }
}

/// The states of a projection after each entry of a history: see
/// ``RecordedHistory/snapshots(of:)``.
public struct HistorySnapshots<P: Projection>: Sequence, IteratorProtocol, Sendable {
    private var records: ArraySlice<Record>
    private var fold: HistoryFold
    private var places: PlaceTracker<P>?
    /// Places that the last entry may have changed; tracked only after ``startTracking()``.
    private(set) var touched = TouchedPlaces()

    init(_ records: [Record], fold: HistoryFold) {
        self.records = records[...]
        self.fold = fold
    }

    public mutating func next() -> Snapshot<P>? {
        guard let record = records.popFirst() else { return nil }
        let plan = fold.append(record)
        touched = places?.take(plan, fold.overlay) ?? .anything
        return Snapshot(fold.makePublishedState(), 0)
    }

    /// Makes ``touched`` track the places that each later entry touches.
    mutating func startTracking() { places = PlaceTracker(fold.overlay) }

    public var underestimatedCount: Int { records.count }
}
