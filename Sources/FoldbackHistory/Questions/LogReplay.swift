import Foldback

/// A log's entries in order, with the states that a store showed after each of them. A replay
/// starts at any sequence and runs forward.
///
/// ```swift
/// var replay = try LogReader(at: directory).replay(Likes.self)
/// while let entry = try replay.next() {
///     print(entry.sequence, replay.snapshot.view.counts)
/// }
/// ```
///
/// The projection may differ from the projection that the log was written with, if the events are
/// the same. A replay writes nothing (L9), and holds a few hundred entries in memory at a time.
public struct LogReplay<P: Projection>: Sendable {
    private var fold: ReplayedFold
    private var seen: Snapshot<P>?

    init(
        _ log: any LogStorage, also: [AdditionalProjection<P.Event>], from sequence: LogSequence
    ) throws(LogError) {
        fold = try ReplayedFold(log, P.self, also: also, from: sequence)
    }

    /// The states after the last entry that was applied.
    ///
    /// - Complexity: O(1). If a snapshot is kept while the replay continues, the next entry copies
    ///   what it changes.
    public var snapshot: Snapshot<P> {
        mutating get {
            if let seen { return seen }
            let now = Snapshot<P>(fold.published(), 0)
            seen = now
            return now
        }
    }

    /// The sequence of the last entry that was applied; 0 is before the first entry.
    public var sequence: LogSequence { fold.sequence }

    /// Applies the next entry and returns it; nil at the end. There may be more entries later if a
    /// store has the log open.
    ///
    /// - Complexity: the same as recording or applying the entry in the store.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`; `.lacksProjections` if the
    ///   state after the entry needs a projection that was not given. The replay stays at its
    ///   sequence.
    public mutating func next() throws(LogError) -> LogEntry<P.Event>? {
        try nextRecord().map { LogEntry($0) }
    }

    /// Applies the next entry, for passes that need few entries as ``/Foldback/LogEntry``.
    mutating func nextRecord() throws(LogError) -> Record? {
        // Without this reference the fold changes its states in place, unless the caller kept a
        // snapshot.
        seen = nil
        return try fold.next()
    }

    /// Makes ``touched`` track the places that each later entry touches.
    mutating func startTracking() { fold.startTracking() }

    /// Makes ``touched`` mean any place again, at no cost.
    mutating func stopTracking() { fold.stopTracking() }

    /// The places that the last entry may have changed; tracked only after ``startTracking()``.
    ///
    /// - Complexity: as ``TouchedEvents/places(in:)``.
    var touched: TouchedPlaces { fold.touched.places(in: P.self) }

    /// The events that the last entry applied to confirmed state, in order.
    var confirmedEvents: [Folded] { fold.effects?.fold.confirm ?? [] }

    /// The intents that the last entry took out of the overlay or brought back into it.
    var moved: [IntentNumber] {
        fold.effects.map { $0.fold.removed + $0.reopened } ?? []
    }

    /// Whether the last entry made a part of the overlay fold again.
    var hasRefolded: Bool { fold.effects?.fold.view.isRefold ?? false }

    /// Returns the state of an intent in the overlay; nil if the intent is not there.
    func state(of number: IntentNumber) -> IntentState? { fold.overlay[number]?.state }
}

extension ViewChange {
    fileprivate var isRefold: Bool {
        switch self {
        case .unchanged, .apply: false
        case .rollBack, .replace, .rebase: true
        }
    }
}

extension LogReader {
    /// Returns a replay that starts after entry `sequence`; 0 is before the first entry, and nil is where
    /// the log begins: also 0, or at the base of a compacted log.
    ///
    /// - Parameters:
    ///   - projection: the projection whose states are seen.
    ///   - also: the log's other projections. Those that share conflicts with it
    ///     (``/Foldback/ConflictPolicy``) are folded too.
    ///   - sequence: the entry after which the replay starts.
    /// - Complexity: folds the entries from the nearest checkpoint up to `sequence`; from the first
    ///   entry if a stored projection shares conflicts.
    /// - Throws: `.beyondEnd`, `.damaged`, `.newerFormat`, `.closed`, `.storage`;
    ///   `.lacksProjections` if one that shares conflicts is not given.
    public func replay<P: Projection>(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        from sequence: LogSequence? = nil
    ) throws(LogError) -> LogReplay<P> {
        try LogReplay(log, also: also, from: sequence ?? log.baseSequence)
    }

    /// Returns what a store with this projection showed after entry `sequence`; 0 is before the
    /// first entry (F11).
    ///
    /// - Complexity: as ``replay(_:also:from:)``.
    /// - Throws: as ``replay(_:also:from:)``.
    public func snapshot<P: Projection>(
        of projection: P.Type, also: [AdditionalProjection<P.Event>] = [], at sequence: LogSequence
    ) throws(LogError) -> Snapshot<P> {
        var replay = try replay(projection, also: also, from: sequence)
        return replay.snapshot
    }

    /// Returns a function from an intent's number to its present state. The function returns nil
    /// for an intent that was never recorded.
    ///
    /// - Complexity: reads the newest checkpoint and the entries after it; then one look-up for
    ///   each intent.
    package func states() throws(LogError)
        -> @Sendable (IntentNumber) throws(LogError) -> IntentState?
    {
        let (fold, _) = try LogFold.folded(log, codec: RawCodec())
        let overlay = fold.state.overlay
        return { @Sendable number throws(LogError) in
            if let state = overlay[number]?.state { return state }
            return try self.settlement(of: number)
        }
    }

    /// Returns the state of an intent that is not in the overlay; nil if it was never recorded.
    func settlement(of number: IntentNumber) throws(LogError) -> IntentState? {
        try settlementRow(of: number)?.settlement?.state
    }

    /// Returns the entries that recorded and last settled an intent; nil if it was never settled.
    ///
    /// - Complexity: one look-up.
    package func settledEntries(
        of number: IntentNumber
    ) throws(LogError) -> (recorded: LogSequence, settled: LogSequence)? {
        try settlementRow(of: number).map { ($0.intentSequence, $0.settlementSequence) }
    }

    /// Returns the entries that recorded the intents of the overlay.
    ///
    /// - Complexity: reads the newest checkpoint and the entries after it.
    package func overlayRecordings() throws(LogError) -> [IntentNumber: LogSequence] {
        let (fold, _) = try LogFold.folded(log, codec: RawCodec())
        var places: [IntentNumber: LogSequence] = [:]
        for (number, intent) in fold.state.overlay { places[number] = intent.recorded.sequence }
        return places
    }

    private func settlementRow(of number: IntentNumber) throws(LogError) -> SettlementRow? {
        guard let bytes = try log.settlement(of: number) else { return nil }
        do throws(FormatError) {
            return try SettlementRow(decoding: bytes, for: number)
        } catch {
            throw LogError(
                error, at: "\(log.path), table verdicts, intent \(number)", sequence: nil)
        }
    }

    /// Applies the whole log to a fold, without publishing its states.
    package func fold<Event: Sendable>(
        _ fold: inout LogFold, reading codec: any EventCodec<Event>
    ) throws(LogError) { try fold.replay(log, codec: AppCodec(codec: codec)) }

    package var kind: LogKind { log.header.kind }
    package var replica: ReplicaID { log.header.replicas.current }

    /// The sequence of the last entry; 0 in an empty log.
    public func lastSequence() throws(LogError) -> LogSequence {
        LogSequence(UInt64(try log.recordCount()))
    }
}

extension LogEntry {
    /// Returns whether the entry records, retries, replaces, undoes, answers or names the intent.
    func concerns(_ intent: IntentID) -> Bool {
        intentNumbers.contains(intent.number) || origins.contains(intent)
    }
}
