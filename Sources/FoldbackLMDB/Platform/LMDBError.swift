import CLMDB

/// What LMDB, or the file system beneath it, answered: during which operation, on which table, and why.
///
/// Every return code has a case. The library's own codes are those of lmdb.h 0.9.24; everything
/// else is the system's `errno`.
package struct LMDBError: Error, Sendable, Equatable {
    package let operation: Operation
    /// The table concerned, nil where the operation is about the whole environment.
    package let table: String?
    package let cause: Cause

    package enum Operation: String, Sendable {
        case createDirectory, lockDirectory, openEnvironment, openTable, beginRead, beginWrite
        case get, put, delete, scan, commit, sync, growMap, inspect
    }

    package enum Cause: Sendable, Equatable {
        // LMDB's own codes.
        case keyExists, notFound, pageNotFound, corrupted, panic, versionMismatch, notLMDB
        case mapFull, tablesFull, readersFull, tlsFull, transactionFull, cursorFull, pageFull
        case mapResized, incompatible, badReaderSlot, badTransaction, badValueSize, badTable
        /// A code that lmdb.h 0.9.24 does not define.
        case unknown(Int32)
        /// The system's `errno`.
        case system(errno: Int32)
        /// `EIO` or `ENOSPC`, and statvfs says that nothing is left (L6).
        case diskFull(freeBytes: UInt64)
        /// `EIO` or `EFBIG`, and the file has reached what this process may write.
        case fileSizeLimit(bytes: UInt64)

        // What this layer itself refuses.
        case unsupportedLibrary(version: String)
        case notADirectory
        /// A page of the file is not what it should be, and how.
        case damagedPage(UInt64, String)
        case missing
        case openInThisProcess
        case openInProcess(pid: Int32?)
        case beingRead
        case usedAfterFork
        case writeInsideRead
        case readerBlocksGrowth(seconds: Int)
        case noAddressSpace(bytes: Int)
        case closed
    }

    package init(_ operation: Operation, table: String? = nil, _ cause: Cause) {
        self.operation = operation
        self.table = table
        self.cause = cause
    }

    package init(_ operation: Operation, table: String? = nil, code: Int32) {
        self.init(operation, table: table, Cause(code: code))
    }

    /// True where the disk may hold the transaction although its commit failed (L6).
    ///
    /// LMDB's own codes come from the work before the first page is written; an error of the
    /// system, or the panic after one, can come after the meta page has reached the disk.
    package var leavesOutcomeUnknown: Bool {
        guard operation == .commit || operation == .sync else { return false }
        switch cause {
        case .system, .diskFull, .fileSizeLimit, .panic, .unknown: return true
        default: return false
        }
    }
}

extension LMDBError.Cause {
    package init(code: Int32) {
        self =
            switch code {
            case MDB_KEYEXIST: .keyExists
            case MDB_NOTFOUND: .notFound
            case MDB_PAGE_NOTFOUND: .pageNotFound
            case MDB_CORRUPTED: .corrupted
            case MDB_PANIC: .panic
            case MDB_VERSION_MISMATCH: .versionMismatch
            case MDB_INVALID: .notLMDB
            case MDB_MAP_FULL: .mapFull
            case MDB_DBS_FULL: .tablesFull
            case MDB_READERS_FULL: .readersFull
            case MDB_TLS_FULL: .tlsFull
            case MDB_TXN_FULL: .transactionFull
            case MDB_CURSOR_FULL: .cursorFull
            case MDB_PAGE_FULL: .pageFull
            case MDB_MAP_RESIZED: .mapResized
            case MDB_INCOMPATIBLE: .incompatible
            case MDB_BAD_RSLOT: .badReaderSlot
            case MDB_BAD_TXN: .badTransaction
            case MDB_BAD_VALSIZE: .badValueSize
            case MDB_BAD_DBI: .badTable
            default: code > 0 ? .system(errno: code) : .unknown(code)
            }
    }
}

extension LMDBError: CustomStringConvertible {
    package var description: String {
        let place = table.map { " in table \($0)" } ?? ""
        return "\(operation.rawValue)\(place): \(cause)"
    }
}

extension LMDBError.Cause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .keyExists: "the key is there already, or not beyond the last one"
        case .notFound: "not found"
        case .pageNotFound: "a page that should be there is not: the file is damaged"
        case .corrupted: "a page is of the wrong kind: the file is damaged"
        case .panic: "a failed write left the environment unusable until it is opened again"
        case .versionMismatch: "the file was written by another version of LMDB's format"
        case .notLMDB: "the file is not an LMDB file"
        case .mapFull: "the map is full"
        case .tablesFull: "too many tables"
        case .readersFull: "every reader slot is taken"
        case .tlsFull: "too many thread-local keys"
        case .transactionFull: "the transaction has too many changed pages"
        case .cursorFull: "the tree is too deep: the file is damaged"
        case .pageFull: "a page has no room left"
        case .mapResized: "another process made the map larger"
        case .incompatible: "the table was made with other flags"
        case .badReaderSlot: "the reader slot is in use"
        case .badTransaction: "the transaction has failed earlier, or has a child"
        case .badValueSize: "a key or value has a size that LMDB does not take"
        case .badTable: "the table was changed or closed meanwhile"
        case .unknown(let code): "LMDB code \(code)"
        case .system(let code): "\(Platform.message(errno: code)) (errno \(code))"
        case .diskFull(let free): "the disk is full (\(free) bytes free)"
        case .fileSizeLimit(let bytes): "this process may write files of at most \(bytes) bytes"
        case .unsupportedLibrary(let version):
            "liblmdb \(version) is not supported: 0.9.24, 0.9.25 and 0.9.32 or later of 0.9 are"
        case .notADirectory: "it is a file, not a directory"
        case .damagedPage(let page, let what): "page \(page) of data.mdb is damaged: \(what)"
        case .missing: "there is no log"
        case .openInThisProcess: "it is open in this process already"
        case .openInProcess(let pid): "process \(pid.map(String.init) ?? "unknown") has it open"
        case .beingRead: "another process is reading it while it is closed"
        case .usedAfterFork: "it was opened before a fork and is used in the child"
        case .writeInsideRead: "a write was begun inside a read of the same thread"
        case .readerBlocksGrowth(let seconds):
            "the map must grow, and a reader has not ended in \(seconds) s"
        case .noAddressSpace(let bytes):
            "the process has no address space for \(bytes) bytes at once"
        case .closed: "it is closed"
        }
    }
}
