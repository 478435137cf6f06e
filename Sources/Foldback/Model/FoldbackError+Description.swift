extension FoldbackError: CustomStringConvertible {
    /// One line that says what happened, to what, and what to do.
    public var description: String {
        switch self {
        case .locked(let path, let holder): "the log at \(path) is in use: \(holder)"
        case .missing(let path): "no log exists at \(path); check the path"
        case .notALog(let path, let reason):
            "\(path) is not a Foldback log (\(reason)); choose another directory"
        case .kindDiffers(let path, let existing, let asked):
            "the log at \(path) is confirmed by \(existing.rawValue), not \(asked.rawValue); "
                + "the kind is fixed when a log is created"
        case .newerFormat(let path, let sequence, let found):
            "the log at \(path) was written by a newer Foldback (\(found)\(Self.at(sequence))); "
                + "nothing was changed, use that version"
        case .damaged(let path, let sequence, let reason):
            "the log at \(path) is damaged\(Self.at(sequence)): \(reason); "
                + "nothing was changed, restore a backup or send the log to its developers"
        case .unsupportedLibrary(let version):
            "liblmdb \(version) is not supported; install 0.9.24, 0.9.25, or 0.9.32 or later of 0.9"
        case .inapplicable(let reason):
            "the event does not apply to the current view: \(reason); "
                + "change it, or record it with force"
        case .unknownIntent(let number): "no intent \(number) was ever recorded in this log"
        case .notPending(let number, let state):
            "intent \(number) is \(state.rawValue), and only a pending intent can be withdrawn"
        case .mayHaveLeft(let number):
            "intent \(number) may have reached the server already and cannot be withdrawn; "
                + "record an event that reverses it"
        case .notRejected(let number, let state, let isDismissed):
            "intent \(number) is \(isDismissed ? "dismissed or retried already" : state.rawValue), "
                + "and only a listed rejection can be dismissed or retried"
        case .invalidBatch(let reason): "the server's answer is invalid for this log: \(reason)"
        case .tooLarge(let what, let bytes, let bytesMax):
            "\(what) has \(bytes) bytes, and a log accepts at most \(bytesMax); make it smaller"
        case .notEncodable(let reason): "the event cannot be encoded: \(reason)"
        case .cancelled: "the task was canceled before anything was recorded"
        case .beyondEnd(let sequence, let last):
            "sequence \(sequence) is not there yet; the last is \(last)"
        case .doesNotFollow(let sequence, let reason):
            "entry \(sequence) cannot follow the entries before it: \(reason)"
        case .invalidEdit(let reason): "the edit cannot be made: \(reason)"
        case .notEmpty(let path, let count):
            "the log at \(path) has \(count) entries, and only an empty log can be filled; "
                + "choose another directory"
        case .noCheckpoint(let reason): "no checkpoint was written: \(reason)"
        case .closed(let path): "the store of the log at \(path) is closed; open it again"
        case .usedAfterFork(let path):
            "the store of the log at \(path) belongs to the process that opened it, not to its "
                + "fork; close it before forking, or open it only in the child"
        case .storage(let failure): "\(failure); nothing was recorded by this call"
        case .outcomeUnknown(let intent, let failure):
            "\(failure); whether \(intent.map { "intent \($0)" } ?? "the command") is in the log "
                + "is known after closing the store and opening it again"
        case .latched(let failure):
            "an earlier commit failed (\(failure)); nothing was recorded by this call, "
                + "close the store and open it again"
        }
    }

    private static func at(_ sequence: LogSequence?) -> String {
        sequence.map { " at sequence \($0)" } ?? ""
    }
}

extension LockHolder: CustomStringConvertible {
    public var description: String {
        switch self {
        case .thisProcess: "this process has it open already; use that store"
        case .process(let id?): "process \(id) has it open; close it there first"
        case .process(nil): "another process has it open; close it there first"
        case .reader: "another process is reading it; try again"
        }
    }
}

extension StorageFailure: CustomStringConvertible {
    public var description: String {
        let advice =
            switch reason {
            case .diskFull(let free): " (\(free) bytes free: free some space)"
            case .fileSizeLimit: " (raise its limit, ulimit -f)"
            case .system, .damagedFile, .tooManyReaders, .other: ""
            }
        return "the log at \(path) could not be read or written: \(detail)\(advice)"
    }
}
