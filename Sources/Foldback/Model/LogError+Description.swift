#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension LogError: CustomStringConvertible {
    /// One line that says what happened, to what, and what to do.
    public var description: String { explanation.line }

    package var explanation: Explanation {
        switch self {
        case .locked(let path, let holder):
            Explanation("the log at \(path) is in use: \(holder.problem)", holder.advice)
        case .missing(let path): Explanation("no log exists at \(path)", "check the path")
        case .notALog(let path, let reason):
            Explanation("\(path) is not a Foldback log (\(reason))", "choose another directory")
        case .unsafeFile(let path, let reason):
            Explanation(
                "the log at \(path) is not safe to open: \(reason)",
                "use a directory with plain files of your own, and copy a log instead of linking it"
            )
        case .copyOfTable(let path):
            Explanation(
                "the log at \(path) is a copy of decisions that are in a database; nothing was changed",
                "start the server with that database")
        case .otherApp(let path, let projections):
            Explanation(
                "the log at \(path) is another app's: it has events, this code can read none, and "
                    + (projections.isEmpty
                        ? "none of this code's projections was on it before"
                        : "its projections were \(projections.joined(separator: ", "))"),
                "check the path", code: " (an app can open it with unreadable: .opened)")
        case .lacksProjections(let path, let names):
            Explanation(
                "the log at \(path) has views that need \(names.joined(separator: ", ")) too, "
                    + "because these projections share their conflicts",
                "open it with the app that has them",
                code: " (also:), or drop them on purpose when you open a store "
                    + "(conflicts: .shared.dropping(...))")
        case .kindDiffers(let path, let existing, let asked):
            Explanation(
                "the log at \(path) is confirmed by \(existing.rawValue), not \(asked.rawValue); "
                    + "the kind is fixed when a log is created")
        case .newerFormat(let path, let sequence, let found):
            Explanation(
                "the log at \(path) was written by a newer Foldback "
                    + "(\(found)\(Self.at(sequence))); nothing was changed",
                "use that version")
        case .damaged(let path, let sequence, let reason):
            Explanation(
                "the log at \(path) is damaged\(Self.at(sequence)): \(reason); nothing was changed",
                "restore a backup or send the log to its developers")
        case .unsupportedLibrary(let version):
            Explanation(
                "liblmdb \(version) is not supported",
                "install 0.9.24, 0.9.25, or 0.9.32 or later of 0.9")
        case .tooLarge(let what, let bytes, let bytesMax): .tooLarge(what, bytes, bytesMax)
        case .unknownIntent(let number):
            Explanation("no intent \(number) was ever recorded in this log")
        case .cancelled: Explanation("the task was canceled before anything was recorded")
        case .beyondEnd(let sequence, let last):
            Explanation("sequence \(sequence) is not there yet; the last is \(last)")
        case .notEmpty(let path, let count):
            Explanation(
                "the log at \(path) has \(count) entries, and only an empty log can be filled",
                "choose another directory")
        case .notABackup(let path, let reason):
            Explanation(
                "the log at \(path) is not an earlier backup of this log: \(reason); nothing was "
                    + "changed",
                "choose another directory")
        case .compacted(let path, let through):
            Explanation(
                "the log at \(path) begins after entry \(through): the entries through it were "
                    + "removed by a compaction",
                "start after it, or read an archive of the log")
        case .compactedIntent(let number, let state):
            Explanation(
                "intent \(number) is \(state.rawValue), and its entry was removed by a compaction",
                "read an archive of the log")
        case .needsHistory(let path, let projections, let base):
            Explanation(
                "the log at \(path) begins after entry \(base), and has no state there of "
                    + "\(projections.joined(separator: ", ")); nothing was changed",
                "use the code that compacted it, an archive of the log, or a new log that fetches "
                    + "everything")
        case .needsArchive(let path):
            Explanation(
                "the acknowledgement log at \(path) has its history nowhere else; nothing was changed",
                "give a folder for its archive")
        case .notProven(let path, let reason):
            Explanation(
                "the log at \(path) was not replaced, because the new log differs: \(reason); "
                    + "nothing was changed",
                "verify the log")
        case .lacksArchive(let path, let archive, let through):
            Explanation(
                "the folder \(archive) has no archive of the log at \(path) with the entries through "
                    + "\(through); nothing was changed",
                "give the folder that compactions moved the log to")
        case .unfitBase(let path, let reason):
            Explanation(
                "the log at \(path) cannot begin from these states: \(reason); nothing was changed",
                "fetch later states, or continue on a new log")
        case .pendingIntents(let path, let count, let held):
            Explanation(
                "the log at \(path) has \(count) pending \(count == 1 ? "intent" : "intents")"
                    + (held == 0
                        ? "" : ", of which \(held) \(held == 1 ? "is a draft" : "are drafts")")
                    + "; nothing was changed",
                (held == 0 ? "" : "release what is to be sent, ")
                    + "send \(count == 1 ? "it" : "them") first or discard "
                    + "\(count == 1 ? "it" : "them")")
        case .unfinishedWipes(let wipes):
            Explanation(
                "\(wipes.count) wiped \(wipes.count == 1 ? "log is" : "logs are") not removed yet: "
                    + wipes.map { "\($0.path): \($0.error)" }.joined(separator: "; "))
        case .tooManyKeptLogs(let paths):
            Explanation(
                "\(paths.count) superseded \(paths.count == 1 ? "log is" : "logs are") kept already: "
                    + "\(paths.joined(separator: ", ")); nothing was changed",
                "wipe one of them",
                code: " (Store.wipe(at:discardingPending: true); its pending intents were copied)")
        case .noCheckpoint(let reason): Explanation("no checkpoint was written: \(reason)")
        case .closed(let path):
            Explanation("the store of the log at \(path) is closed", "open it again")
        case .usedAfterFork(let path):
            Explanation(
                "the store of the log at \(path) belongs to the process that opened it, not to its "
                    + "fork",
                "close it before forking, or open it only in the child")
        case .storage(let failure):
            Explanation("\(failure.problem); nothing was changed by this call", failure.advice)
        case .outcomeUnknown(let intent, let failure):
            Explanation(
                "\(failure.problem); whether \(intent.map { "intent \($0)" } ?? "the command") is "
                    + "in the log is known after closing the store and opening it again",
                failure.advice)
        case .latched(let failure):
            Explanation(
                "the store takes no more commands (\(failure)); nothing was recorded by this call",
                "close the store and open it again")
        }
    }

    private static func at(_ sequence: LogSequence?) -> String {
        sequence.map { " at sequence \($0)" } ?? ""
    }
}

extension LogError: LocalizedError {
    /// What happened, as a sentence.
    public var errorDescription: String? { explanation.sentence }

    /// What to do, as a sentence; nil if nothing helps in general.
    public var recoverySuggestion: String? { explanation.suggestion }
}

extension LockHolder: CustomStringConvertible {
    public var description: String { "\(problem); \(advice)" }

    fileprivate var problem: String {
        switch self {
        case .thisProcess: "this process has it open already"
        case .process(let id?): "process \(id) has it open"
        case .process(nil): "another process has it open"
        case .reader: "another process is reading it"
        }
    }

    fileprivate var advice: String {
        switch self {
        case .thisProcess: "use that store"
        case .process: "close it there first"
        case .reader: "try again"
        }
    }
}

extension StorageFailure: CustomStringConvertible, LocalizedError {
    public var description: String { Explanation(problem, advice).line }
    public var errorDescription: String? { Explanation(problem).sentence }
    public var recoverySuggestion: String? { advice?.asSentence }

    fileprivate var problem: String {
        let size = if case .diskFull(let free) = reason { " (\(free) bytes free)" } else { "" }
        return "the log at \(path) could not be read or written: \(detail)\(size)"
    }

    fileprivate var advice: String? {
        switch reason {
        case .diskFull: "free some space"
        case .fileSizeLimit: "raise its limit (ulimit -f)"
        case .fileLost: "look for the file first, because opening may create an empty log"
        case .writtenByOthers: "close the other program and open the log again"
        case .system, .damagedFile, .tooManyReaders, .other: nil
        }
    }
}
