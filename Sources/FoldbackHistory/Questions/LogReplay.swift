import Foldback

/// A log's entries one after the other, with the states that a store showed behind each: from anywhere, forward.
///
/// ```swift
/// var replay = try LogReader(at: directory).replay(Likes.self)
/// while let entry = try replay.next() {
///     print(entry.sequence, replay.snapshot.view.counts)
/// }
/// ```
///
/// The projection may be another one than the log was written with, as long as it has the same events. Nothing is
/// written (L9), and a few hundred entries are in memory at a time.
public struct LogReplay<P: Projection>: Sendable {
    private let log: any LogStorage
    private let codec: any PayloadCodec
    private var fold: LogFold
    private var records: RecordReader
    private var seen: Snapshot<P>?
    private var places: PlaceTracker<P>?
    /// Places that the last entry may have changed, behind ``noteTouched()``.
    private(set) var touched = TouchedPlaces.anything

    init(_ log: any LogStorage, from sequence: LogSequence) throws(FoldbackError) {
        self.log = log
        codec = AppCodec(codec: P.codec)
        (fold, _) = try LogFold.folded(log, folds: [Fold<P>()], codec: codec, upTo: sequence)
        if fold.state.sequence < sequence {
            let last = LogSequence(UInt64(try log.recordCount()))
            guard log.hasGaps, sequence <= last else { throw .beyondEnd(sequence, last: last) }
        }
        records = RecordReader(log, behind: sequence)
    }

    /// What was seen behind the last entry.
    ///
    /// - Complexity: O(1). A snapshot that is kept while the replay goes on costs the next entry a copy of what it
    ///   changes.
    public var snapshot: Snapshot<P> {
        mutating get {
            if let seen { return seen }
            let now = Snapshot<P>(fold.makePublishedState(isKept: false), 0)
            seen = now
            return now
        }
    }

    /// The entry that it stands behind; 0 is before the first.
    public var sequence: LogSequence { fold.state.sequence }

    /// Takes in the next entry; nil at the end, behind which there may be more later while a store goes on.
    ///
    /// - Complexity: what it cost the store to record or take the entry.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`; the replay stands where it stood.
    public mutating func next() throws(FoldbackError) -> LogEntry<P.Event>? {
        try nextRecord().map { LogEntry($0) }
    }

    /// The same for passes that show few of the entries.
    mutating func nextRecord() throws(FoldbackError) -> Record? {
        guard let (sequence, bytes) = try records.next() else { return nil }
        // Nobody shares the states now, unless somebody kept a snapshot: they are changed where they are.
        seen = nil
        let (record, effects) = try fold.applyRecord(bytes, at: sequence, log, codec)
        touched = places?.take(effects.fold, fold.state.overlay) ?? .anything
        return record
    }

    /// From now on ``touched`` says what each entry touches.
    mutating func noteTouched() { places = PlaceTracker(fold.state.overlay) }
}

extension LogReader {
    /// Goes through the log from behind entry `sequence` on; 0 is before the first.
    ///
    /// - Complexity: folds what came after the nearest checkpoint before `sequence`.
    /// - Throws: `.beyondEnd`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func replay<P: Projection>(
        _: P.Type, from sequence: LogSequence = 0
    ) throws(FoldbackError) -> LogReplay<P> { try LogReplay(log, from: sequence) }

    /// What a store with this projection showed behind entry `sequence`; 0 is before the first (F11).
    ///
    /// - Complexity: as ``replay(_:from:)``.
    /// - Throws: as that.
    public func snapshot<P: Projection>(
        of projection: P.Type, at sequence: LogSequence
    ) throws(FoldbackError) -> Snapshot<P> {
        var replay = try replay(projection, from: sequence)
        return replay.snapshot
    }

    /// What has become of intents by now: a function that answers nil for one that was never recorded.
    ///
    /// - Complexity: reads the newest checkpoint and what came after it; then one look-up for each.
    package func states() throws(FoldbackError) -> (IntentNumber) throws(FoldbackError) ->
        IntentState?
    {
        let (fold, _) = try LogFold.folded(log, folds: [], codec: RawCodec())
        let overlay = fold.state.overlay
        return { number throws(FoldbackError) in
            if let standing = overlay[number]?.state { return standing }
            return try self.verdict(of: number)
        }
    }

    /// Of an intent that is not in the overlay; nil where it was never recorded.
    func verdict(of number: IntentNumber) throws(FoldbackError) -> IntentState? {
        guard let bytes = try log.verdict(of: number) else { return nil }
        do throws(FormatError) {
            return try SettlementRow(decoding: bytes, for: number).verdict?.state
        } catch {
            throw FoldbackError(
                error, at: "\(log.path), table verdicts, intent \(number)", sequence: nil)
        }
    }

    /// Takes the whole log into a fold, showing it to nobody.
    package func fold<Event: Sendable>(
        _ fold: inout LogFold, reading codec: any EventCodec<Event>
    ) throws(FoldbackError) { try fold.replay(log, codec: AppCodec(codec: codec)) }

    package var kind: LogKind { log.header.kind }
    package var replica: ReplicaID { log.header.replicas.current }

    /// The sequence of the last entry; 0 in an empty log.
    public func lastSequence() throws(FoldbackError) -> LogSequence {
        LogSequence(UInt64(try log.recordCount()))
    }
}

extension LogEntry {
    /// Whether the entry is the intent's own, or says something of it.
    func concerns(_ intent: IntentID) -> Bool {
        switch content {
        case .intent(let number, _, _, _, let retries):
            number == intent.number || retries == intent.number
        case .acknowledged(let number, _, _), .changed(let number, _): number == intent.number
        case .confirmed(let events, _): events.contains { $0.origin == intent }
        }
    }
}
