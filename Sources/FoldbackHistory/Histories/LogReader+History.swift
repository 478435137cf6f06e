import Foldback

extension LogReader {
    /// Opens a history as a log in memory with exactly the history's entries. Some entries may have
    /// been removed from the history.
    ///
    /// - Throws: `.damaged` if the entries do not form a log.
    /// - Complexity: O(n) in entries, in time and memory.
    public convenience init<Event: Sendable>(
        _ history: RecordedHistory<Event>
    ) throws(LogError) {
        let replicas = ReplicaTable(history.replicas)
        let log = MemoryLog(
            kind: history.kind, replicas: replicas, path: "(a history)", hasGaps: true)
        let batch = try history.batch(in: replicas)
        do throws(StorageFailure) { try log.write(batch) } catch { throw .storage(error) }
        self.init(log)
    }

    /// Returns those of `entries` that follow from each other, as a history of this log.
    ///
    /// - Parameter entries: entries of this log, in order.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    package func history(
        of entries: [LogEntry<[UInt8]>]
    ) throws(LogError) -> RecordedHistory<[UInt8]> {
        let empty = RecordedHistory<[UInt8]>(
            kind: kind, replica: replica, decided: [], shared: try log.sharedConflicts(),
            codec: RawCodec())
        return empty.following(entries.map { Record($0) })
    }
}
