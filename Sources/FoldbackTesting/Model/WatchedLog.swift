import Foldback
import Synchronization

/// A log in memory that tells somebody before it writes.
final class WatchedLog: LogStorage {
    let rows: MemoryLog
    private let watching = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ rows: MemoryLog) { self.rows = rows }

    func watch(_ watch: @escaping @Sendable () -> Void) { watching.withLock { $0 = watch } }

    /// Entries that are committed.
    var rowCount: Int { (try? rows.recordCount()) ?? 0 }

    func write(_ batch: WriteBatch) throws(StorageFailure) {
        watching.withLock { $0 }?()
        try rows.write(batch)
    }

    // MARK: As it is

    var path: String { rows.path }
    var header: LogHeader { rows.header }
    var usedBytes: Int { rows.usedBytes }
    var oldestReadNanoseconds: UInt64 { rows.oldestReadNanoseconds }
    func requireUsable() throws(FoldbackError) { try rows.requireUsable() }
    func sync() throws(StorageFailure) { try rows.sync() }
    func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try rows.records(from: start, countMax: countMax)
    }
    func recordCount() throws(FoldbackError) -> Int { try rows.recordCount() }
    func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try rows.record(at: sequence)
    }
    func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]? {
        try rows.verdict(of: number)
    }
    func verdicts(from start: IntentNumber) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try rows.verdicts(from: start)
    }
    func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError) {
        try rows.scanCheckpoints(from: start, body)
    }
    func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)] {
        try rows.damagedPages()
    }
    func close() { rows.close() }
}
