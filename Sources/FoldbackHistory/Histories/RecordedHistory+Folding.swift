import Foldback

/// What a history means. Nothing here throws but for a sequence beyond the end.
extension RecordedHistory {
    /// The states behind the last entry.
    ///
    /// - Complexity: one `apply` for each confirmed event, and for each intent in the overlay.
    public func snapshot<P: Projection>(of projection: P.Type) -> Snapshot<P>
    where P.Event == Event {
        snapshot(of: projection, behind: records)
    }

    /// The states behind the last entry up to `sequence`; 0 is before the first (F11).
    ///
    /// - Complexity: as ``snapshot(of:)``, up to there.
    /// - Throws: `.beyondEnd`.
    public func snapshot<P: Projection>(
        of projection: P.Type, at sequence: LogSequence
    ) throws(FoldbackError) -> Snapshot<P> where P.Event == Event {
        let last = records.last?.stamp.sequence ?? 0
        guard sequence <= last else { throw .beyondEnd(sequence, last: last) }
        return snapshot(
            of: projection, behind: records.prefix { $0.stamp.sequence <= sequence })
    }

    /// The states behind each entry, in order, in one pass over the history.
    ///
    /// - Complexity: to the next: what it costs a store to record or take the entry.
    public func snapshots<P: Projection>(of projection: P.Type) -> HistorySnapshots<P>
    where P.Event == Event {
        HistorySnapshots(records, fold: fold(of: projection))
    }

    private func fold<P: Projection>(of _: P.Type) -> HistoryFold {
        HistoryFold(kind: kind, replica: replica, folds: [Fold<P>()])
    }

    private func snapshot<P: Projection>(
        of projection: P.Type, behind records: some Sequence<Record>
    ) -> Snapshot<P> {
        var fold = fold(of: projection)
        for record in records { fold.append(record) }
        return Snapshot(fold.makePublishedState(), 0)
    }
}

/// The states of a projection behind each entry of a history: see ``RecordedHistory/snapshots(of:)``.
public struct HistorySnapshots<P: Projection>: Sequence, IteratorProtocol, Sendable {
    private var records: ArraySlice<Record>
    private var fold: HistoryFold
    private var places: PlaceTracker<P>?
    /// Places that the last entry may have changed, behind ``noteTouched()``.
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

    /// From now on ``touched`` says what each entry touches.
    mutating func noteTouched() { places = PlaceTracker(fold.overlay) }

    public var underestimatedCount: Int { records.count }
}
