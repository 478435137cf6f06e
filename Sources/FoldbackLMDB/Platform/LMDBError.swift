import CLMDB

/// A failure of LMDB, of the file system, or of a check in this module: the operation, the table,
/// and the cause.
///
/// Every LMDB return code has a case. LMDB's own codes are those of lmdb.h 0.9.24. Every other
/// positive code is an `errno`.
package struct LMDBError: Error, Sendable, Equatable {
    package let operation: Operation
    /// The affected table; nil if the operation concerns the whole environment.
    package let table: String?
    package let cause: Cause

    package enum Operation: String, Sendable {
        case createDirectory, lockDirectory, removeDirectory, exchangeDirectories,
            openEnvironment, openTable, beginRead,
            beginWrite, copy
        case get, put, delete, scan, commit, sync, growMap, inspect
        /// Checking all pages before the first change.
        case checkPages
        /// Looking for a commit in the file after LMDB has made it.
        case verifyCommit
    }

    package enum Cause: Sendable, Equatable {
        // LMDB's own codes.
        case keyExists, notFound, pageNotFound, corrupted, panic, versionMismatch, notLMDB
        case mapFull, tablesFull, readersFull, tlsFull, transactionFull, cursorFull, pageFull
        case mapResized, incompatible, badReaderSlot, badTransaction, badValueSize, badTable
        /// A code that lmdb.h 0.9.24 does not define.
        case unknown(Int32)
        /// A system error.
        case system(errno: Int32)
        /// `ENOSPC` or `EDQUOT`, or `EIO` while statvfs reports less than 64 KiB free (L6).
        case diskFull(freeBytes: UInt64)
        /// `EIO` or `EFBIG`, and the file has reached this process's file size limit.
        case fileSizeLimit(bytes: UInt64)

        // Errors of this module.
        case unsupportedLibrary(version: String)
        case notADirectory
        /// A damaged page: its number, and a description of the damage.
        case damagedPage(UInt64, String)
        case missing
        /// The data file is missing, but another file shows that a log was here.
        case dataFileMissing
        /// A file of the log that is not safe to open: its name, and the reason.
        case unsafeFile(String, FileProblem)
        /// The directory has no log, but files of others.
        case foreignFiles(example: String)
        /// The directory to be wiped has a file that is not the log's (BK7).
        case otherFileInLog(example: String)
        /// The directory was wiped or replaced while this process waited for it.
        case directoryReplaced
        /// The data file was deleted, replaced or truncated while it was open.
        case fileLost(FileLoss)
        /// The file has a commit that this environment did not write.
        case writtenByOthers
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

    /// Whether a transaction may be on disk although its commit failed (L6).
    ///
    /// LMDB returns its own codes before it writes the first page. A system error, or the panic
    /// after it, can occur after the meta page has reached the disk.
    package var leavesOutcomeUnknown: Bool {
        switch operation {
        case .verifyCommit: return true
        case .commit, .sync:
            switch cause {
            case .system, .diskFull, .fileSizeLimit, .panic, .unknown: return true
            default: return false
            }
        default: return false
        }
    }

    /// Whether no later write of the open environment can succeed: it is not alone with its file, or
    /// the file's pages are damaged so that no change is safe.
    package var endsWriting: Bool {
        switch cause {
        case .fileLost, .writtenByOthers, .keyExists: true
        case .damagedPage: operation == .checkPages
        default: false
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
        case .keyExists: "the key exists already, or is not after the last key"
        case .notFound: "not found"
        case .pageNotFound: "a page is missing: the file is damaged"
        case .corrupted: "a page has the wrong type: the file is damaged"
        case .panic: "an earlier write failed; close the environment and open it again"
        case .versionMismatch: "the file has a different version of LMDB's format"
        case .notLMDB: "the file is not an LMDB file"
        case .mapFull: "the map is full"
        case .tablesFull: "the environment has too many tables"
        case .readersFull: "all reader slots are in use"
        case .tlsFull: "the process has too many thread-local keys"
        case .transactionFull: "the transaction has changed too many pages"
        case .cursorFull: "the tree is too deep: the file is damaged"
        case .pageFull: "a page has no room left"
        case .mapResized: "another process enlarged the map"
        case .incompatible: "the table was created with different flags"
        case .badReaderSlot: "the reader slot is in use"
        case .badTransaction: "the transaction failed earlier, or has a child transaction"
        case .badValueSize: "a key or value has a size that LMDB does not support"
        case .badTable: "the table was changed or closed after it was opened"
        case .unknown(let code): "LMDB code \(code)"
        case .system(let code): "\(Platform.message(errno: code)) (errno \(code))"
        case .diskFull: "the disk is full"
        case .fileSizeLimit(let bytes): "the file reached this process's limit of \(bytes) bytes"
        case .unsupportedLibrary(let version):
            "liblmdb \(version) is not supported; "
                + "install 0.9.24, 0.9.25, or 0.9.32 or later of 0.9"
        case .notADirectory: "the path is a file, not a directory"
        case .damagedPage(let page, let what): "page \(page) of data.mdb is damaged: \(what)"
        case .missing: "the log does not exist"
        case .dataFileMissing:
            "data.mdb is missing, but the file mark shows that a log was here; "
                + "delete the directory to start a new log"
        case .unsafeFile(let name, let problem): "\(name) \(problem)"
        case .foreignFiles(let example): "the directory has other files, such as \(example)"
        case .otherFileInLog(let example):
            "the directory has a file that is not a log's: \(example)"
        case .directoryReplaced: "the directory was removed or replaced in this moment; try again"
        case .fileLost(let loss): "data.mdb \(loss) while the log was open"
        case .writtenByOthers: "another program wrote to data.mdb while the log was open"
        case .openInThisProcess: "this process has it open already"
        case .openInProcess(let pid): "process \(pid.map(String.init) ?? "unknown") has it open"
        case .beingRead: "another process is reading it; try again"
        case .usedAfterFork: "it was opened before a fork and is used in the child process"
        case .writeInsideRead: "a thread began a write inside its own read"
        case .readerBlocksGrowth(let seconds):
            "the map must grow, but a reader did not end within \(seconds) s"
        case .noAddressSpace(let bytes):
            "the process has no free address range of \(bytes) bytes"
        case .closed: "it is closed"
        }
    }
}

extension FileProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .symbolicLink: "is a symbolic link"
        case .hardLinks(let count): "has \(count) hard links"
        case .notAFile: "is not a regular file"
        case .missing: "is missing while another process has the log open"
        case .otherOwner(let user): "belongs to user \(user)"
        }
    }
}

extension FileLoss: CustomStringConvertible {
    package var description: String {
        switch self {
        case .gone: "was deleted or moved"
        case .replaced: "was replaced"
        case .truncated(let bytes): "was truncated to \(bytes) bytes"
        }
    }
}
