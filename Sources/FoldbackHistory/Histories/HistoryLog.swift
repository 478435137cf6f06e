import Foldback

/// A recorded history as a log that has just its entries, in memory: to be looked at as a ``LogReader`` looks at any.
final class HistoryLog: ForwardingLog {
    /// Has nothing; for all that a history does not have.
    package let log: MemoryLog
    private let batch: WriteBatch

    /// - Throws: what reading the history's own records does.
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
    /// Looks at a history as at a log that has just its entries, also where some were taken out.
    ///
    /// - Complexity: O(n) in entries, which are in memory.
    /// - Throws: `.doesNotFollow` where the entries do not make a log.
    public convenience init<Event: Sendable>(
        _ history: RecordedHistory<Event>
    ) throws(FoldbackError) { self.init(try HistoryLog(history)) }
}
