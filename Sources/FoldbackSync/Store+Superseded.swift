import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The result of `continueOnNewLog` of ``/Foldback/Store``.
@nonexhaustive
public enum Continuation<P: EventFold>: Sendable {
    /// The new log is in the place of the superseded log. This is its store. Start the outbox and
    /// the downlink on it.
    case continued(Store<P>)
    /// The authority has everything that this log has from it, or none has superseded this log since
    /// its store was opened. Nothing was changed: go on with this store.
    case notSuperseded
    /// Fetching failed, and a retry would not help now. The superseded log is as it was, and its
    /// store is open.
    case failed(AuthorityFailure)
    /// The task was canceled. The superseded log is as it was, and its store is open.
    case stopped
}

extension Store {
    /// Continues a superseded log with the present authority, on a new log in the same place.
    ///
    /// ```swift
    /// do { try await outbox.run() } catch .superseded {
    ///     let result = try await store.continueOnNewLog(from: server, policy: .ordered) { url in
    ///         try await Store.open(
    ///             at: url, Feed.self, confirmedBy: .downlink, durability: .durable)
    ///     }
    /// }
    /// ```
    ///
    /// The authority is another one, or has lost data (``SyncError/superseded(shared:)``). This
    /// opens a new log beside this log, fetches the authority's events, and records the unsettled
    /// intents of this log that no fetched event names. Each gets its old id as once key, in place
    /// of its own key. Then it flushes the new log, closes this store, exchanges the names of the
    /// two logs, and wipes the old log (BK7). If the fetched events are those that this log has,
    /// the authority has lost nothing, and this log stays.
    ///
    /// Nothing is lost or doubled if the process is killed or the power fails: this log is complete
    /// until the new log has its place. Open the log at its path, as always, and call this again if
    /// the authority still supersedes it. ``finishWipes(in:)`` removes what is left of the old log.
    ///
    /// While this fetches, the old view can be read, and more intents can be recorded. No outbox can
    /// run on this store meanwhile: wait for ``Outbox/run()`` to end before. Confirmed events and the
    /// list of rejections are not moved: the new log has the authority's events. An intent that
    /// continues has a new id, so ids that a projection derived from it change too.
    ///
    /// - Parameters:
    ///   - authority: the authority that superseded this log.
    ///   - policy: the waits between attempts to fetch.
    ///   - sources: the sources of time and randomness.
    ///   - open: opens a log, as the app opens this log. Called with the directory of the new log,
    ///     and at the end with this log's directory. A store in memory has no directory, so the
    ///     first store is the result.
    /// - Returns: the store to continue with, or the reason why this log stays.
    /// - Throws: `.alreadyRunning` if an outbox runs on this store. `.log(.kindDiffers)` for a log
    ///   that acknowledgements confirm: its confirmed state is nowhere else, so only the app can
    ///   decide what to do with it. `.log(.closed)` if this store is closed, for example because
    ///   another call has continued already. `.log(.latched)`. Nothing was changed by these.
    ///   `.refused` if an outbox sends from the new log already. `.log` with the errors of `open`,
    ///   with `.locked` or `.storage`, and the errors of fetching: this log is complete at its path,
    ///   but this store may be closed, so open it again.
    public func continueOnNewLog(
        from authority: any Authority<P.Event>, policy: SyncPolicy,
        sources: SyncSources = .system,
        opening open: @escaping @Sendable (URL) async throws(LogError) -> Store<P>
    ) async throws(SyncError) -> Continuation<P> {
        let path = status.path
        let place: any SuccessorPlace<P> =
            isInMemory
            ? SuccessorInMemory(path: path, open: open) : SuccessorFiles(path: path, open: open)
        return try await continueOnNewLog(
            from: authority, policy: policy, sources: sources, in: place)
    }

    /// The same in any place.
    package func continueOnNewLog(
        from authority: any Authority<P.Event>, policy: SyncPolicy, sources: SyncSources,
        in place: any SuccessorPlace<P>
    ) async throws(SyncError) -> Continuation<P> {
        try await SyncError.converting { () throws(LogError) in try requireContinuable() }
        let senders = core.senders
        let run = senders.newRun()
        defer { senders.leave(run) }
        let result = await withTaskCancellationHandler {
            switch await senders.enter(run) {
            case .ended: return Result<Continuation<P>, SyncError>.success(.stopped)
            case .refused: return .failure(.alreadyRunning)
            case .entered: break
            }
            do throws(SyncError) {
                return .success(try await continued(from: authority, policy, sources, place))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            senders.end(run)
        }
        return try result.get()
    }

    /// - Throws: `.closed`, `.latched`, `.kindDiffers`.
    private func requireContinuable() throws(LogError) {
        try requireOpen()
        if let refusal = core.publication.read(\.refusal) { throw refusal }
        // In an acknowledgement log, the confirmed state is nowhere else, and nothing shows which
        // intents the authority has.
        guard status.kind == .downlink else {
            throw .kindDiffers(path: status.path, existing: status.kind, asked: .downlink)
        }
    }

    private func continued(
        from authority: any Authority<P.Event>, _ policy: SyncPolicy, _ sources: SyncSources,
        _ place: any SuccessorPlace<P>
    ) async throws(SyncError) -> Continuation<P> {
        try await SyncError.converting { () throws(LogError) in try requireOpen() }
        guard superseded != nil else { return .notSuperseded }
        var successor = try await SyncError.converting { () async throws(LogError) in
            try await place.openSuccessor()
        }
        do throws(SyncError) {
            var result = try await successor.fetchAll(from: authority, policy, sources)
            if case .superseded = result {
                // An earlier call began this log with another authority.
                await successor.close()
                successor = try await SyncError.converting { () async throws(LogError) in
                    try await place.wipeSuccessor()
                    return try await place.openSuccessor()
                }
                result = try await successor.fetchAll(from: authority, policy, sources)
            }
            switch result {
            case .fetched: break
            case .superseded(let shared): throw .superseded(shared: shared)
            case .failed(let failure):
                await successor.close()
                return .failed(failure)
            case .stopped:
                await successor.close()
                return .stopped
            }
            let filled = successor
            let isSame = try await SyncError.converting { () async throws(LogError) in
                guard try filled.hasConfirmedEvents(of: self) else { return false }
                await filled.close()
                try await place.wipeSuccessor()
                try await noteNotSuperseded()
                return true
            }
            if isSame { return .notSuperseded }
            _ = try await successor.carrySynced(from: self)
        } catch {
            await successor.close()
            if case .log(.cancelled) = error { return .stopped }
            throw error
        }
        // From here on, this store is closed, so a canceled task must get the new store.
        let filled = successor
        let result = await place.uncanceled { () async -> Result<Store<P>, SyncError> in
            do throws(SyncError) {
                return .success(try await self.replaced(by: filled, in: place))
            } catch {
                return .failure(error)
            }
        }
        return .continued(try result.get())
    }

    /// Closes this store, puts the filled new log in its place, and returns the store of that.
    private func replaced(
        by successor: Store<P>, in place: any SuccessorPlace<P>
    ) async throws(SyncError) -> Store<P> {
        do throws(SyncError) {
            await close()
            // Intents that were recorded while the first ones were carried.
            let carried = try await successor.carrySynced(from: self)  // mutant: late-intents
            return try await SyncError.converting { () async throws(LogError) in
                try await successor.flush()
                return try await place.replace(status, by: successor, carried: carried)
            }
        } catch {
            await successor.close()
            throw error
        }
    }

    /// Carries the unsettled intents of a superseded log, as ``carry(from:)`` does.
    private func carrySynced(from old: Store<P>) async throws(SyncError) -> Set<IntentID> {
        do throws(CommandError) { return try await carry(from: old) } catch {
            throw SyncError(error)
        }
    }

    private func fetchAll(
        from authority: any Authority<P.Event>, _ policy: SyncPolicy, _ sources: SyncSources
    ) async throws(SyncError) -> FirstFetch {
        let downlink = Downlink(self, from: authority, policy: policy, sources: sources)
        do throws(SyncError) {
            return switch try await downlink.fetch() {
            case .caughtUp: .fetched
            case .failed(let failure): .failed(failure)
            case .stopped: .stopped
            case .timedOut: preconditionFailure("a fetch without a limit has timed out")
            }
        } catch .superseded(let shared) {
            return .superseded(shared: shared)
        }
    }
}

/// The result of fetching into a new log.
private enum FirstFetch {
    case fetched
    case superseded(shared: Position)
    case failed(AuthorityFailure)
    case stopped
}
