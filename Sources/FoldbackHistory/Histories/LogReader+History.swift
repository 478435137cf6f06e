import Foldback

extension LogReader {
    /// Looks at a history as at a log that has just its entries, also where some were taken out.
    ///
    /// - Complexity: O(n) in entries, which are in memory.
    /// - Throws: `.doesNotFollow` where the entries do not make a log.
    public convenience init<Event: Sendable>(
        _ history: RecordedHistory<Event>
    ) throws(FoldbackError) {
        let replicas = ReplicaTable(history.replicas)
        let log = MemoryLog(
            kind: history.kind, replicas: replicas, path: "(a history)", hasGaps: true)
        let batch = try history.batch(in: replicas)
        do throws(StorageFailure) { try log.write(batch) } catch { throw .storage(error) }
        self.init(log)
    }
}
