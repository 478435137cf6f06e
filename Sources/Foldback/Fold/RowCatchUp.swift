/// The progress of stored projections that get their rows from a log's entries, because they are
/// new to it or have another version.
public struct CatchUpProgress: Hashable, Sendable {
    /// The last entry whose rows are in the log.
    public let sequence: LogSequence
    /// The log's last entry.
    public let last: LogSequence
}

/// Writes the rows of stored projections while a log is opened, until they have caught up with the
/// log.
///
/// It writes in pieces. If the process ends, the next opening continues after the last piece.
struct RowCatchUp {
    private let storage: any LogStorage
    private let last: LogSequence
    private let progress: (@Sendable (CatchUpProgress) -> Void)?
    /// The number of entries since the last piece.
    private var entryCount = 0

    init(
        _ storage: any LogStorage, _ progress: (@Sendable (CatchUpProgress) -> Void)?
    ) throws(LogError) {
        self.storage = storage
        self.progress = progress
        last = LogSequence(UInt64(try storage.recordCount()))
    }

    /// Writes a piece if enough has changed. Called after each entry.
    mutating func took(_ fold: inout LogFold) throws(LogError) {
        entryCount += 1
        guard
            entryCount >= Limits.rowCatchUpEntriesMax
                || fold.rows.contains(where: {
                    $0.changedCount >= Limits.rowCatchUpCountMax
                        || $0.changedBytes >= Limits.commitBytesMax
                })
        else { return }
        try write(&fold)
    }

    /// Writes the rows that changed. Does nothing if the rows in the log cover all entries.
    mutating func write(_ fold: inout LogFold) throws(LogError) {
        entryCount = 0
        guard fold.rows.contains(where: \.hasUnwrittenRows) else { return }
        var batch = WriteBatch()
        for rows in fold.rows where rows.hasUnwrittenRows { batch.writeRows(of: rows.batch()) }
        storage.endReadingForWriting()
        do throws(StorageFailure) { try storage.write(batch) } catch { throw error.unwritten }
        for index in fold.rows.indices { fold.rows[index].beginTransaction(isWatched: false) }
        progress?(CatchUpProgress(sequence: fold.state.sequence, last: last))
    }
}
