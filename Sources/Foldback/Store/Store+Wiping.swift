import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Store {
    /// Removes a closed log with everything in it, for example after its user signed out (BK7).
    ///
    /// The superseded logs that it has continued are removed too (``LogDirectory/keptLogs()``). Their
    /// pending intents do not count, because the log has copies of them.
    ///
    /// ```swift
    /// await store.close()
    /// try await Store<Feed>.wipe(at: directory)
    /// ```
    ///
    /// The directory first gets a name of the form `.wiped-…` beside it. Then its files are removed.
    /// If the process is killed or the power fails, the log is complete, or no opening finds it; call
    /// this again, or ``finishWipes(in:)`` when the app starts.
    /// The log itself is the last to go. If nothing is at `directory`, an earlier call may have been
    /// cut off, and this removes kept logs. In both cases, it finishes the wipes beside it.
    ///
    /// On return, the name is gone, and the file system has the log's blocks back. It may still have
    /// their bytes, and so may flash memory, snapshots and backups of the device.
    ///
    /// May be called from any task. Runs on its own thread. Suspends the caller.
    ///
    /// - Parameters:
    ///   - directory: the file URL of the log's directory. No store may have the log open.
    ///   - discardingPending: whether to remove the log although it has pending intents, or cannot
    ///     tell because it is damaged or of a newer format. Accepted intents do not count: the
    ///     server has them.
    /// - Throws: `.pendingIntents`, `.damaged`, `.newerFormat`, unless `discardingPending` is set.
    ///   `.locked` while a store has the log or a kept log open, or a reader in this process.
    ///   `.notALog` if a directory also has files of others, or another program's data. `.unsafeFile`
    ///   if a directory or a file in it is a link, has several names, or belongs to another user.
    ///   `.storage`. The log was not changed by any of these; after `.storage`, kept logs may be
    ///   gone. `.unfinishedWipes` if the log is gone from `directory`, but is not removed, or not
    ///   completely.
    /// - Complexity: reads the newest checkpoint and the entries after it.
    public static func wipe(
        at directory: URL, discardingPending: Bool = false
    ) async throws(LogError) {
        let path = try directory.logPath()
        try await Platform.onThread { () throws(LogError) in
            try Wiping.wipe(path, discardingPending: discardingPending)
        }
    }

    /// Completes the wipes in a directory of logs that were cut off (BK7). Call it when the app
    /// starts.
    ///
    /// It removes directories of ``wipe(at:discardingPending:)`` that have only a log's files, and
    /// touches nothing else, no kept log either. It follows no link. If `root` does not exist, it does
    /// nothing.
    ///
    /// May be called from any task. Runs on its own thread. Suspends the caller.
    ///
    /// - Parameter root: the file URL of the directory that has the logs' directories.
    /// - Throws: `.unfinishedWipes` with each directory that is left, and the reason. All others are
    ///   removed. `.notALog`, `.storage` if `root` cannot be read.
    public static func finishWipes(in root: URL) async throws(LogError) {
        let path = try root.logPath()
        try await Platform.onThread { () throws(LogError) in
            try Wiping.finishWipes(in: path)
        }
    }
}

/// The steps of a wipe (BK7).
///
/// ```
/// lock ─▶ nothing pending? ─▶ rename to .wiped-… ─▶ flush ─▶ remove files and directory ─▶ flush
///            complete ◀────────────┴────────▶ gone from its path
/// ```
package enum Wiping {
    static func wipe(_ path: String, discardingPending: Bool) throws(LogError) {
        let log = try hold(path)
        var kept: [HeldDirectory] = []
        for path in try KeptLogs.all(beside: path) {  // mutant: wipe-kept
            if let log = try hold(path) { kept.append(log) }
        }
        if let log {
            try requireNothingPending(in: log, discardingPending: discardingPending)
            // A log that was to continue this log has copies of its intents.
            try SuccessorLog.remove(of: path)
            try CompactedLog.remove(beside: log)
            try PreparedLog.remove(beside: log)
        } else {
            try PreparedLog.remove(beside: path, of: nil)
        }
        // The log comes last, so that a call that is cut off can be repeated.
        var left: [UnfinishedWipe] = []
        for log in kept + [log].compactMap({ $0 }) {
            if let unfinished = try discard(log) { left.append(unfinished) }
        }
        if !left.isEmpty { throw .unfinishedWipes(left) }
        left = try finishedWipes(in: Platform.parent(of: path))
        // With the log gone, these are what an earlier call left of it. Else they may be of others.
        if log == nil, !left.isEmpty { throw .unfinishedWipes(left) }
    }

    /// Gives a log the name of a wiped log, and removes it. Returns what is left.
    ///
    /// - Parameter place: the log's path now, if it was exchanged with another one.
    /// - Throws: `.storage`, and nothing was changed.
    static func discard(
        _ held: HeldDirectory, at place: String? = nil
    ) throws(LogError) -> UnfinishedWipe? {
        let target = wipedPath(beside: held.path)
        try LMDBLog.translating(held.path) { () throws(LMDBError) in
            try held.move(from: place, to: target)
        }
        return remove(held, at: target)
    }

    /// Takes the locks of a closed log; nil if nothing is at the path.
    ///
    /// - Throws: `.locked`, `.notALog`, `.unsafeFile`, `.storage`; nothing was changed.
    package static func hold(_ path: String) throws(LogError) -> HeldDirectory? {
        do throws(LMDBError) { return try HeldDirectory.hold(path) } catch {
            guard error.cause == .missing else { throw LogError(error, at: path) }
            return nil
        }
    }

    /// Returns a new path beside a log, for ``HeldDirectory/move(to:)``.
    package static func wipedPath(beside path: String) -> String {
        WipedName.path(beside: path, id: LogSources.system.freshReplica().description)
    }

    /// Checks that the log has no pending intent, or that the caller discards them.
    ///
    /// The files of another program are refused in both cases.
    private static func requireNothingPending(
        in held: HeldDirectory, discardingPending: Bool
    ) throws(LogError) {
        let state: LogState?
        do throws(LogError) {
            state = try Self.state(of: held)
        } catch .damaged where discardingPending {
            return
        } catch .newerFormat where discardingPending {
            return
        }
        guard let state else { return }
        let count = state.overlay.count - state.acceptedCount
        guard count == 0 || discardingPending else {  // mutant: wipe-pending
            throw .pendingIntents(path: held.path, count: count, held: state.drafts.held.count)
        }
    }

    /// Returns the state of a log that this process holds; nil if the log has no commit.
    static func state(of held: HeldDirectory) throws(LogError) -> LogState? {
        try reading(held) { log throws(LogError) in
            try LogFold.folded(log, codec: RawCodec()).fold.state
        }
    }

    /// Returns the header of a log that this process holds; nil if the log has no commit.
    static func header(of held: HeldDirectory) throws(LogError) -> LogHeader? {
        try reading(held) { log in log.header }
    }

    static func reading<R>(
        _ held: HeldDirectory, _ body: (LMDBLog) throws(LogError) -> R
    ) throws(LogError) -> R? {
        let environment = try LMDBLog.translating(held.path) { () throws(LMDBError) in
            try held.openReadOnly()
        }
        guard let environment else { return nil }
        defer { environment.close() }
        let log: LMDBLog
        do throws(LogError) { log = try LMDBLog.reading(environment) } catch .missing {
            return nil
        }
        return try body(log)
    }

    /// Removes the files of a directory that is at `path` now, and returns what is left.
    package static func remove(_ held: HeldDirectory, at path: String) -> UnfinishedWipe? {
        do throws(LMDBError) {
            try held.remove(at: path)
            return nil
        } catch {
            return UnfinishedWipe(path: path, error: LogError(error, at: path))
        }
    }

    static func finishWipes(in root: String) throws(LogError) {
        let left = try finishedWipes(in: root)
        if !left.isEmpty { throw .unfinishedWipes(left) }
    }

    /// Completes the wipes in a directory, and returns what is left.
    private static func finishedWipes(in root: String) throws(LogError) -> [UnfinishedWipe] {
        let names = try LMDBLog.translating(root) { () throws(LMDBError) in
            try WipedName.all(in: root)
        }
        var left: [UnfinishedWipe] = []
        for path in names.map({ "\(root)/\($0)" }) {
            do throws(LogError) {
                guard let held = try hold(path) else { continue }
                if let unfinished = remove(held, at: path) { left.append(unfinished) }
            } catch {
                left.append(UnfinishedWipe(path: path, error: error))
            }
        }
        return left
    }
}
