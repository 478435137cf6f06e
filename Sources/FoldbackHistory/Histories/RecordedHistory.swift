import Foldback

/// The entries of a log as a value. A history can be folded over any projection without the log,
/// and can be minimized to the cause of a failure.
///
/// ```swift
/// let history = try store.history()
/// let before = try history.snapshot(of: Likes.self, at: 41)
/// let small = try await history.minimized(candidatesMax: 5_000) {
///     try $0.snapshot(of: Likes.self).view.counts["42", default: 0] < 0
/// }
/// ```
///
/// When entries are removed, the other entries keep their sequences and the intents keep their
/// numbers. Ids made from a context therefore stay the same (F10, F12). A removed number counts as
/// never recorded.
///
/// Every history folds without an error, because entries that do not follow from the entries before
/// them do not make a history (``init(kind:replica:entries:codec:sharingAsIn:)``). All entries are
/// in memory. Do not use a history for a log that does not fit there.
public struct RecordedHistory<Event: Sendable>: Sendable {
    /// The source that confirms (F2).
    public let kind: LogKind
    /// The replica of the log when the log was read.
    public let replica: ReplicaID
    /// The records as a log with exactly these entries would have them.
    package let records: [Record]
    /// Which projections share their conflicts, from which entry on (F9).
    package let shared: SharedConflicts
    /// Decodes the payloads that minimizing makes.
    package let codec: any PayloadCodec

    /// Creates a history from entries that need not come from a log.
    ///
    /// The initializer checks what the log itself decides:
    /// - Sequences and numbers rise. Gaps are allowed.
    /// - An answer is to an intent that is in the history and can take the answer.
    /// - A retried or dismissed intent is in the list of rejections.
    /// - A replaced intent is pending, and a released intent is held. An undone intent was recorded
    ///   before the intent that undoes it, which lapses only with it.
    /// - No once key is used twice in the overlay.
    /// - A batch brings something new, with positions that this kind of log takes.
    ///
    /// It does not check sizes, times, or whether a projection would have refused to record the
    /// event. Such an event is not an error here. It becomes a conflict or a fault (F9), as does an
    /// event that cannot be read.
    ///
    /// - Parameters:
    ///   - kind: the kind of the log.
    ///   - replica: the replica whose intents are the log's own.
    ///   - entries: in order of sequence.
    ///   - codec: decodes the payloads that minimizing makes.
    ///   - history: the history from which the entries come. The projections share their conflicts
    ///     (``/Foldback/ConflictPolicy``) at the same sequences as in it. If nil, each projection
    ///     has its own conflicts.
    /// - Throws: `.doesNotFollow` with the first entry that does not follow.
    /// - Complexity: O(n log n) in entries.
    public init(
        kind: LogKind, replica: ReplicaID, entries: [LogEntry<Event>],
        codec: any EventCodec<Event>, sharingAsIn history: RecordedHistory? = nil
    ) throws(HistoryError) {
        try self.init(
            kind: kind, replica: replica, records: entries.map { Record($0) },
            shared: history?.shared ?? SharedConflicts(), codec: AppCodec(codec: codec))
    }

    init(
        kind: LogKind, replica: ReplicaID, records: [Record], shared: SharedConflicts,
        codec: any PayloadCodec
    ) throws(HistoryError) {
        var fold = HistoryFold(kind: kind, replica: replica)
        var decided: [Record] = []
        for record in records {
            do throws(InvalidSequel) {
                decided.append(try fold.decided(record))
            } catch {
                throw .doesNotFollow(record.stamp.sequence, reason: error.reason)
            }
            fold.append(decided[decided.count - 1])
        }
        self.init(
            kind: kind, replica: replica, decided: decided, shared: shared, codec: codec)
    }

    /// - Parameter decided: records that follow from each other.
    init(
        kind: LogKind, replica: ReplicaID, decided: [Record], shared: SharedConflicts,
        codec: any PayloadCodec
    ) {
        self.kind = kind
        self.replica = replica
        records = decided
        let last = decided.last?.stamp.sequence ?? 0
        // The view after the last entry keeps the choice, also if the first entry with it is gone.
        self.shared = shared.moved { min($0, last) }
        self.codec = codec
    }

    /// The number of entries.
    public var count: Int { records.count }

    /// The sequences of the entries. They rise, with gaps where entries were removed.
    public var sequences: [LogSequence] { records.map(\.stamp.sequence) }

    /// The entries, in order of sequence.
    ///
    /// - Complexity: O(n) for each call.
    public var entries: [LogEntry<Event>] { records.map { LogEntry($0) } }

    /// Returns the history of those of `records` that follow from each other. Leaves out the
    /// others. An intent loses a link to an intent that cannot have it any more: a retry whose
    /// rejection is gone retries nothing.
    ///
    /// - Parameter shared: which projections share their conflicts; nil is as in this history.
    package func following(
        _ records: [Record], sharing shared: SharedConflicts? = nil
    ) -> RecordedHistory {
        var fold = HistoryFold(kind: kind, replica: replica)
        var decided: [Record] = []
        for record in records {
            guard let record = fold.following(record) else { continue }
            fold.append(record)
            decided.append(record)
        }
        return RecordedHistory(
            kind: kind, replica: replica, decided: decided, shared: shared ?? self.shared,
            codec: codec)
    }
}

extension RecordedHistory where Event == [UInt8] {
    /// Creates a history from entries whose event type this code does not know; see
    /// ``init(kind:replica:entries:codec:sharingAsIn:)``.
    public init(
        kind: LogKind, replica: ReplicaID, entries: [LogEntry<[UInt8]>],
        sharingAsIn history: RecordedHistory? = nil
    ) throws(HistoryError) {
        try self.init(
            kind: kind, replica: replica, entries: entries,
            shared: history?.shared ?? SharedConflicts())
    }

    /// - Parameter shared: which projections share their conflicts, from which entry on.
    package init(
        kind: LogKind, replica: ReplicaID, entries: [LogEntry<[UInt8]>], shared: SharedConflicts
    ) throws(HistoryError) {
        try self.init(
            kind: kind, replica: replica, records: entries.map { Record($0) }, shared: shared,
            codec: RawCodec())
    }

    /// Returns the same history with its events decoded by an app's codec. Events that the codec
    /// cannot read stay bytes (L5).
    ///
    /// ```swift
    /// let history = try LogReader(at: directory).history().read(by: Documents.codec)
    /// ```
    public func read<AppEvent>(by codec: any EventCodec<AppEvent>) -> RecordedHistory<AppEvent> {
        let codec = AppCodec(codec: codec)
        return RecordedHistory<AppEvent>(
            kind: kind, replica: replica,
            decided: records.map { record in
                record.replacing(
                    record.entry.mappingPayloads {
                        codec.payload(reading: $0.bytes, format: $0.format)
                    })
            }, shared: shared, codec: codec)
    }
}
