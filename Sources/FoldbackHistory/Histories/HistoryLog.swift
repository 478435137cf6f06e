import Foldback

/// A log in memory that has exactly the entries of a history, so that a ``LogReader`` can read it.
final class HistoryLog: ForwardingLog {
    /// An empty log, for everything that a history does not have.
    package let log: MemoryLog
    private let batch: WriteBatch

    /// - Throws: the errors of ``RecordedHistory/batch(in:isSent:)``.
    init<Event: Sendable>(_ history: RecordedHistory<Event>) throws(FoldbackError) {
        let replicas = ReplicaTable(history.replicas)
        log = MemoryLog(kind: history.kind, replicas: replicas)
        batch = try history.batch(in: replicas)
    }

    package var path: String { "(a history)" }
    package var usedBytes: Int { batch.bytes }
    package var hasGaps: Bool { true }

    package func recordCount() throws(FoldbackError) -> Int {
        batch.records.last.map { Int($0.sequence.value) } ?? 0
    }

    package func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try requireUsable()
        let records = batch.records[batch.place(of: start)...]
        return records.prefix(min(countMax, Limits.readCountMax)).map { ($0.sequence, $0.bytes) }
    }

    package func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try requireUsable()
        return batch.record(at: sequence)
    }

    package func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]? {
        try requireUsable()
        return batch.verdicts[number]?.encoded(for: number)
    }
}

extension LogReader {
    /// Creates a reader of a history, as if it were a log with exactly these entries. The history
    /// may have gaps.
    ///
    /// - Complexity: O(n) in entries, which are in memory.
    /// - Throws: `.doesNotFollow` if the entries do not make a log.
    public convenience init<Event: Sendable>(
        _ history: RecordedHistory<Event>
    ) throws(FoldbackError) { self.init(try HistoryLog(history)) }
}
