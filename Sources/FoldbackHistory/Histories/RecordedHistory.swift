import Foldback

/// The entries of a log as a value: to be folded over any projection, without the log, and to be
/// made smaller until nothing is left but the cause of something.
///
/// ```swift
/// let history = try store.history()
/// let before = try history.snapshot(of: Likes.self, at: 41)
/// let small = try await history.minimised(candidatesMax: 5_000) {
///     $0.snapshot(of: Likes.self).view.counts["42", default: 0] < 0
/// }
/// ```
///
/// Whatever has been taken out, entries keep their sequences and intents their numbers, so ids made of a
/// context stay the same (F10, F12). A number that was taken out counts as never recorded.
///
/// Every value folds without an error, because entries that do not follow from those before them make
/// none (``init(kind:replica:entries:codec:)``). All entries are in memory; not for a log that
/// does not fit.
public struct RecordedHistory<Event: Sendable>: Sendable {
    /// Which source confirms (F2).
    public let kind: LogKind
    /// The replica that the log belonged to when it was read.
    public let replica: ReplicaID
    /// Each as a log would have it that holds just these.
    package let records: [Record]
    /// Reads what minimising makes of payloads.
    package let codec: any PayloadCodec

    /// A history of entries from elsewhere than a log.
    ///
    /// What is checked is what the log itself decides on: that sequences and numbers rise (gaps are
    /// fine); that an answer is to an intent that is there and can take it; that a retried or dismissed
    /// intent is in the list of rejections; that no once key is used twice in the overlay; that a batch
    /// brings something new, with positions that this kind of log takes. Not checked are sizes, times,
    /// and whether a projection would have let the event be recorded: that throws nothing here but makes
    /// a conflict or a fault (F9), as does an event that cannot be read.
    ///
    /// - Parameters:
    ///   - kind: of the log.
    ///   - replica: whose intents the log's own are.
    ///   - entries: in order of sequence.
    ///   - codec: reads the bytes that minimising makes of payloads.
    /// - Throws: `.doesNotFollow`, naming the first entry that does not.
    /// - Complexity: O(n log n) in entries.
    public init(
        kind: LogKind, replica: ReplicaID, entries: [LogEntry<Event>],
        codec: any EventCodec<Event>
    ) throws(FoldbackError) {
        try self.init(
            kind: kind, replica: replica, records: entries.map { Record($0) },
            codec: AppCodec(codec: codec))
    }

    init(
        kind: LogKind, replica: ReplicaID, records: [Record], codec: any PayloadCodec
    ) throws(FoldbackError) {
        var fold = HistoryFold(kind: kind, replica: replica, folds: [])
        var decided: [Record] = []
        for record in records {
            do throws(InvalidSequel) {
                decided.append(try fold.decided(record))
            } catch {
                throw .doesNotFollow(record.stamp.sequence, reason: error.reason)
            }
            fold.append(decided[decided.count - 1])
        }
        self.init(kind: kind, replica: replica, decided: decided, codec: codec)
    }

    private init(
        kind: LogKind, replica: ReplicaID, decided: [Record], codec: any PayloadCodec
    ) {
        self.kind = kind
        self.replica = replica
        records = decided
        self.codec = codec
    }

    /// How many entries there are.
    public var count: Int { records.count }

    /// Rising; where entries were taken out, with gaps.
    public var sequences: [LogSequence] { records.map(\.stamp.sequence) }

    /// - Complexity: O(n), at each call.
    public var entries: [LogEntry<Event>] { records.map { LogEntry($0) } }

    /// The history of those of `records` that follow from each other; the others are left out, and an
    /// intent whose rejection is gone retries nothing.
    package func following(_ records: [Record]) -> RecordedHistory {
        var fold = HistoryFold(kind: kind, replica: replica, folds: [])
        var decided: [Record] = []
        for record in records {
            guard let record = fold.following(record) else { continue }
            fold.append(record)
            decided.append(record)
        }
        return RecordedHistory(kind: kind, replica: replica, decided: decided, codec: codec)
    }
}

extension RecordedHistory where Event == [UInt8] {
    /// A history of entries whose events are not known to this code; see
    /// ``init(kind:replica:entries:codec:)``.
    public init(
        kind: LogKind, replica: ReplicaID, entries: [LogEntry<[UInt8]>]
    ) throws(FoldbackError) {
        try self.init(
            kind: kind, replica: replica, records: entries.map { Record($0) }, codec: RawCodec())
    }

    /// The same history with its events read by an app's codec; those that it cannot read are kept
    /// as bytes (L5).
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
            }, codec: codec)
    }
}
