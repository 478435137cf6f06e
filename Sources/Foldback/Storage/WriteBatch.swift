/// The writes of one transaction. It is pure data, so that it can be written again in a larger map.
package struct WriteBatch: Sendable {
    /// The records, in ascending order of sequence, because the table is only appended to (L1).
    private var entries: [TableWrite] = []
    /// The last settlement of each intent whose settlement changed.
    private var settlements: [IntentNumber: SettlementRow] = [:]
    /// The last attempt of each intent whose attempt changed; nil removes the row.
    private var attempts: [IntentNumber: Attempt?] = [:]
    private var checkpoints: [TableWrite] = []
    private var rows: [TableWrite] = []
    private var projections: [TableWrite] = []

    package init() {}

    package var isEmpty: Bool {
        entries.isEmpty && attempts.isEmpty && checkpoints.isEmpty && rows.isEmpty
            && projections.isEmpty
    }

    package var hasEntries: Bool { !entries.isEmpty }
    package var hasAttempts: Bool { !attempts.isEmpty }

    /// All writes, in the order of execution.
    package var writes: [TableWrite] {
        var writes = entries
        // Sort by key, because neighboring keys are on the same page.
        for (number, row) in settlements.sorted(by: { $0.key < $1.key }) {
            writes.append(TableWrite(.verdicts, LogKey(number), row.encoded(for: number)))
        }
        for (number, attempt) in attempts.sorted(by: { $0.key < $1.key }) {
            writes.append(TableWrite(.attempts, LogKey(number), attempt?.encoded(for: number)))
        }
        writes += checkpoints
        writes += rows.sorted { $0.key < $1.key }
        writes += projections
        return writes
    }

    // MARK: Entries

    /// Adds a record. Sequences must rise from call to call (L1).
    package mutating func writeRecord(_ bytes: [UInt8], at sequence: LogSequence) {
        entries.append(TableWrite(.entries, LogKey(sequence), bytes))
    }

    /// Returns the record of an entry that is not committed yet; nil if the batch does not contain
    /// it.
    package func record(at sequence: LogSequence) -> [UInt8]? {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].key < LogKey(sequence) { low = middle + 1 } else { high = middle }
        }
        guard low < entries.count, entries[low].key == LogKey(sequence) else { return nil }
        return entries[low].value
    }

    // MARK: Intents

    package mutating func writeSettlement(_ row: SettlementRow, of number: IntentNumber) {
        settlements[number] = row
    }

    /// Returns an intent's settlement that is not committed yet; nil if the batch does not contain
    /// one.
    package func settlement(of number: IntentNumber) -> SettlementRow? { settlements[number] }

    package mutating func writeAttempt(_ attempt: Attempt, of number: IntentNumber) {
        attempts[number] = .some(attempt)
    }

    package mutating func removeAttempt(of number: IntentNumber) {
        attempts[number] = .some(nil)
    }

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

    package mutating func removeHeader(of number: UInt32) {
        projections.append(TableWrite(.projections, .number(UInt64(number)), nil))
    }
}
