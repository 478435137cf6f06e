/// How far a stored projection that is new to a log, or of another version, has come with its entries.
public struct CatchUpProgress: Hashable, Sendable {
    /// Entries that were folded.
    public let sequence: LogSequence
    /// The log's last entry.
    public let last: LogSequence
}

/// Writes rows while a log is opened, in pieces: a projection that is behind gets up with the log, and goes on
/// behind the last piece where that is cut off.
struct RowCatchUp {
    private let storage: any LogStorage
    private let last: LogSequence
    private let progress: (@Sendable (CatchUpProgress) -> Void)?
    /// Entries since the last piece.
    private var entryCount = 0

    init(
        _ storage: any LogStorage, _ progress: (@Sendable (CatchUpProgress) -> Void)?
    ) throws(FoldbackError) {
        self.storage = storage
        self.progress = progress
        last = LogSequence(UInt64(try storage.recordCount()))
    }

    /// Called behind each entry.
    mutating func took(_ fold: inout LogFold) throws(FoldbackError) {
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

    /// Writes what has changed; nothing where nobody was behind.
    mutating func write(_ fold: inout LogFold) throws(FoldbackError) {
        entryCount = 0
        guard fold.rows.contains(where: \.isBehindLog) else { return }
        var batch = WriteBatch()
        for rows in fold.rows where rows.isBehindLog { batch.writeRows(of: rows.batch()) }
        storage.endReadingForWriting()
        do throws(StorageFailure) { try storage.write(batch) } catch { throw .storage(error) }
        for index in fold.rows.indices { fold.rows[index].beginTransaction(isWatched: false) }
        progress?(CatchUpProgress(sequence: fold.state.sequence, last: last))
    }
}
