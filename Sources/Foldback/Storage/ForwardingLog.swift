/// A log that is another one but for what it does itself: one that is watched, or that fails on purpose.
package protocol ForwardingLog: LogStorage {
    var log: MemoryLog { get }
}

extension ForwardingLog {
    package var path: String { log.path }
    package var header: LogHeader { log.header }
    package var usedBytes: Int { log.usedBytes }
    package var oldestReadNanoseconds: UInt64 { log.oldestReadNanoseconds }
    package var isRelaxed: Bool { log.isRelaxed }
    package func requireUsable() throws(FoldbackError) { try log.requireUsable() }
    package func write(_ batch: WriteBatch) throws(StorageFailure) { try log.write(batch) }
    package func sync() throws(StorageFailure) { try log.sync() }
    package func close() { log.close() }

    package func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try log.records(from: start, countMax: countMax)
    }
    package func recordCount() throws(FoldbackError) -> Int { try log.recordCount() }
    package func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try log.record(at: sequence)
    }
    package func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]? {
        try log.verdict(of: number)
    }
    package func verdicts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] { try log.verdicts(from: start) }
    package func attempts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] { try log.attempts(from: start) }
    package func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError) { try log.scanCheckpoints(from: start, body) }
    package func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)] {
        try log.damagedPages()
    }

    // MARK: Rows

    package func rowForWriting(at key: KeyBytes) throws(FoldbackError) -> [UInt8]? {
        try log.rowForWriting(at: key)
    }
    package func rowKeysForWriting(in span: KeySpan) throws(FoldbackError) -> [KeyBytes] {
        try log.rowKeysForWriting(in: span)
    }
    package func endReadingForWriting() { log.endReadingForWriting() }
    package func readRows<R>(_ body: (any StoredRows) throws -> R) throws -> R {
        try log.readRows(body)
    }
    package func rowKeys(in span: KeySpan, countMax: Int) throws(FoldbackError) -> [KeyBytes] {
        try log.rowKeys(in: span, countMax: countMax)
    }
    package func projectionHeaders()
        throws(FoldbackError) -> [(number: UInt32, bytes: [UInt8])]
    { try log.projectionHeaders() }
}
