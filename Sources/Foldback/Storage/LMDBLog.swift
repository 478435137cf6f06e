import FoldbackLMDB
import Synchronization

/// Whether a process has a log open for writing.
package struct LogWriterPresence: Hashable, Sendable {
    package let isThere: Bool
    /// The process; nil if there is none or it is not known.
    package let process: Int32?

    package init(isThere: Bool, process: Int32?) {
        self.isThere = isThere
        self.process = process
    }
}

/// A log on disk: one LMDB environment with ten tables (L1).
///
/// ```
/// entries      sequence (8 bytes, big-endian)  ─▶  record
/// verdicts     intent number (the same)        ─▶  an intent's settlement and its sequences
/// attempts     intent number                   ─▶  the last attempt of a pending intent
/// checkpoints  sequence, section, piece        ─▶  a piece of the checkpoint at the sequence
/// projections  number of a stored projection   ─▶  the projection, and the entry of its rows
/// rows         that number, table, key         ─▶  a row, an index entry, or a fault
/// registered   a number                        ─▶  a projection with which it was opened
/// kept         sequence                        ─▶  a record that is not in entries any more
/// conflicts    sequence                        ─▶  the conflicts that began or ended with the entry
/// log          "header"                        ─▶  kind, replica ids, identities of the files
/// ```
package final class LMDBLog: LogStorage {
    struct Tables: Sendable {
        let log: Table<String>
        /// The tables, indexed by raw value. A table is nil if a log that is only read lacks it.
        let all: [Table<LogKey>?]

        subscript(table: LogTable) -> Table<LogKey>? { all[table.rawValue] }
    }

    /// The read that the writer's decisions use, on the writer's thread only, and the table that it
    /// opened last.
    private struct Session: Sendable {
        let read: ReadSession
        let table: LogTable
        let opened: LMDBTable
    }

    package let path: String
    package let header: LogHeader
    package let base: LogBase?
    let environment: Environment
    private let tables: Tables
    private let session = Mutex<Session?>(nil)
    /// Nil if the log is only read.
    private let marker: CopyMarker?

    init(
        environment: Environment, header: LogHeader, base: LogBase?, tables: Tables,
        marker: CopyMarker?
    ) {
        self.base = base
        self.marker = marker
        path = environment.directory
        self.environment = environment
        self.header = header
        self.tables = tables
    }

    package var usedBytes: Int { environment.usedBytes }
    package var oldestReadNanoseconds: UInt64 { environment.oldestReadNanoseconds }
    package var isRelaxed: Bool { environment.isRelaxed }

    /// Whether a process has the log open for writing at this moment, and which.
    package var writer: LogWriterPresence {
        let holder = Environment.writer(in: path)
        return LogWriterPresence(isThere: holder.isThere, process: holder.process)
    }

    package func requireUsable() throws(LogError) {
        do { try environment.requireUsable() } catch { throw LogError(error, at: path) }
    }

    package func close() {
        endReadingForWriting()
        environment.close()
    }

    // MARK: Writing

    package func write(_ writes: [TableWrite]) throws(StorageFailure) {
        try write(RecordBuffer(), writes)
    }

    package func write(
        _ records: RecordBuffer, _ others: [TableWrite]
    ) throws(StorageFailure) {
        let reserve = records.reserveBytes + others.reduce(0) { $0 + $1.reserveBytes }
        let mark = marker?.nextMark()
        endReadingForWriting()
        do throws(LMDBError) {
            try environment.write(reserveBytes: reserve) { transaction throws(LMDBError) in
                if let mark { try put(mark, transaction) }
                if let entries = tables[.entries] {
                    try records.forEach { sequence, record throws(LMDBError) in
                        try transaction.append(record, at: sequence.value, to: entries)
                    }
                }
                for write in others { try Self.perform(write, in: tables, transaction) }
            }
        } catch {
            throw StorageFailure(error, at: path)
        }
        if mark != nil { try adoptMark() }
    }

    static func perform(
        _ write: TableWrite, in tables: Tables, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        guard let table = tables[write.table] else { return }
        guard let value = write.value else {
            _ = try transaction.delete(write.key, from: table)
            return
        }
        if write.table == .entries {
            try withBytes(of: value) { value throws(LMDBError) in
                try transaction.append(value, at: write.key.number, to: table)
            }
        } else {
            try transaction.put(value, at: write.key, in: table)
        }
    }

    /// Puts the marker file in place. A relaxed commit is flushed first, because a power cut must
    /// not undo the commit that names the file.
    private func adoptMark() throws(StorageFailure) {
        if environment.isRelaxed { try sync() }
        marker?.adopt()
    }

    /// Writes the header that names this store's marker file (L11).
    private func put(
        _ mark: FileFingerprint, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        var marked = header
        // The next store may find either file, because this process can end before the rename.
        marked.marks = [mark, marker?.found ?? .none]
        try transaction.put(marked.encoded(), at: LogHeader.key, in: tables.log)
    }

    package func requireSoundPages() throws(StorageFailure) {
        do { try environment.requireSoundStructure() } catch {
            throw StorageFailure(error, at: path)
        }
    }

    package func sync() throws(StorageFailure) {
        do { try environment.sync() } catch { throw StorageFailure(error, at: path) }
    }

    // MARK: Reading

    package func read(_ body: (any StorageSnapshot) -> Void) throws(LogError) {
        do throws(LMDBError) {
            try environment.read { transaction throws(LMDBError) in
                body(LMDBSnapshot(transaction.snapshot, tables, path))
            }
        } catch {
            throw LogError(error, at: path)
        }
    }

    package func openForWriting(
        _ table: LogTable
    ) throws(LogError) -> any StorageTable {
        guard tables[table] != nil else { return MemoryTable() }
        let held = session.withLock { $0 }
        if let held, held.table == table {
            held.read.requireOpen()
            return held.opened
        }
        let read: ReadSession
        do throws(LMDBError) {
            if let held { read = held.read } else { read = try environment.session() }
        } catch {
            throw LogError(error, at: path)
        }
        do throws(LogError) {
            let opened = try LMDBTable(read.snapshot, table, tables, path)
            session.withLock { $0 = Session(read: read, table: table, opened: opened) }
            return opened
        } catch {
            if held == nil { read.end() }
            throw error
        }
    }

    package func endReadingForWriting() {
        let ended = session.withLock { session in
            defer { session = nil }
            return session
        }
        ended?.read.end()
    }

    package func damagedPages() throws(LogError) -> [(page: UInt64, what: String)] {
        do throws(LMDBError) { return try environment.damagedPages() } catch {
            throw LogError(error, at: path)
        }
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
            case .fileLost: .fileLost
            // A refused append means that the last sequence is not the last that was written (L1).
            case .writtenByOthers, .keyExists: .writtenByOthers
            default: .other
            }
        self.init(
            path: path, reason: reason, detail: "\(error)",
            leavesOutcomeUnknown: error.leavesOutcomeUnknown, endsWriting: error.endsWriting)
    }
}

extension LogError {
    init(_ error: LMDBError, at path: String) {
        self =
            switch error.cause {
            case .openInThisProcess: .locked(path: path, holder: .thisProcess)
            case .openInProcess(let id): .locked(path: path, holder: .process(id))
            case .beingRead: .locked(path: path, holder: .reader)
            case .missing: .missing(path: path)
            // Another process wiped the log while this one waited for it (BK7).
            case .directoryReplaced: .locked(path: path, holder: .process(nil))
            case .notADirectory, .notLMDB, .foreignFiles, .otherFileInLog:
                .notALog(path: path, reason: "\(error.cause)")
            case .unsafeFile: .unsafeFile(path: path, reason: "\(error.cause)")
            case .dataFileMissing:
                .damaged(path: path, sequence: nil, reason: "\(error.cause)")
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
}
