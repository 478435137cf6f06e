import FoldbackLMDB

/// The new log beside a superseded log, until it takes that log's place.
package enum SuccessorLog {
    /// Returns the path of the successor of the log at `path`.
    package static func path(of path: String) -> String {
        "\(Platform.trimmed(path)).successor"
    }

    /// Prepares the place beside a superseded log for its successor.
    ///
    /// An exchange that was cut off may have left the successor under the name of the kept log. It
    /// gets its own name back.
    ///
    /// - Throws: `.tooManyKeptLogs` if no further log can be kept; `.locked`, `.notALog`,
    ///   `.unsafeFile`, `.damaged`, `.newerFormat`, `.storage`. Nothing was changed by any of these.
    ///   `.unfinishedWipes`.
    package static func prepare(
        path: String, replica: ReplicaID
    ) async throws(LogError) {
        try await Platform.onThread { () throws(LogError) in
            try restore(besideLogAt: path, of: replica)
            try KeptLogs.requireRoom(beside: path)
        }
    }

    /// Puts the successor in the place of a superseded log, and keeps that log beside it (N6).
    ///
    /// Both logs are closed. If the process is killed or the power fails, the superseded log is
    /// complete, at `path` or as a kept log. In the first case, the successor may have the name of the
    /// kept log: ``prepare(path:replica:)``.
    ///
    /// - Parameters:
    ///   - old: the status of the superseded log when its store was closed.
    ///   - carried: the unsettled intents of the superseded log that the successor has.
    /// - Throws: `.closed` if another log has that place already. `.locked` if another process has
    ///   one of the logs open, or recorded other intents in the superseded log. `.tooManyKeptLogs`,
    ///   `.missing`, `.notALog`, `.unsafeFile`, `.damaged`, `.newerFormat`, `.storage`. The
    ///   superseded log is complete in one of the two places.
    package static func replace(
        _ old: StoreStatus, carried: Set<IntentID>
    ) async throws(LogError) {
        try await Platform.onThread { () throws(LogError) in
            try exchange(old, carried: carried)
        }
    }

    /// Wipes the successor of a log, if there is one.
    ///
    /// - Throws: `.locked`, `.notALog`, `.unsafeFile`, `.storage`; nothing was changed.
    ///   `.unfinishedWipes`.
    package static func wipe(of path: String) async throws(LogError) {
        try await Platform.onThread { () throws(LogError) in try remove(of: path) }
    }

    /// Calls `body` and waits for it, also if the task is canceled. `body` does not see that.
    package static func uncanceled<R: Sendable>(
        _ body: @escaping @Sendable () async -> R
    ) async -> R {
        await Task { await body() }.value
    }

    private static func exchange(
        _ status: StoreStatus, carried: Set<IntentID>
    ) throws(LogError) {
        let path = status.path
        guard let old = try Wiping.hold(path) else { throw .missing(path: path) }
        guard let new = try Wiping.hold(Self.path(of: path)) else {
            throw .missing(path: Self.path(of: path))
        }
        guard let state = try Wiping.state(of: old), state.replica == status.replica else {
            throw .closed(path: path)
        }
        guard state.sequence == status.sequence, carried.isSuperset(of: state.unsettled) else {
            throw .locked(path: path, holder: .process(nil))
        }
        try PreparedLog.remove(beside: old)
        try KeptLogs.requireRoom(beside: path)
        let kept = KeptLogs.path(of: status.replica, beside: path)
        guard try Wiping.hold(kept) == nil else { throw .tooManyKeptLogs(paths: [kept]) }
        try LMDBLog.translating(path) { () throws(LMDBError) in
            try new.move(to: kept)
            // From here on, the names tell which log is which: the log at `path` has the replica id
            // whose hash is in the other name, so the other log is not the kept log yet.
            try Platform.syncParent(of: path)
            do throws(LMDBError) { try Platform.exchange(path, kept) } catch {
                _ = Platform.rename(kept, to: Self.path(of: path))
                throw error
            }
            try Platform.syncParent(of: path)
        }
        // Until here, the locks keep a wipe in another task away from both logs.
        withExtendedLifetime((old, new)) {}
    }

    /// Gives a successor its own name back if it has the name that the log at `path` gets as a kept
    /// log.
    private static func restore(
        besideLogAt path: String, of replica: ReplicaID
    ) throws(LogError) {
        let kept = KeptLogs.path(of: replica, beside: path)
        guard let found = try Wiping.hold(kept) else { return }
        // With the same replica id, it is a kept log. The ids of a test's logs can be equal.
        guard try Wiping.header(of: found)?.replicas.current != replica else {
            throw .tooManyKeptLogs(paths: [kept])
        }
        // Older code does not look for the name, and begins another successor.
        try remove(of: path)
        try LMDBLog.translating(path) { () throws(LMDBError) in
            try found.move(to: Self.path(of: path))
        }
    }

    /// Removes the successor of a log, if there is one. Blocks.
    ///
    /// - Throws: as ``wipe(of:)``.
    static func remove(of path: String) throws(LogError) {
        let path = Self.path(of: path)
        guard let held = try Wiping.hold(path) else { return }
        if let left = try Wiping.discard(held) { throw .unfinishedWipes([left]) }
    }
}

extension LogState {
    fileprivate var unsettled: [IntentID] { overlay.values.map(\.recorded.id) }
}
