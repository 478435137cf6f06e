import Foldback

/// A fold that follows a log entry by entry, also past the end that the log had before.
struct ReplayedFold: Sendable {
    private let log: any LogStorage
    private let codec: any PayloadCodec
    private var fold: LogFold
    private var records: RecordReader
    private var tracker: TouchTracker?
    /// The events that the last entry touches; tracked only after ``startTracking()``.
    private(set) var touched = TouchedEvents.anything
    /// The effects of the last entry; nil before the first.
    private(set) var effects: Effects?
    /// Whether an intent of the overlay was conflicted when ``rebaseViews()`` was called last.
    private(set) var hasConflicts = false

    /// - Parameter fold: the log's fold up to the entry after which the replay starts. Its first
    ///   value is the projection whose states are seen.
    init(_ log: any LogStorage, _ fold: LogFold, reading codec: any PayloadCodec) {
        self.log = log
        self.codec = codec
        self.fold = fold
        records = RecordReader(log, after: fold.state.sequence)
    }

    /// Continues the fold of one projection, and of those that share their conflicts with it.
    ///
    /// - Parameter old: the name of the projection whose place this one takes when conflicts are
    ///   shared; nil is its own.
    init<P: Projection>(
        _ log: any LogStorage, _: P.Type, also: [AdditionalProjection<P.Event>],
        from sequence: LogSequence, inPlaceOf old: ExactString? = nil
    ) throws(LogError) {
        let codec = AppCodec(codec: P.codec)
        let fold = try LogFold.past(
            log, .init(Fold<P>(inPlaceOf: old ?? P.memberName)), among: ProjectionSet(also),
            try log.sharedConflicts(), codec: codec, upTo: sequence, isGoingOn: true)
        if fold.state.sequence < sequence {
            let last = LogSequence(UInt64(try log.recordCount()))
            guard log.hasGaps, sequence <= last else { throw .beyondEnd(sequence, last: last) }
        }
        self.init(log, fold, reading: codec)
        records = RecordReader(log, after: sequence)
    }

    /// Applies the next entry and returns it; nil at the end.
    ///
    /// Release all states before, or the fold copies what it changes.
    ///
    /// - Throws: as ``LogReplay/next()``. The fold stays at its sequence.
    mutating func next() throws(LogError) -> Record? {
        let start = records.sequence
        guard let (sequence, bytes) = try records.next() else { return nil }
        do throws(LogError) {
            return try apply(bytes, at: sequence)
        } catch {
            // The next call reads the same record.
            records = RecordReader(log, after: start)
            throw error
        }
    }

    private mutating func apply(
        _ bytes: [UInt8], at sequence: LogSequence
    ) throws(LogError) -> Record {
        let before = fold.state.sequence
        if fold.shared.changes(after: before, upTo: sequence) {
            try fold.requireShared(with: fold.folds[0].memberName, at: sequence, path: log.path)
        }
        let (record, effects) = try fold.applyRecord(bytes, at: sequence, log, codec)
        touched = tracker?.take(effects.fold, fold.state.overlay, (before, sequence)) ?? .anything
        self.effects = effects
        return record
    }

    /// Makes ``touched`` track the events that each later entry touches.
    mutating func startTracking() { tracker = TouchTracker(fold) }

    /// Makes ``touched`` mean any events again, at no cost.
    mutating func stopTracking() {
        tracker = nil
        touched = .anything
    }

    var sequence: LogSequence { fold.state.sequence }
    var overlay: Overlay { fold.state.overlay }

    /// Brings the views up to date.
    mutating func rebaseViews() {
        fold.rebaseViews()
        hasConflicts = fold.hasConflicts
    }

    /// Returns all states, with the views up to date.
    mutating func published() -> PublishedState { fold.makePublishedState(isKept: false) }

    /// The fold of a projection, by its place.
    ///
    /// - Precondition: the views are up to date.
    func value(at place: Int) -> any AnyFold { fold.folds[place] }
}
