/// The writes of one transaction. It is pure data, so that it can be written again in a larger map.
package struct WriteBatch: Sendable {
    package private(set) var records = RecordBuffer()
    /// The last settlement of each intent whose settlement changed.
    var settlements = NumberMap<IntentNumber, SettlementRow>()
    /// The last attempt of each intent whose attempt changed; nil removes the row.
    var attempts: [IntentNumber: Attempt?] = [:]
    private var checkpoints: [TableWrite] = []
    private var rows: [TableWrite] = []
    private var projections: [TableWrite] = []
    private var registered: [TableWrite] = []
    var lineage: Lineage?
    /// Nil: unchanged. The inner nil removes the row.
    var lostData: LostData??
    var sharedConflicts: SharedConflicts?

    package init() {}

    package var isEmpty: Bool {
        records.isEmpty && attempts.isEmpty && checkpoints.isEmpty && rows.isEmpty
            && projections.isEmpty && registered.isEmpty && lineage == nil
            && lostData == nil && sharedConflicts == nil
    }

    package var hasEntries: Bool { !records.isEmpty }
    var hasFactsBeside: Bool { !attempts.isEmpty || lineage != nil }

    /// All writes, in the order of execution.
    package var writes: [TableWrite] { records.writes + otherWrites }

    /// The writes after those of the records, in the order of execution.
    fileprivate var otherWrites: [TableWrite] {
        // In order of keys, because neighboring keys are on the same page.
        var writes = settlements.map { number, row in
            TableWrite(.verdicts, LogKey(number), row.encoded(for: number))
        }
        for (number, attempt) in attempts.sorted(by: { $0.key < $1.key }) {
            writes.append(TableWrite(.attempts, LogKey(number), attempt?.encoded(for: number)))
        }
        writes += checkpoints
        writes += rows.sorted { $0.key < $1.key }
        writes += projections
        writes += registered
        if let lineage {
            writes.append(TableWrite(.log, .bytes(Lineage.key), lineage.encoded))
        }
        if let lostData {
            writes.append(TableWrite(.log, .bytes(LostData.key), lostData?.encoded))
        }
        if let sharedConflicts {
            writes.append(
                TableWrite(.log, .bytes(SharedConflicts.key), sharedConflicts.encoded))
        }
        return writes
    }

    // MARK: Entries

    /// Adds a record; see ``RecordBuffer/append(_:predecessor:replicas:)``.
    package mutating func writeRecord(
        _ record: Record, predecessor: UInt64, replicas: ReplicaTable
    ) -> (checksum: UInt64, bytes: Int) {
        records.append(record, predecessor: predecessor, replicas: replicas)
    }

    /// Returns the record of an entry that is not committed yet; nil if the batch does not contain
    /// it.
    package func record(at sequence: LogSequence) -> [UInt8]? { records.record(at: sequence) }

    // MARK: Checkpoints

    package mutating func writeCheckpointRow(_ row: CheckpointRow) {
        checkpoints.append(TableWrite(.checkpoints, LogKey(row.key), row.bytes))
    }

    package mutating func removeCheckpointRow(at key: CheckpointKey) {
        checkpoints.append(TableWrite(.checkpoints, LogKey(key), nil))
    }

    // MARK: Stored projections

    /// Adds the changes of a transaction to a stored projection: its rows, faults and header. Adds
    /// the checksums.
    package mutating func writeRows(of batch: RowBatch) {
        for (key, value) in batch.rows {
            if let bytes = value.bytes {
                writeRow(StoredRow.sealed(bytes, at: key), at: key)
            } else {
                removeRow(at: key)
            }
        }
        for (index, fault) in batch.faults.enumerated() {
            let key = StoredRow.faultKey(batch.header.number, batch.firstFault + index)
            writeRow(StoredRow.sealed(fault.encoded, at: key), at: key)
        }
        writeHeader(batch.header)
    }

    /// Adds a row.
    ///
    /// - Parameter sealed: The row's bytes with the checksum.
    package mutating func writeRow(_ sealed: [UInt8], at key: KeyBytes) {
        rows.append(TableWrite(.rows, .bytes(key), sealed))
    }

    package mutating func removeRow(at key: KeyBytes) {
        rows.append(TableWrite(.rows, .bytes(key), nil))
    }

    package mutating func writeHeader(_ header: StoredRowsHeader) {
        projections.append(
            TableWrite(.projections, .number(UInt64(header.number)), header.encoded))
    }

    package mutating func writeRegistered(_ projection: RegisteredProjection) {
        registered.append(
            TableWrite(.registered, .number(UInt64(projection.number)), projection.encoded))
    }

    package mutating func removeHeader(of number: UInt32) {
        projections.append(TableWrite(.projections, .number(UInt64(number)), nil))
    }
}

extension LogStorage {
    /// Commits all writes of the batch, or none.
    package func write(_ batch: WriteBatch) throws(StorageFailure) {
        try write(batch.records, batch.otherWrites)
    }
}
