import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Sync {
    /// The result of ``drain(within:)``.
    @nonexhaustive
    public enum DrainResult: Hashable, Sendable {
        /// Everything that can be sent has an answer, and the log has what the authority had after that.
        case drained
        /// The time has passed. This many intents that can be sent have no answer, and the authority may
        /// have more events.
        case timedOut(left: Int)
        /// Waiting would not help: no user is signed in, or an answer cannot be used.
        case failed(AuthorityFailure)
        /// The task was canceled, or the store was closed.
        case stopped
    }

    // MARK: Running

    /// Sends and fetches until the task is canceled or the store is closed, and then returns.
    ///
    /// It retries by itself, with backoff and without limit. If the authority supersedes the log, it
    /// continues as ``Continuing`` says. If the authority cannot be asked then, it tries again, and
    /// ``status`` says why.
    ///
    /// One run at a time syncs a store. If another run was canceled and is ending, or a ``drain(within:)``
    /// runs by itself, this waits for its end.
    ///
    /// - Throws: `.alreadyRunning`: another run goes on, and this call did nothing. `.superseded`
    ///   without a ``Continuing``. `.log` if a log cannot be read or written: see ``Outbox/run()`` and
    ///   `continueOnNewLog` of ``/Foldback/Store``. The store is as the error says, and may be closed.
    public func run() async throws(SyncError) { try await run(as: runs.newRun()) }

    private func run(as run: RunGate.Run) async throws(SyncError) {
        defer { runs.leave(run) }
        let failure = await withTaskCancellationHandler {
            switch await runs.enter(run) {
            case .ended: return SyncError?.none
            case .refused: return .alreadyRunning
            case .entered: return await Self.failure(of: running)
            }
        } onCancel: {
            runs.end(run)
        }
        if let failure { throw failure }
    }

    private func running() async throws(SyncError) {
        while !Task.isCancelled {
            let line = line
            do throws(SyncError) {
                if continuing != nil, line.store.status.superseded != nil {
                    try await continueOnNewLog()
                } else {
                    try await run(line)
                    return
                }
            } catch {
                switch error {
                case .superseded where continuing != nil: break
                default: throw error
                }
            }
        }
    }

    /// Sends and fetches until one of them ends with an error, or both end.
    private func run(_ line: Line) async throws(SyncError) {
        content.withLock { $0.hasSettledKeptLogs = false }
        defer { content.withLock { $0.hasSettledKeptLogs = false } }
        let failure = await withTaskGroup(of: SyncError?.self, returning: SyncError?.self) {
            group in
            group.addTask { await Self.failure(of: line.outbox.run) }
            group.addTask { await Self.failure(of: line.downlink.follow) }
            group.addTask {
                await self.settleKeptLogs(of: line.store)
                return nil
            }
            for await failure in group {
                guard let failure else { continue }
                group.cancelAll()
                return failure
            }
            return nil
        }
        if let failure { throw failure }
    }

    private static func failure(
        of call: () async throws(SyncError) -> Void
    ) async -> SyncError? {
        do throws(SyncError) { try await call() } catch { return error }
        return nil
    }

    // MARK: Continuing

    private func continueOnNewLog() async throws(SyncError) {
        guard let continuing else { return }
        content.withLock { $0.isContinuing = true }
        defer {
            content.withLock { $0.isContinuing = false }
            changes.ring()
        }
        let seen = changes.count
        let result = try await store.continueOnNewLog(
            from: authority, policy: policy, bringing: .pending, sources: sources,
            opening: continuing.open)
        var failure: AuthorityFailure?
        switch result {
        case .continued(let next, _): adopt(next)
        case .failed(let reason): failure = reason
        case .notSuperseded, .stopped: break
        }
        content.withLock { $0.failure = failure }
        changes.ring()
        // The authority cannot be asked now. The app may tell something that changes this.
        guard failure != nil else { return }
        let end = sources.now().advanced(by: policy.backoffMax)
        _ = await changes.wait(after: seen + 1, until: end, sources)
    }

    /// Decides about the logs that this log has continued. A failure of one does not end the run: the log
    /// stays, and the status has the reason.
    private func settleKeptLogs(of store: Store<P>) async {
        var problem: String?
        if let continuing, !store.isInMemory {
            do throws(SyncError) { try await settleKeptLogs(of: store, continuing) } catch {
                problem = Task.isCancelled ? nil : "\(error)"
            }
        }
        content.withLock { content in
            content.keptLogProblem = problem
            content.hasSettledKeptLogs = true
        }
        changes.ring()
    }

    private func settleKeptLogs(
        of store: Store<P>, _ continuing: Continuing<P>
    ) async throws(SyncError) {
        let directory = URL(filePath: store.status.path, directoryHint: .isDirectory)
        let kept = try await SyncError.converting { () async throws(LogError) in
            try await LogDirectory(at: directory).keptLogs()
        }
        // An exchange that was cut off has left the new log under the name that this log gets as a kept
        // log. `continueOnNewLog` takes it from there.
        let unfinished = URL(
            filePath: KeptLogs.path(of: store.status.replica, beside: store.status.path),
            directoryHint: .isDirectory)
        for directory in kept where directory != unfinished && !Task.isCancelled {
            if try await bring(to: store, from: directory, continuing) { continue }
            _ = try await SyncError.converting { () async throws(LogError) in
                try await Store<P>.wipe(at: directory, discardingPending: true)
            }
        }
    }

    /// Brings what the log does not have of an old log, as the app chooses.
    ///
    /// - Returns: whether the old log is still needed.
    private func bring(
        to store: Store<P>, from directory: URL, _ continuing: Continuing<P>
    ) async throws(SyncError) -> Bool {
        let old = try await SyncError.converting { () async throws(LogError) in
            try await continuing.open(directory)
        }
        let result: Result<Bool, SyncError>
        do throws(SyncError) {
            let brought = try await store.bring(.pending, from: old)
            var isNeeded = brought.lacking > 0 || brought.unknown > 0
            if isNeeded {
                switch await continuing.choose(brought) {
                case .keep: break
                case .discard: isNeeded = false
                case .bring:
                    if brought.lacking > 0 {
                        try await store.bring(.pendingAndConfirmed, from: old)
                    }
                    isNeeded = brought.unknown > 0
                }
            }
            result = .success(isNeeded)
        } catch { result = .failure(error) }
        await old.close()
        return try result.get()
    }

    // MARK: Background time

    /// Sends and fetches until nothing is left or the time is up. For a background task, or after a push
    /// message.
    ///
    /// ```swift
    /// let result = try await sync.drain(within: .seconds(25))
    /// task.setTaskCompleted(success: result == .drained)
    /// ```
    ///
    /// It sends what can be sent, and then fetches. If the log continues an old one, it also waits until
    /// the app has chosen (``Continuing``), and sends what is brought. It may be called while ``run()``
    /// runs, and runs the same by itself while that does not. If the process is killed meanwhile, or the
    /// time passes during a request, the log knows which intents may have left: the next run sends them
    /// again under the same ids, and the authority repeats its verdicts (A1).
    ///
    /// After `limit`, it cancels a request that is on its way, and returns when the authority has
    /// noticed that. Drafts, unreadable and quarantined intents, and what waits for these, are not waited
    /// for. While the device is offline, it waits.
    ///
    /// - Throws: as ``run()``, without `.alreadyRunning`.
    public func drain(within limit: Duration) async throws(SyncError) -> DrainResult {
        let outcome = await withTaskGroup(of: Result<DrainResult, SyncError>.self) { group in
            group.addTask {
                do throws(SyncError) {
                    try await self.run(as: self.runs.newRun(isSubstitute: true))
                    return .success(.stopped)
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                do throws(SyncError) { return .success(try await self.drained()) } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await self.sources.sleep(limit)
                return .success(.timedOut(left: self.line.outbox.leftCount))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .success(.stopped)
        }
        if Task.isCancelled { return .stopped }
        return try outcome.get()
    }

    /// Waits until everything that can be sent has an answer, and fetches.
    private func drained() async throws(SyncError) -> DrainResult {
        while !Task.isCancelled {
            let line = line
            // What is brought from an old log is sent and fetched, too.
            await changes.wait { [self] in
                isOver || store !== line.store || line.store.status.superseded != nil
                    || content.withLock(\.hasSettledKeptLogs)
            }
            for await left in line.outbox.remainders {
                if case .signedOut(let reason) = left.pause {
                    return .failed(.unauthenticated(reason: reason))
                }
                if left.count == 0 { break }
            }
            if line.store.core.publication.read(\.isClosed) {
                // The app has closed it, or it is continued on a new log.
                await changes.wait { [self] in isOver || store !== line.store }
                if store === line.store { return .stopped }
                continue
            }
            do throws(SyncError) {
                switch try await line.downlink.fetch() {
                case .caughtUp:
                    if store === line.store, line.outbox.leftCount == 0 { return .drained }
                case .failed(let failure): return .failed(failure)
                case .stopped, .timedOut: break
                }
            } catch {
                switch error {
                // The run continues on a new log, or finds that nothing is lost.
                case .superseded where continuing != nil:
                    await changes.wait { [self] in
                        isOver || store !== line.store || line.store.status.superseded == nil
                    }
                default: throw error
                }
            }
        }
        return .stopped
    }
}
