/// Where a log's records are kept: LMDB, or memory. The rest of the store does not know which.
///
/// Written from one place at a time; read from any task. Reading may block on the disk.
package protocol LogStorage: AnyObject, Sendable {
    var path: String { get }
    var header: LogHeader { get }
    /// Bytes that the log takes on disk.
    var usedBytes: Int { get }
    /// How long the oldest read has been going on, in nanoseconds (L8).
    var oldestReadNanoseconds: UInt64 { get }

    /// Throws where the store must not be used: closed, or in a forked child.
    func requireUsable() throws(FoldbackError)

    /// Writes everything or nothing (L4); returns when it is as durable as the store is.
    func write(_ batch: WriteBatch) throws(StorageFailure)

    /// Whether a power cut may undo the last commit until ``sync()`` has returned (L2).
    var isRelaxed: Bool { get }

    /// Makes durable what relaxed commits have written.
    func sync() throws(StorageFailure)

    /// The records from `start` on, a bounded piece of them, in order; none at the end (L8).
    func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])]

    /// Whether entries may have been taken out, as from a minimised history: sequences and numbers then rise with
    /// gaps. A log of a store never has any.
    var hasGaps: Bool { get }

    /// How many records there are, as the storage counts them without reading them; with gaps, the sequence of the
    /// last.
    func recordCount() throws(FoldbackError) -> Int
    func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]?
    func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]?

    /// The rows of table `verdicts` from `start` on, a bounded piece of them, in order.
    func verdicts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])]

    /// The rows of table `attempts` from `start` on, a bounded piece of them, in order.
    func attempts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])]

    /// Calls `body` with each row of table `checkpoints` from `start` on, until it answers false. The
    /// bytes must not be kept; keep it short (L8).
    func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError)

    /// The confirmed row of a stored projection at `key` as the last commit has it; nil: there is none.
    /// For the writer: what it reads is one snapshot until ``endReadingForWriting()``.
    func rowForWriting(at key: KeyBytes) throws(FoldbackError) -> [UInt8]?
    /// The keys of `span` in the same snapshot, in order.
    func rowKeysForWriting(in span: KeySpan) throws(FoldbackError) -> [KeyBytes]
    /// To be called before ``write(_:)``, by whoever has called ``rowForWriting(at:)``.
    func endReadingForWriting()

    /// Calls `body` with the confirmed rows of the last commit. Keep it short (L8).
    func readRows<R>(_ body: (any StoredRows) throws -> R) throws -> R

    /// The keys of `span`, damaged rows' as well, at most `countMax`.
    func rowKeys(in span: KeySpan, countMax: Int) throws(FoldbackError) -> [KeyBytes]

    /// The rows of table `projections`.
    func projectionHeaders() throws(FoldbackError) -> [(number: UInt32, bytes: [UInt8])]

    /// What is wrong with the file beneath, page by page; none where there is no file.
    func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)]

    func close()
}

extension LogStorage {
    package var hasGaps: Bool { false }
}

/// What one transaction writes: pure data, so that it can be tried again in a larger map.
package struct WriteBatch: Sendable {
    package var records: [(sequence: LogSequence, bytes: [UInt8])] = []
    /// The last word for each intent whose verdict changed.
    package var verdicts: [IntentNumber: SettlementRow] = [:]
    /// The last word for each intent whose attempt changed; nil: its row goes.
    package var attempts: [IntentNumber: Attempt?] = [:]
    package var checkpointRows: [CheckpointRow] = []
    package var removedCheckpointRows: [CheckpointKey] = []
    /// Of stored projections; with their checksums, nil: the row goes.
    package private(set) var rows: [(key: KeyBytes, bytes: [UInt8]?)] = []
    package private(set) var projections: [(number: UInt32, bytes: [UInt8]?)] = []
    package var bytes = 0

    package init() {}

    package var isEmpty: Bool {
        records.isEmpty && attempts.isEmpty && checkpointRows.isEmpty
            && removedCheckpointRows.isEmpty && rows.isEmpty && projections.isEmpty
    }

    /// The record of an entry that is not committed yet.
    package func record(at sequence: LogSequence) -> [UInt8]? {
        let place = place(of: sequence)
        guard place < records.count, records[place].sequence == sequence else { return nil }
        return records[place].bytes
    }

    /// Of the first record at `sequence` or behind it.
    package func place(of sequence: LogSequence) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = low + (high - low) / 2
            if records[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    package mutating func append(_ bytes: [UInt8], at sequence: LogSequence) {
        records.append((sequence, bytes))
        self.bytes += bytes.count + 64
    }

    package mutating func append(_ batch: RowBatch) {
        for (key, value) in batch.rows {
            append(key, value.bytes.map { StoredRow.sealed($0, at: key) })
        }
        for (index, fault) in batch.faults.enumerated() {
            let key = StoredRow.faultKey(batch.header.number, batch.firstFault + index)
            append(key, StoredRow.sealed(fault.encoded, at: key))
        }
        append(batch.header)
    }

    package mutating func append(_ header: StoredRowsHeader) {
        projections.append((header.number, header.encoded))
    }

    /// - Parameter bytes: nil: the row goes.
    package mutating func append(_ key: KeyBytes, _ bytes: [UInt8]?) {
        rows.append((key, bytes))
        self.bytes += key.bytes.count + (bytes?.count ?? 0) + 64
    }

    package mutating func dropProjection(_ number: UInt32) { projections.append((number, nil)) }

    package mutating func append(_ row: CheckpointRow) {
        checkpointRows.append(row)
        bytes += row.bytes.count + 64
    }
}

/// The confirmed rows of stored projections at one commit, while it is being read.
package protocol StoredRows {
    /// Of the last entry.
    var sequence: LogSequence { get }

    /// The row's bytes; nil: there is none.
    func value(at key: KeyBytes) throws -> FoundRow?

    /// Calls `body` with the rows of `span` in order of key, or backwards, until it answers false.
    func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws

    /// The key of the first row at `start` or behind it, whether it can be read or not; nil: there is none.
    func firstKey(from start: KeyBytes) throws -> KeyBytes?

    /// A projection's row of table `projections`.
    func header(of number: UInt32) throws -> [UInt8]?
}

extension StoredRows {
    /// The numbers under which there are rows, with a header or without, ascending.
    ///
    /// - Complexity: O(log n) in rows for each.
    /// - Throws: also where a key is not a row's.
    package func numbers() throws -> [UInt32] {
        var numbers: [UInt32] = []
        var start = KeyBytes([])
        while let key = try firstKey(from: start) {
            guard let number = StoredRow.number(of: key) else {
                throw FormatError.damaged("a row's key has \(key.bytes.count) bytes")
            }
            numbers.append(number)
            guard number < .max else { break }
            start = KeyBytes(StoredRow.prefix(of: number + 1))
        }
        return numbers
    }
}

/// A row's bytes where they lie. Without types, so that finding a row costs the same whatever it is.
package enum FoundRow {
    case memory([UInt8])
    /// In the log's file; they stand while the read does.
    case file(UnsafeRawBufferPointer)
}
