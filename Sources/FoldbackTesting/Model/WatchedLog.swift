import Foldback
import Synchronization

/// A log in memory that tells somebody before it writes.
final class WatchedLog: LogStorage {
    let log: MemoryLog
    private let watching = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ log: MemoryLog) { self.log = log }

    func watch(_ watch: @escaping @Sendable () -> Void) { watching.withLock { $0 = watch } }

    /// Entries that are committed.
    var rowCount: Int { (try? log.recordCount()) ?? 0 }

    func write(_ batch: WriteBatch) throws(StorageFailure) {
        watching.withLock { $0 }?()
        try log.write(batch)
    }

    // MARK: As it is

    var path: String { log.path }
    var header: LogHeader { log.header }
    var usedBytes: Int { log.usedBytes }
    var oldestReadNanoseconds: UInt64 { log.oldestReadNanoseconds }
    var isRelaxed: Bool { log.isRelaxed }
    func requireUsable() throws(FoldbackError) { try log.requireUsable() }
    func sync() throws(StorageFailure) { try log.sync() }
    func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try log.records(from: start, countMax: countMax)
    }
    func recordCount() throws(FoldbackError) -> Int { try log.recordCount() }
    func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try log.record(at: sequence)
    }
    func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]? {
        try log.verdict(of: number)
    }
    func verdicts(from start: IntentNumber) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try log.verdicts(from: start)
    }
    func attempts(from start: IntentNumber) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try log.attempts(from: start)
    }
    func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError) {
        try log.scanCheckpoints(from: start, body)
    }
    func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)] {
        try log.damagedPages()
    }
    func close() { log.close() }
}
