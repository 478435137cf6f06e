import Synchronization

/// A log that is gone with the process: for previews and app tests. It keeps the same bytes as one on
/// disk, so everything but the disk is tried.
package final class MemoryLog: LogStorage {
    package let path = "(in memory)"
    package let header: LogHeader
    private let tables: Mutex<MemoryRows>
    private let closed = Mutex(false)

    /// A log of what another one had committed.
    package init(_ rows: MemoryRows) {
        header = rows.header
        tables = Mutex(rows)
    }

    package convenience init(kind: LogKind, replica: ReplicaID) {
        self.init(kind: kind, replicas: ReplicaTable([replica]))
    }

    /// Of replicas whose records it is to read.
    package convenience init(kind: LogKind, replicas: ReplicaTable) {
        self.init(MemoryRows(header: LogHeader(kind: kind, replicas: replicas, file: .none)))
    }

    /// All that is committed now; also of a closed log. O(1).
    package var rows: MemoryRows { tables.withLock { $0 } }

    package var usedBytes: Int { tables.withLock { $0.bytes } }
    package var oldestReadNanoseconds: UInt64 { 0 }
    package var isRelaxed: Bool { false }

    package func requireUsable() throws(FoldbackError) {
        guard !closed.withLock({ $0 }) else { throw .closed(path: path) }
    }

    package func write(_ batch: WriteBatch) throws(StorageFailure) {
        tables.withLock { tables in
            for (sequence, bytes) in batch.records {
                precondition(sequence.value == UInt64(tables.records.count) + 1, "broken counter")
                tables.records.append(bytes)  // mutant: record-write
                tables.bytes += bytes.count
            }
            for (number, row) in batch.verdicts {
                tables.verdicts[number] = row.encoded(for: number)
            }
            for (number, attempt) in batch.attempts {
                tables.attempts[number] = attempt?.encoded(for: number)
            }
            for key in batch.removedCheckpointRows { tables.checkpoints[key] = nil }
            for row in batch.checkpointRows { tables.checkpoints[row.key] = row.bytes }
            for (key, bytes) in batch.rows { tables.rows[key] = bytes }
            for (number, bytes) in batch.projections { tables.projections[number] = bytes }
        }
    }

    package func sync() throws(StorageFailure) {}

    package func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try requireUsable()
        return tables.withLock { tables in
            let first = max(Int(clamping: start.value), 1)
            guard first <= tables.records.count, countMax > 0 else { return [] }
            let last = min(tables.records.count, first - 1 + min(countMax, Limits.readCountMax))
            return (first...last).map { (LogSequence(UInt64($0)), tables.records[$0 - 1]) }
        }
    }

    package func recordCount() throws(FoldbackError) -> Int {
        tables.withLock { $0.records.count }
    }

    package func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try records(from: sequence, countMax: 1).first.flatMap { $0.0 == sequence ? $0.1 : nil }
    }

    package func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]? {
        try requireUsable()
        return tables.withLock { $0.verdicts[number] }
    }

    package func verdicts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try rows(tables.withLock { $0.verdicts }, from: start)
    }

    package func attempts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try rows(tables.withLock { $0.attempts }, from: start)
    }

    private func rows(
        _ rows: [IntentNumber: [UInt8]], from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try requireUsable()
        return rows.filter { $0.key >= start }.sorted { $0.key < $1.key }
            .prefix(Limits.readCountMax).map { ($0.key, $0.value) }
    }

    package func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError) {
        try requireUsable()
        let rows = tables.withLock { $0.checkpoints }
        for key in rows.keys.filter({ $0 >= start }).sorted() {
            guard let bytes = rows[key], body(key, bytes.span.bytes) else { return }
        }
    }

    package func rowForWriting(at key: KeyBytes) throws(FoldbackError) -> [UInt8]? {
        guard let sealed = tables.withLock({ $0.rows[key] }) else { return nil }
        do throws(FormatError) {
            return Array(sealed.prefix(try StoredRow.opened(sealed.span.bytes, at: key)))
        } catch {
            throw FoldbackError(error, at: path, row: key)
        }
    }

    package func rowKeysForWriting(in span: KeySpan) throws(FoldbackError) -> [KeyBytes] {
        try rowKeys(in: span, countMax: .max)
    }

    package func endReadingForWriting() {}

    package func readRows<R>(_ body: (any StoredRows) throws -> R) throws -> R {
        try requireUsable()
        return try body(tables.withLock { $0 })
    }

    package func rowKeys(
        in span: KeySpan, countMax: Int
    ) throws(FoldbackError) -> [KeyBytes] {
        var keys: [KeyBytes] = []
        tables.withLock({ $0.rows }).scan(span, backwards: false) { key, _ in
            keys.append(key)
            return keys.count < countMax
        }
        return keys
    }

    package func projectionHeaders()
        throws(FoldbackError) -> [(number: UInt32, bytes: [UInt8])]
    {
        tables.withLock { $0.projections }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    package func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)] { [] }

    package func close() { closed.withLock { $0 = true } }
}

/// What a log in memory has committed, as one value: keeping it is what a disk does when the process
/// dies, and opening a log of it is the restart.
package struct MemoryRows: Sendable {
    package let header: LogHeader
    fileprivate var records: [[UInt8]] = []
    fileprivate var verdicts: [IntentNumber: [UInt8]] = [:]
    fileprivate var attempts: [IntentNumber: [UInt8]] = [:]
    fileprivate var checkpoints: [CheckpointKey: [UInt8]] = [:]
    fileprivate var projections: [UInt32: [UInt8]] = [:]
    fileprivate var rows = SortedMap<KeyBytes, [UInt8]>()
    fileprivate var bytes = 0

    fileprivate init(header: LogHeader) { self.header = header }
}

extension MemoryRows: StoredRows {
    package var sequence: LogSequence { LogSequence(UInt64(records.count)) }

    package func value(at key: KeyBytes) throws -> FoundRow? {
        guard let sealed = rows[key] else { return nil }
        return .memory(Array(sealed[..<(try length(of: sealed.span.bytes, at: key))]))
    }

    package func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws {
        try rows.scan(span, backwards: backwards) { key, sealed in
            let bytes = sealed.span.bytes
            return try body(key, bytes.extracting(first: try length(of: bytes, at: key)))
        }
    }

    package func firstKey(from start: KeyBytes) throws -> KeyBytes? {
        var rows = rows.from(start)
        return rows.next()?.key
    }

    package func header(of number: UInt32) throws -> [UInt8]? { projections[number] }

    private func length(of sealed: RawSpan, at key: KeyBytes) throws(FoldbackError) -> Int {
        do throws(FormatError) { return try StoredRow.opened(sealed, at: key) } catch {
            throw FoldbackError(error, at: "(in memory)", row: key)
        }
    }
}
