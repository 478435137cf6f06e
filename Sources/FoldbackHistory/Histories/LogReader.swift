import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Looks at a log without its app's types and without touching it, also while a store has it open in
/// another process (L9).
///
/// The data file stays byte for byte as it is. A log that nobody holds is read without a lock file, and between two
/// reads a store may open it; one that opens while something is read waits up to two seconds for that to end.
public final class LogReader: Sendable {
    let log: any LogStorage
    private let codec = RawCodec()

    /// - Parameter log: nobody else uses.
    init(_ log: any LogStorage) { self.log = log }

    /// - Throws: `.missing`, `.notALog`, `.locked` with `.thisProcess`, `.newerFormat`, `.damaged`,
    ///   `.storage`.
    public convenience init(at directory: URL) throws(FoldbackError) {
        self.init(try LMDBLog.openReadOnly(directory.path))
    }

    /// Gives the log back; reading afterwards throws `.closed`.
    public func close() { log.close() }

    /// See ``Store/entries(from:countMax:)``; events are the bytes that their codec wrote.
    public func entries(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [LogEntry<[UInt8]>] {
        // Counted first: a log that somebody writes has more when it is read.
        let count = try log.recordCount()
        let records = try log.decodedRecords(from: start, countMax: countMax, codec: codec)
        if records.isEmpty, countMax > 0, max(start, 1).value <= UInt64(count) {
            throw log.missing(max(start, 1))
        }
        return records.map(LogEntry.init)
    }

    /// All entries as one value; ``RecordedHistory/read(by:)`` gives its events their type.
    ///
    /// - Complexity: reads the whole log into memory. Blocks.
    /// - Throws: as ``entries(from:countMax:)``; `.doesNotFollow` where the entries, though undamaged,
    ///   do not make a log.
    public func history() throws(FoldbackError) -> RecordedHistory<[UInt8]> {
        let count = try log.recordCount()
        var records: [Record] = []
        while true {
            let next = (records.last?.stamp.sequence ?? 0).next
            let piece = try log.decodedRecords(
                from: next, countMax: Limits.readCountMax, codec: codec)
            guard !piece.isEmpty else { break }
            records += piece
        }
        let last = records.last?.stamp.sequence ?? 0
        guard last.value >= UInt64(count) else { throw log.missing(last.next) }
        return try RecordedHistory(
            kind: log.header.kind, replica: log.header.replicas.current, records: records,
            codec: codec)
    }

    /// What is known of sending pending intents; see ``Store/attempts``.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func attempts() throws(FoldbackError) -> [IntentNumber: Attempt] {
        Dictionary(uniqueKeysWithValues: try log.attempts().map { ($0.key, $0.value) })
    }

    /// Checks every record, verdict, attempt, checkpoint and row against a fold from the first entry on.
    ///
    /// - Parameters:
    ///   - projection: whose checkpointed states, or rows, are compared as well; of a log whose events it
    ///     cannot read, nothing is compared.
    ///   - also: the same for others. Rows that nobody is named for, or another version, are checked against
    ///     their checksums alone, and named in ``Verification/notCompared``.
    /// - Throws: `.closed`, `.newerFormat`, `.storage`. Damage is a finding.
    /// - Complexity: O(n) in entries; memory O(n) in settled intents, and in the rows that are compared.
    ///   Blocks.
    public func verify<P: EventFold>(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = []
    ) throws(FoldbackError) -> Verification {
        let projections = ProjectionSet(projection, also)
        // What the log has no rows of is not folded into memory for nothing.
        let hasRows: Bool
        do throws(FoldbackError) {
            hasRows = try !log.projectionHeaders().isEmpty
        } catch {
            hasRows = true
        }
        var verifier = Verifier(
            log, folds: projections.folds, rows: hasRows ? projections.rows : [],
            codec: AppCodec(codec: P.codec))
        return try verifier.verification()
    }

    /// Counts, from reading the newest checkpoint and what came after it.
    public func status() throws(FoldbackError) -> StoreStatus {
        var (fold, _) = try LogFold.folded(log, folds: [], codec: codec)
        return StoreStatus(
            of: log, fold.makePublishedState(),
            checkpoint: try log.checkpointSizes().last?.sequence ?? 0)
    }
}
