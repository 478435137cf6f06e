/// An error of a log or store, with the state that it leaves: of opening, reading, waiting, closing
/// and wiping.
///
/// The cases are failures of the outside world, and mistakes of the caller that types cannot
/// prevent. A command throws ``CommandError``, which has these errors as one case. The server's
/// answers are not errors. They are values (``Answer``).
@nonexhaustive
public enum LogError: Error, Sendable {
    // MARK: Opening

    /// Another store or a reader has the log open. A log has one writer at a time (L8).
    case locked(path: String, holder: LockHolder)
    /// The path has no log, and this call does not create one.
    case missing(path: String)
    /// The path has files that are not a Foldback log. They were left unchanged.
    case notALog(path: String, reason: String)
    /// A file of the log is a symbolic link, has several hard links, is not a regular file, or
    /// belongs to another user. Another store could open the same file, or the file is a trap.
    /// Nothing was changed.
    case unsafeFile(path: String, reason: String)
    /// The log is a server's copy of decisions that are in a table, and this call has no table. Nothing
    /// was changed.
    case copyOfTable(path: String)
    /// The log has events, this code can read none of them, and no projection of this code was ever
    /// on the log. `projections` has the names of those that were, as far as the log knows them.
    /// No entry was changed; a copied log may have its fresh replica id.
    case otherApp(path: String, projections: [String])
    /// The views of this log need projections that this code lacks, because they share their
    /// conflicts with its projections (F9). Nothing was changed. The entries can be read without
    /// views.
    case lacksProjections(path: String, names: [String])
    /// The log was created with another kind, and the kind cannot change (F2).
    case kindDiffers(path: String, existing: LogKind, asked: LogKind)
    /// A newer Foldback wrote the log. Nothing was changed, and nothing is lost (L5).
    case newerFormat(path: String, sequence: LogSequence?, found: String)
    /// A stored value differs from the value that was written, or a page of the file is not as it was
    /// written. Nothing was changed or skipped (L5). A store whose pages cannot be written to safely
    /// throws it for each command.
    case damaged(path: String, sequence: LogSequence?, reason: String)
    /// The installed liblmdb has known faults or another file format.
    case unsupportedLibrary(version: String)
    /// The name for a new log's replica id is longer than a log accepts. No log was created.
    case tooLarge(what: String, bytes: Int, bytesMax: Int)
    /// A history can only be imported into a log without entries. Nothing was changed.
    case notEmpty(path: String, entryCount: Int)

    // MARK: Backups

    /// The directory has another log than an earlier backup of this log, so a backup there could lose
    /// something. Nothing was changed (BK1).
    case notABackup(path: String, reason: String)

    // MARK: Reading

    /// This log never recorded an intent with this number.
    case unknownIntent(IntentNumber)
    /// The requested sequence is after the log's last entry.
    case beyondEnd(LogSequence, last: LogSequence)

    // MARK: Compaction

    /// The entries through this one were removed by a compaction (C8). Nothing was changed. An archive
    /// has them, if one was kept.
    case compacted(path: String, through: LogSequence)
    /// The log knows what became of the intent, and its entry was removed by a compaction (C4).
    case compactedIntent(IntentNumber, IntentState)
    /// The log begins at a base that lacks the states of these projections: they are new, or have
    /// another version, and the entries that they need were removed (C6). Nothing was changed.
    case needsHistory(path: String, projections: [String], base: LogSequence)
    /// An acknowledgement log has its history nowhere else, so a compaction must archive it (C5).
    /// Nothing was changed.
    case needsArchive(path: String)
    /// The compacted log does not agree with the log, or a state that a log was to begin from is not
    /// what its codec makes of it, so the log stays as it is (C7).
    case notProven(path: String, reason: String)
    /// The folder has no archive with the entries that were removed from the log through this one (C9).
    /// Nothing was changed.
    case lacksArchive(path: String, archive: String, through: LogSequence)
    /// The states that a log was to begin from do not fit the log that is there. Nothing was changed.
    case unfitBase(path: String, reason: String)

    // MARK: Wiping

    /// The log has this many pending intents, which no server has for certain. Nothing was changed
    /// (BK7).
    case pendingIntents(path: String, count: Int, held: Int)
    /// These wiped logs are not removed, or not completely. No opening finds them, and
    /// ``Store/finishWipes(in:)`` tries again (BK7).
    case unfinishedWipes([UnfinishedWipe])

    // MARK: Continuing

    /// The log cannot continue on a new log, because these superseded logs are kept beside it already
    /// (N6). Nothing was changed. Remove one with ``Store/wipe(at:discardingPending:)``, and discard
    /// its pending intents, because the log has copies of them.
    case tooManyKeptLogs(paths: [String])

    // MARK: Checkpoints

    /// No checkpoint was written, for the given reason. Opening folds from the checkpoint before,
    /// or from the first entry.
    case noCheckpoint(reason: String)

    // MARK: The store

    /// The task was canceled while it waited, or before its command was queued (L3). Nothing was
    /// changed by this call.
    case cancelled
    /// The store is closed.
    case closed(path: String)
    /// The store was opened before a fork and was used in the child. It belongs to the parent (L8).
    case usedAfterFork(path: String)
    /// Reading or writing failed. Nothing was recorded by this call.
    case storage(StorageFailure)
    /// The commit failed, and may or may not be on disk (L6). The store refuses further commands.
    /// Close it and open it again; then ``Store/intent(_:)`` reports whether the log has the
    /// intent.
    case outcomeUnknown(intent: IntentNumber?, StorageFailure)
    /// An earlier commit failed, or the data file is lost, and the store refuses commands until it
    /// is closed and opened again. Nothing was recorded by this call.
    ///
    /// The last committed view can still be read (L6). Rows can still be read unless the failed
    /// commit reached the file.
    case latched(StorageFailure)
}

/// The holder of a log that cannot be opened.
public enum LockHolder: Hashable, Sendable {
    case thisProcess
    /// Another process, with its process id if known.
    case process(Int32?)
    /// A process that reads the closed log. It holds the log only for moments, except while it
    /// verifies.
    case reader
}

/// A wiped log that could not be removed.
public struct UnfinishedWipe: Sendable {
    /// The name that the log's directory has now.
    public let path: String
    /// The reason.
    public let error: LogError

    package init(path: String, error: LogError) {
        self.path = path
        self.error = error
    }
}

/// A failure of the disk, the file system or LMDB below a log.
public struct StorageFailure: Error, Hashable, Sendable {
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The disk is full. Free some space, close the store and open it again to continue
        /// writing.
        case diskFull(freeBytes: UInt64)
        /// The file reached the largest size that this process may write (setrlimit(2), `ulimit
        /// -f`).
        case fileSizeLimit(bytes: UInt64)
        /// A system call failed with this error number.
        case system(errno: Int32)
        /// A page of the file is damaged.
        case damagedFile
        /// The data file was deleted, moved, replaced or truncated while the log was open. Open the
        /// log again to see what is at the path now.
        case fileLost
        /// Another program wrote to the data file while the log was open (L1).
        case writtenByOthers
        /// All 126 reader slots are in use, by reads at the same time or by processes that died
        /// while reading.
        case tooManyReaders
        case other
    }

    public let path: String
    public let reason: Reason
    /// The operation, the table and LMDB's own message.
    public let detail: String
    /// Whether the failed write may be on disk.
    package let leavesOutcomeUnknown: Bool
    /// Whether no later write can succeed until the log is opened again.
    package let endsWriting: Bool

    package init(
        path: String, reason: Reason, detail: String, leavesOutcomeUnknown: Bool,
        endsWriting: Bool = false
    ) {
        self.path = path
        self.reason = reason
        self.detail = detail
        self.leavesOutcomeUnknown = leavesOutcomeUnknown
        self.endsWriting = endsWriting
    }
}

extension StorageFailure {
    /// Whether the check of the file's pages found damage, so that nothing may be written.
    package var isPageFinding: Bool { reason == .damagedFile && endsWriting }

    /// The error of the write that failed and left nothing.
    package var unwritten: LogError { isPageFinding ? damage : .storage(self) }

    /// The error of each command of a store that this failure has latched (L6).
    package var refusal: LogError { isPageFinding ? damage : .latched(self) }

    private var damage: LogError { .damaged(path: path, sequence: nil, reason: detail) }
}
