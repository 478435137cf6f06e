/// What can go wrong, and how the log stands afterwards.
///
/// Bugs of the caller's that a type cannot rule out are here as well as failures of the world;
/// answers of the server are not: they are values (``Answer``).
@nonexhaustive
public enum FoldbackError: Error, Sendable {
    // MARK: Opening

    /// Another store has the log open: one log has one writer (L8).
    case locked(path: String, holder: LockHolder)
    /// There is no log at the path, and this call creates none.
    case missing(path: String)
    /// What is at the path is no log of Foldback's, and was left as it is.
    case notALog(path: String, reason: String)
    /// The log's kind was fixed when it was created (F2).
    case kindDiffers(path: String, existing: LogKind, asked: LogKind)
    /// Written by a newer Foldback; nothing was changed, and nothing is lost (L5).
    case newerFormat(path: String, sequence: LogSequence?, found: String)
    /// A stored value is not what was written. Nothing was changed or skipped (L5).
    case damaged(path: String, sequence: LogSequence?, reason: String)
    /// This version of liblmdb has known faults or another file format.
    case unsupportedLibrary(version: String)

    // MARK: Commands; nothing was appended

    /// `apply` threw for an event that was to be recorded (F9).
    case inapplicable(reason: String)
    case unknownIntent(IntentNumber)
    case notPending(IntentNumber, state: IntentState)
    /// Sending the intent has begun, so the authority may have it: it cannot be withdrawn any more, only
    /// answered (F7).
    case mayHaveLeft(IntentNumber)
    case notRejected(IntentNumber, state: IntentState, isDismissed: Bool)
    /// A position or a batch that this log cannot take; says why (F2 to F5).
    case invalidBatch(reason: String)
    /// An event, key, message or `info` is larger than a log takes.
    case tooLarge(what: String, bytes: Int, bytesMax: Int)
    /// The codec could not encode an event.
    case notEncodable(reason: String)
    /// The task was cancelled before its command was queued (L3).
    case cancelled
    /// The view at a sequence beyond the log's end was asked for.
    case beyondEnd(LogSequence, last: LogSequence)

    // MARK: Histories

    /// An entry of a ``RecordedHistory`` cannot come behind those before it, and why.
    case doesNotFollow(LogSequence, reason: String)
    /// An edit of a history is of an entry or intent that it does not have, or not any more, and which.
    case invalidEdit(reason: String)
    /// A history can only be imported into a log without entries; nothing was changed.
    case notEmpty(path: String, entryCount: Int)

    // MARK: Checkpoints

    /// No checkpoint can be made, and why. Opening folds from the one before, or from the first entry.
    case noCheckpoint(reason: String)

    // MARK: The store

    /// The store is closed.
    case closed(path: String)
    /// The store was opened before a fork and is used in the child; it is the parent's (L8).
    case usedAfterFork(path: String)
    /// Reading or writing failed. Nothing was recorded by this call.
    case storage(StorageFailure)
    /// The commit failed in a way that leaves open whether it is on disk (L6). The store takes no more
    /// commands; after closing and opening it again, ``Store/intent(_:)`` tells whether the log has
    /// the intent.
    case outcomeUnknown(intent: IntentNumber?, StorageFailure)
    /// An earlier commit failed and the store takes no more commands until it is closed and opened
    /// again; nothing was recorded by this call. The last committed view can still be read (L6); rows
    /// only where the file does not have the failed commit.
    case latched(StorageFailure)
}

/// Who has a log that cannot be opened.
public enum LockHolder: Hashable, Sendable {
    case thisProcess
    /// Its process id where it is known.
    case process(Int32?)
    /// A process is reading the closed log; it does so for moments only, but for verifying.
    case reader
}

/// A failure of the disk, the file system or LMDB beneath a log.
public struct StorageFailure: Error, Hashable, Sendable {
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// Free space, close the store and open it again: writing goes on.
        case diskFull(freeBytes: UInt64)
        /// The file has reached what this process may write (setrlimit(2), `ulimit -f`).
        case fileSizeLimit(bytes: UInt64)
        /// The system's error number.
        case system(errno: Int32)
        /// A page of the file is not what it should be.
        case damagedFile
        /// Every slot for readers is taken: 126 reads at once, or processes that died while reading.
        case tooManyReaders
        case other
    }

    public let path: String
    public let reason: Reason
    /// The operation, the table and LMDB's own words.
    public let detail: String
    /// Whether the disk may hold what was being written.
    package let leavesOutcomeUnknown: Bool

    package init(path: String, reason: Reason, detail: String, leavesOutcomeUnknown: Bool) {
        self.path = path
        self.reason = reason
        self.detail = detail
        self.leavesOutcomeUnknown = leavesOutcomeUnknown
    }
}

extension FoldbackError {
    /// Why a command was refused, as its caller hears it.
    package init(_ refusal: Refusal) {
        self =
            switch refusal {
            case .unknownIntent(let number): .unknownIntent(number)
            case .notPending(let number, let state): .notPending(number, state: state)
            case .notRejected(let number, let state, let isDismissed):
                .notRejected(number, state: state, isDismissed: isDismissed)
            case .positionBelowOne: .invalidBatch(reason: "positions start at 1")
            case .throughBelowPosition(let through, let highest):
                .invalidBatch(
                    reason: "through is \(through), below position \(highest) in the batch")
            case .positionInAcknowledgementLog:
                .invalidBatch(reason: "a log that acknowledgements confirm has no positions")
            case .batchInAcknowledgementLog:
                .invalidBatch(reason: "a log that acknowledgements confirm takes no batches")
            }
    }
}
