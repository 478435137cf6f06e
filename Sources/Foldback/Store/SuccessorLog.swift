import FoldbackLMDB

/// The new log beside a superseded log, until it takes that log's place.
package enum SuccessorLog {
    /// Returns the path of the successor of the log at `path`.
    package static func path(of path: String) -> String {
        var path = Substring(path)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return "\(path).successor"
    }

    /// Puts the successor in the place of a superseded log, and wipes that log.
    ///
    /// Both logs are closed. If the process is killed or the power fails, one of the two is complete
    /// at `path`, and all files of the other are there, or its directory has the name of a wiped log
    /// (BK7).
    ///
    /// - Parameters:
    ///   - old: the status of the superseded log when its store was closed.
    ///   - carried: the unsettled intents of the superseded log that the successor has.
    /// - Throws: `.closed` if another log has that place already. `.locked` if another process has
    ///   one of the logs open, or recorded other intents in the superseded log. `.missing`,
    ///   `.notALog`, `.unsafeFile`, `.damaged`, `.newerFormat`, `.storage`. Nothing was changed by
    ///   any of these. `.unfinishedWipes` if the successor is in place, but the superseded log is not
    ///   removed.
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
        let target = Wiping.wipedPath(beside: path)
        try LMDBLog.translating(path) { () throws(LMDBError) in
            try new.move(to: target)
            // From here on, the successor is litter until it has the log's name. The log is complete.
            try Platform.syncParent(of: path)
            do throws(LMDBError) { try Platform.exchange(path, target) } catch {
                _ = Platform.rename(target, to: Self.path(of: path))
                throw error
            }
        }
        // Until here, its locks keep a finishing of wipes in another task away from the successor.
        withExtendedLifetime(new) {}
        if let left = Wiping.remove(old, at: target) { throw .unfinishedWipes([left]) }
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
