import FoldbackLMDB
import Synchronization

/// A log on disk: one LMDB environment with seven tables (L1).
///
/// ```
/// entries      sequence (8 bytes, big-endian)  ─▶  record
/// verdicts     intent number (the same)        ─▶  how a settled intent stands
/// attempts     intent number               ─▶  when a pending intent was sent last
/// checkpoints  sequence, section, piece        ─▶  a piece of what is known at the sequence
/// projections  number of a stored projection   ─▶  whose rows these are, and up to which entry
/// rows         that number, table, key         ─▶  a row, an index's entry, or a fault
/// log          "header"                        ─▶  kind, replica ids, identity of the file
/// ```
package final class LMDBLog: LogStorage {
    struct Tables: Sendable {
        let log: Table<String>
        let entries: Table<UInt64>
        let verdicts: Table<UInt64>
        /// These are nil in a log that is only read and has none yet.
        let attempts: Table<UInt64>?
        let checkpoints: Table<CheckpointKey>?
        let projections: Table<UInt64>?
        let rows: Table<KeyBytes>?
    }

    package let path: String
    package let header: LogHeader
    let environment: Environment
    let tables: Tables
    /// What the writer reads while it decides; on its thread alone.
    let session = Mutex<ReadSession?>(nil)
    /// Nil where the log is only read.
    private let beside: CopyMarker?

    init(environment: Environment, header: LogHeader, tables: Tables, beside: CopyMarker?) {
        self.beside = beside
        path = environment.directory
        self.environment = environment
        self.header = header
        self.tables = tables
    }

    package var usedBytes: Int { environment.usedBytes }
    package var oldestReadNanoseconds: UInt64 { environment.oldestReadNanoseconds }
    package var isRelaxed: Bool { environment.isRelaxed }

    package func requireUsable() throws(FoldbackError) {
        do { try environment.requireUsable() } catch { throw FoldbackError(error, at: path) }
    }

    package func close() {
        endReadingForWriting()
        environment.close()
    }

    // MARK: Writing

    package func write(_ batch: WriteBatch) throws(StorageFailure) {
        let (entries, verdicts) = (tables.entries, tables.verdicts)
        // In order of key: neighbours lie on one page.
        let rows = batch.verdicts.sorted { $0.key < $1.key }
        let attempts = batch.attempts.sorted { $0.key < $1.key }
            .map { (number: $0.key, bytes: $0.value?.encoded(for: $0.key)) }
        let reserve = attempts.reduce(batch.bytes + rows.count * 64) {
            $0 + ($1.bytes?.count ?? 0) + 64
        }
        let mark = beside?.nextMark()
        let stored = batch.rows.sorted { $0.key < $1.key }
        endReadingForWriting()
        do throws(LMDBError) {
            try environment.write(reserveBytes: reserve) { transaction throws(LMDBError) in
                if let mark { try put(mark, transaction) }
                for (sequence, bytes) in batch.records {
                    try transaction.append(bytes, at: sequence.value, to: entries)
                }
                for (number, row) in rows {
                    try transaction.put(row.encoded(for: number), at: number.value, in: verdicts)
                }
                try write(attempts, transaction)
                try writeCheckpoints(of: batch, transaction)
                try write(stored, batch.projections, transaction)
            }
        } catch {
            precondition(error.cause != .keyExists, "L1: the sequence counter is broken: \(error)")
            throw StorageFailure(error, at: path)
        }
        if mark != nil { try adoptMark() }
    }

    private func write(
        _ attempts: [(number: IntentNumber, bytes: [UInt8]?)],
        _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        guard let table = tables.attempts else { return }
        for (number, bytes) in attempts {
            if let bytes {
                try transaction.put(bytes, at: number.value, in: table)
            } else {
                _ = try transaction.delete(number.value, from: table)
            }
        }
    }

    private func writeCheckpoints(
        of batch: WriteBatch, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        guard let checkpoints = tables.checkpoints else { return }
        for key in batch.removedCheckpointRows {
            _ = try transaction.delete(key, from: checkpoints)
        }
        for row in batch.checkpointRows {
            try transaction.put(row.bytes, at: row.key, in: checkpoints)
        }
    }

    /// Only behind a commit that a power cut cannot undo: a relaxed one is flushed first, once.
    private func adoptMark() throws(StorageFailure) {
        if environment.isRelaxed { try sync() }
        beside?.adopt()
    }

    /// The header as it is from this store's first write on (L11).
    private func put(
        _ mark: FileFingerprint, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        var marked = header
        // Either may be there when the next store opens: this process can end before it is put in place.
        marked.marks = [mark, beside?.found ?? .none]
        try transaction.put(marked.encoded(), at: LogHeader.key, in: tables.log)
    }

    package func sync() throws(StorageFailure) {
        do { try environment.sync() } catch { throw StorageFailure(error, at: path) }
    }

    // MARK: Reading

    package func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [(LogSequence, [UInt8])] {
        try rows(of: tables.entries, from: start, countMax: countMax)
    }

    package func verdicts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        try rows(of: tables.verdicts, from: start, countMax: Limits.readCountMax)
    }

    package func attempts(
        from start: IntentNumber
    ) throws(FoldbackError) -> [(IntentNumber, [UInt8])] {
        guard let attempts = tables.attempts else { return [] }
        return try rows(of: attempts, from: start, countMax: Limits.readCountMax)
    }

    private func rows<Number: LogNumber>(
        of table: Table<UInt64>, from start: Number, countMax: Int
    ) throws(FoldbackError) -> [(Number, [UInt8])] {
        let countMax = min(countMax, Limits.readCountMax)
        guard countMax > 0 else { return [] }
        do throws(LMDBError) {
            return try environment.read { transaction throws(LMDBError) in
                var rows: [(Number, [UInt8])] = []
                var bytes = 0
                try transaction.scan(table, from: start.value) { key, value in
                    rows.append((Number(key), Array(copying: value)))
                    bytes += value.byteCount
                    return rows.count < countMax && bytes < Limits.readBytesMax
                }
                return rows
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
    }

    package func recordCount() throws(FoldbackError) -> Int {
        let entries = tables.entries
        do throws(LMDBError) {
            return try environment.read { transaction throws(LMDBError) in
                try transaction.count(of: entries)
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
    }

    package func record(at sequence: LogSequence) throws(FoldbackError) -> [UInt8]? {
        try value(of: sequence.value, in: tables.entries)
    }

    package func verdict(of number: IntentNumber) throws(FoldbackError) -> [UInt8]? {
        try value(of: number.value, in: tables.verdicts)
    }

    package func scanCheckpoints(
        from start: CheckpointKey, _ body: (CheckpointKey, RawSpan) -> Bool
    ) throws(FoldbackError) {
        guard let checkpoints = tables.checkpoints else { return }
        do throws(LMDBError) {
            try environment.read { transaction throws(LMDBError) in
                try transaction.scan(checkpoints, from: start, body)
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
    }

    package func damagedPages() throws(FoldbackError) -> [(page: UInt64, what: String)] {
        do throws(LMDBError) { return try environment.damagedPages() } catch {
            throw FoldbackError(error, at: path)
        }
    }

    private func value(
        of key: UInt64, in table: Table<UInt64>
    ) throws(FoldbackError) -> [UInt8]? {
        do throws(LMDBError) {
            return try environment.read { transaction throws(LMDBError) in
                try transaction.get(table, key) { Array(copying: $0) }
            }
        } catch {
            throw FoldbackError(error, at: path)
        }
    }
}

extension CheckpointKey: TableKey {
    package func withKeyBytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try withBytes(of: bytes, body)
    }

    package init?(keyBytes: UnsafeRawBufferPointer) { self.init(bytes: keyBytes) }
}

extension [UInt8] {
    package init(copying bytes: RawSpan) {
        self = bytes.withUnsafeBytes { Array($0) }
    }
}

extension StorageFailure {
    init(_ error: LMDBError, at path: String) {
        let reason: Reason =
            switch error.cause {
            case .diskFull(let free): .diskFull(freeBytes: free)
            case .fileSizeLimit(let bytes): .fileSizeLimit(bytes: bytes)
            case .system(let code): .system(errno: code)
            case .pageNotFound, .corrupted, .cursorFull, .damagedPage: .damagedFile
            case .readersFull: .tooManyReaders

            default: .other
            }
        self.init(
            path: path, reason: reason, detail: "\(error)",
            leavesOutcomeUnknown: error.leavesOutcomeUnknown)
    }
}

extension FoldbackError {
    init(_ error: LMDBError, at path: String) {
        self =
            switch error.cause {
            case .openInThisProcess: .locked(path: path, holder: .thisProcess)
            case .openInProcess(let id): .locked(path: path, holder: .process(id))
            case .beingRead: .locked(path: path, holder: .reader)
            case .missing: .missing(path: path)
            case .notADirectory, .notLMDB: .notALog(path: path, reason: "\(error.cause)")
            case .versionMismatch:
                .newerFormat(path: path, sequence: nil, found: "another LMDB file format")
            case .unsupportedLibrary(let version): .unsupportedLibrary(version: version)
            case .usedAfterFork: .usedAfterFork(path: path)
            case .closed: .closed(path: path)
            case .corrupted, .pageNotFound, .cursorFull, .damagedPage:
                .damaged(path: path, sequence: nil, reason: "\(error)")
            default: .storage(StorageFailure(error, at: path))
            }
    }

    package init(_ error: FormatError, at path: String, sequence: LogSequence?) {
        self =
            switch error {
            case .damaged(let reason): .damaged(path: path, sequence: sequence, reason: reason)
            case .newer(let found): .newerFormat(path: path, sequence: sequence, found: found)
            }
    }
}
