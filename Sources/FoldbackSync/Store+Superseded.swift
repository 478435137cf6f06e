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
    /// the downlink on it, and tell the user what the authority lacks.
    case continued(Store<P>, BroughtWork)
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
    /// let result = try await store.continueOnNewLog(
    ///     from: server, policy: .ordered, bringing: .pending
    /// ) { url in
    ///     try await Store.open(
    ///         at: url, Feed.self, confirmedBy: .downlink, durability: .durable)
    /// }
    /// ```
    ///
    /// ``Sync`` does this by itself. Call it if ``Outbox/run()`` or ``Downlink/follow()`` has ended with
    /// ``SyncError/superseded(shared:)``, and the app wants each step in its own hands.
    ///
    /// The authority is another one, or has lost data (``SyncError/superseded(shared:)``). This
    /// opens a new log beside this log, fetches the authority's events, and records there the work
    /// of this log that the authority lacks. Each intent gets its old id as once key, in place of its
    /// own key. Then it flushes the new log, closes this store, and exchanges the names of the two
    /// logs. This log stays beside the new log as a kept log (``/Foldback/LogDirectory/keptLogs()``).
    /// If the fetched events are those that this log has, the authority has lost nothing, and this
    /// log stays in its place.
    ///
    /// - Important: After a restored backup, the confirmed work of the user may be nowhere but in this
    ///   log. So look at ``/Foldback/BroughtWork/lacking``, and ask the user. With `.pending`, a later
    ///   ``bring(_:from:)`` brings the rest.
    ///
    /// Nothing is lost or doubled if the process is killed or the power fails: this log is complete,
    /// in its place or as a kept log. Open the log at its path, as always, and call this again if the
    /// authority still supersedes it.
    ///
    /// While this fetches, the old view can be read, and more intents can be recorded. No outbox can
    /// run on this store meanwhile: wait for ``Outbox/run()`` to end before. Confirmed events are not
    /// moved: the new log has the authority's events. An intent that continues has a new id, so ids
    /// that a projection derived from it change too. Rejections that are not dismissed come along.
    ///
    /// - Parameters:
    ///   - authority: the authority that superseded this log.
    ///   - policy: the waits between attempts to fetch.
    ///   - choice: what to record again: only what is pending, or also what the user did and the
    ///     authority has lost. The authority decides on both.
    ///   - sources: the sources of time and randomness.
    ///   - open: opens a log, as the app opens this log. Called with the directory of the new log,
    ///     and at the end with this log's directory. A store in memory has no directory, so the
    ///     first store is the result.
    /// - Returns: the store to continue with and what was brought, or the reason why this log stays.
    /// - Throws: `.alreadyRunning` if an outbox runs on this store. `.originsUnknown` if intents
    ///   are confirmed and no event says which `.pendingAndConfirmed` would bring. `.log(.tooManyKeptLogs)`: three are kept already.
    ///   `.log(.kindDiffers)` for a log that acknowledgements confirm: its confirmed state is nowhere
    ///   else, so only the app can decide what to do with it. `.log(.closed)` if this store is closed,
    ///   for example because another call has continued already. `.log(.latched)`. Nothing was
    ///   changed by these. `.refused` if an outbox sends from the new log already. `.log` with the
    ///   errors of `open`, with `.locked` or `.storage`, and the errors of fetching: this log is
    ///   complete at its path, but this store may be closed, so open it again.
    /// - Complexity: reads this log once, and the new log twice.
    public func continueOnNewLog(
        from authority: any Authority<P.Event>, policy: SyncPolicy, bringing choice: WorkToBring,
        sources: SyncSources = .system,
        opening open: @escaping @Sendable (URL) async throws(LogError) -> Store<P>
    ) async throws(SyncError) -> Continuation<P> {
        let path = status.path
        let place: any SuccessorPlace<P> =
            isInMemory
            ? SuccessorInMemory(path: path, open: open)
            : SuccessorFiles(path: path, replica: status.replica, open: open)
        return try await continueOnNewLog(
            from: authority, policy: policy, bringing: choice, sources: sources, in: place)
    }

    /// Brings the work of a kept log to this log, which has continued it: what it lacks of it, and of
    /// confirmed work what the authority lacks.
    ///
    /// ```swift
    /// let kept = try await open(brought.keptLog)
    /// try await store.bring(.pendingAndConfirmed, from: kept)
    /// await kept.close()
    /// ```
    ///
    /// It does what ``continueOnNewLog(from:policy:bringing:sources:opening:)`` does when it brings
    /// work, for an app that first asks its user. The intents are pending on return, after those that
    /// this log has, and an outbox that runs sends them. What the user has dismissed in the kept log
    /// is dismissed here. It may be called again, also after it was cut off: nothing is doubled.
    ///
    /// Fetch before: the events in this log tell what the authority has. An event that arrives during
    /// the call is not seen. This store may be in use. The kept log does not change.
    ///
    /// - Returns: what this call recorded, and what the authority lacks.
    /// - Throws: `.originsUnknown`, `.alreadyRunning` if another call brings work to this store, and
    ///   `.log(.kindDiffers)` if acknowledgements confirm one of the logs. Nothing was changed by
    ///   these. Else as a command of the store: `.log`, and some of the work may be recorded.
    /// - Complexity: reads both logs once. One write for each intent, many in one commit.
    @discardableResult
    public func bring(
        _ choice: WorkToBring, from kept: Store<P>
    ) async throws(SyncError) -> BroughtWork {
        precondition(kept !== self, "a log does not bring its own work")
        try await SyncError.converting { () throws(LogError) in
            try requireContinuable()
            try kept.requireContinuable()
        }
        let run = core.bringers.newRun()
        defer { core.bringers.leave(run) }
        guard case .entered = await core.bringers.enter(run) else { throw .alreadyRunning }
        let work = try await kept.work(for: choice)
        return try await bringSynced(choice, of: work, from: kept, isFilling: false)
            .keeping(
                kept.isInMemory
                    ? nil : URL(filePath: kept.status.path, directoryHint: .isDirectory))
    }

    /// Reads the work of this superseded log.
    ///
    /// - Throws: `.originsUnknown` if it does not tell what to bring.
    private func work(for choice: WorkToBring) async throws(SyncError) -> SupersededWork {
        let work = try await SyncError.converting { () throws(LogError) in
            try SupersededWork(of: self)
        }
        guard choice == .pending || work.tellsOrigins else { throw .originsUnknown }
        return work
    }

    /// The same in any place.
    package func continueOnNewLog(
        from authority: any Authority<P.Event>, policy: SyncPolicy, bringing choice: WorkToBring,
        sources: SyncSources, in place: any SuccessorPlace<P>
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
                return .success(
                    try await continued(from: authority, policy, choice, sources, place))
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
        from authority: any Authority<P.Event>, _ policy: SyncPolicy, _ choice: WorkToBring,
        _ sources: SyncSources, _ place: any SuccessorPlace<P>
    ) async throws(SyncError) -> Continuation<P> {
        try await SyncError.converting { () throws(LogError) in try requireOpen() }
        guard superseded != nil else { return .notSuperseded }
        let work = try await work(for: choice)
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
            _ = try await successor.bringSynced(choice, of: work, from: self, isFilling: true)
        } catch {
            await successor.close()
            if case .log(.cancelled) = error { return .stopped }
            throw error
        }
        // From here on, this store is closed, so a canceled task must get the new store.
        let filled = successor
        let result = await place.uncanceled { () async -> Result<Continuation<P>, SyncError> in
            do throws(SyncError) {
                return .success(try await self.replaced(by: filled, choice, work, place))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Closes this store, puts the filled new log in its place, and continues with the store of that.
    private func replaced(
        by successor: Store<P>, _ choice: WorkToBring, _ work: SupersededWork,
        _ place: any SuccessorPlace<P>
    ) async throws(SyncError) -> Continuation<P> {
        do throws(SyncError) {
            await close()
            // What was recorded or dismissed while the first part was brought.
            let last = try await SyncError.converting { () throws(LogError) in
                var last = work
                try last.readOn(in: self)
                return last
            }
            let brought = try await successor.bringSynced(  // mutant: late-intents
                choice, of: last, from: self, isFilling: true)
            let next = try await SyncError.converting { () async throws(LogError) in
                try await successor.noteContinuing(last)
                try await successor.flush()
                return try await place.replace(
                    status, by: successor, carried: last.unsettledIDs)
            }
            return .continued(next, brought.keeping(place.keptLog))
        } catch {
            await successor.close()
            throw error
        }
    }

    /// The same as ``bring(_:of:from:isFilling:)``.
    private func bringSynced(
        _ choice: WorkToBring, of work: SupersededWork, from old: Store<P>, isFilling: Bool
    ) async throws(SyncError) -> BroughtWork {
        do throws(CommandError) {
            return try await bring(choice, of: work, from: old, isFilling: isFilling)
        } catch { throw SyncError(error) }
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
