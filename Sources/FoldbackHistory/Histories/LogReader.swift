import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads a log without its app's types and without changing it, also while a store has it open in
/// another process (L9).
///
/// Every byte of the data file stays the same. If no process has the log open, the reader uses no
/// lock file, and a store may open the log between two reads. A store that opens the log during a
/// read waits up to two seconds for the read to end.
public final class LogReader: Sendable {
    let log: any LogStorage
    private let codec = RawCodec()

    /// - Parameter log: used only by this reader.
    init(_ log: any LogStorage) { self.log = log }

    /// Creates a reader of the log at `directory`.
    ///
    /// - Parameters:
    ///   - directory: the file URL of the log's directory.
    ///   - archive: the folder that compactions of the log have moved its old entries to. The reader then
    ///     has them, too, as if no compaction had removed them (C9).
    /// - Throws: `.lacksArchive` if the log was compacted, and the folder does not have what was removed
    ///   last. `.missing`, `.notALog`, `.unsafeFile`, `.locked` with `.thisProcess`,
    ///   `.newerFormat`, `.damaged`, `.storage`.
    public convenience init(at directory: URL, archive: URL? = nil) throws(LogError) {
        let log = try LMDBLog.openReadOnly(directory.logPath())
        do throws(LogError) {
            self.init(
                try archive.map { folder throws(LogError) in
                    try ArchivedLog.opening(log, in: folder)
                } ?? log)
        } catch {
            log.close()
            throw error
        }
    }

    /// The log's own file; nil for a history in memory.
    private var file: LMDBLog? { log as? LMDBLog ?? (log as? ArchivedLog)?.log }

    /// The process that has the log open for writing.
    ///
    /// Finding it out does not keep a writer from opening the log (L9). A history in memory has no
    /// writer.
    package var writer: LogWriterPresence {
        file?.writer ?? LogWriterPresence(isThere: false, process: nil)
    }

    /// Releases the log. Later reads throw `.closed`.
    public func close() { log.close() }

    /// The first entry that the reader has: 1, or the one after the base of a compacted log.
    public var first: LogSequence { LogSequence(log.baseSequence.value + 1) }

    /// Returns the id of an intent whose entry a compaction may have removed; nil for later intents.
    package func id(ofOld number: IntentNumber) -> IntentID? {
        log.base?.id(of: number, log.header.replicas)
    }

    /// Returns entries as ``/Foldback/Store/entries(from:countMax:)`` does. Events are the bytes
    /// that their codec wrote.
    public func entries(
        from start: LogSequence, countMax: Int
    ) throws(LogError) -> [LogEntry<[UInt8]>] {
        // The count comes first, because a store may append entries before they are read.
        let count = try log.recordCount()
        let records = try log.decodedRecords(from: start, countMax: countMax, codec: codec)
        if records.isEmpty, countMax > 0, max(start, 1).value <= UInt64(count) {
            throw log.missing(max(start, 1))
        }
        return records.map(LogEntry.init)
    }

    /// Returns all entries as one value. ``RecordedHistory/read(by:)`` decodes the events.
    ///
    /// - Complexity: reads the whole log into memory. Blocks.
    /// - Throws: `.log` with the errors of ``entries(from:countMax:)``; `.doesNotFollow` if the entries
    ///   are not damaged but do not make a log.
    public func history() throws(HistoryError) -> RecordedHistory<[UInt8]> {
        let (records, shared) = try HistoryError.converting {
            () throws(LogError) -> ([Record], SharedConflicts) in
            (try self.records(), try log.sharedConflicts())
        }
        return try RecordedHistory(
            kind: log.header.kind, replica: log.header.replicas.current, records: records,
            shared: shared, codec: codec)
    }

    private func records() throws(LogError) -> [Record] {
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
        return records
    }

    /// Returns the attempts to send pending intents; see ``/Foldback/Store/attempts``.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func attempts() throws(LogError) -> [IntentNumber: Attempt] {
        Dictionary(uniqueKeysWithValues: try log.attempts().map { ($0.key, $0.value) })
    }

    /// Checks every record, verdict, attempt, checkpoint and row against a fold from the first
    /// entry.
    ///
    /// With an archive, the fold begins with the removed entries. So it also checks the states with which
    /// the compacted log begins, which it must believe otherwise. Verify each archive by itself for the
    /// rest of it.
    ///
    /// - Parameters:
    ///   - projection: its checkpointed states or rows are compared as well. If it cannot read the
    ///     log's events, nothing is compared.
    ///   - also: more projections to compare in the same way. Rows of a projection that is not
    ///     given here, or of another version, are checked only against their checksums.
    ///     ``/Foldback/Verification/notCompared`` names them.
    /// - Throws: `.lacksProjections` if the log's projections share their conflicts with one that
    ///   is not given; `.closed`, `.newerFormat`, `.storage`. Damage is a finding, not an error.
    /// - Complexity: O(n) in entries; memory O(n) in settled intents and in the compared rows.
    ///   Blocks.
    public func verify<P: EventFold>(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = []
    ) throws(LogError) -> Verification {
        let projections = ProjectionSet(projection, also)
        // Without rows in the log there is nothing to compare, so rows are not folded into memory,
        // except if views depend on them.
        let hasRows: Bool
        do throws(LogError) {
            let headers = try log.projectionHeaders()
            let shared = try log.sharedConflicts()
            hasRows = !headers.isEmpty || !shared.isEmpty
        } catch {
            hasRows = true
        }
        var verifier = try Verifier(
            log, hasRows ? projections : projections.withoutRows, codec: AppCodec(codec: P.codec))
        let verification = try verifier.verification()
        guard let archived = log as? ArchivedLog else { return verification }
        // What the log has beside its archives: its base, and the records that it kept.
        var own = try Verifier(archived.log, ProjectionSet(), codec: codec)
        return verification.adding(try own.verification())
    }

    /// Returns what a compaction with this window would remove now, and what holds the rest: see
    /// ``/Foldback/Store/removable(keeping:sources:)``.
    ///
    /// The newest checkpoint says which entries the last store could not read. Entries that an archive has
    /// do not count.
    public func removable(
        keeping window: HistoryWindow, sources: LogSources = .system
    ) throws(LogError) -> Compaction {
        let own: any LogStorage = file ?? log
        return try own.removable(
            keeping: window, before: try own.storedCheckpoints().last?.firstUnread,
            now: sources.now())
    }

    /// Copies the log to another directory: see ``/Foldback/Store/backup(to:)``, which has the
    /// parameters, errors and costs.
    ///
    /// A store in another process may have the log open, and may record meanwhile.
    @discardableResult
    public func backup(to directory: URL) async throws(LogError) -> LogSequence {
        try await Backup.write(file ?? log, to: directory)
    }

    /// Returns which projections share their conflicts, and from which entry on.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func sharedConflicts() throws(LogError) -> SharedConflicts {
        try log.sharedConflicts()
    }

    /// Returns the number of entries, without reading them. In a history it may be less than the
    /// last sequence.
    ///
    /// - Throws: `.damaged`, `.closed`, `.storage`.
    package func entryCount() throws(LogError) -> Int { try log.entryCount() }

    /// Returns the entries of the stored checkpoints, in order.
    ///
    /// - Throws: `.damaged`, `.closed`, `.storage`.
    package func checkpoints() throws(LogError) -> [LogSequence] {
        try log.storedCheckpoints().map(\.sequence)
    }

    /// Returns the log's counts. Reads the newest checkpoint and the entries after it.
    public func status() throws(LogError) -> StoreStatus {
        var (fold, _) = try LogFold.folded(log, codec: codec)
        fold.state.facts = LogFacts(lineage: try log.lineage(), lostData: try log.lostData())
        return StoreStatus(
            of: log, fold.makePublishedState(), entryCount: try entryCount(),
            checkpoint: try log.storedCheckpoints().last?.sequence ?? 0)
    }
}
