import Foldback

/// Fetches an authority's confirmed events into a store: once, or for as long as a task runs.
///
/// ```swift
/// let downlink = Downlink(store, from: authority, policy: .ordered)
/// try await withThrowingTaskGroup { group in
///     group.addTask { try await downlink.follow() }
///     group.addTask {
///         for await path in connections { downlink.tell(path.isUp ? .wentOnline : .wentOffline) }
///     }
///     try await group.next()  // throws what has ended `follow()`, such as a log that was superseded
/// }
/// ```
///
/// While the app is in use, ``follow()`` keeps the log up to date. After a push message, or when the
/// user asks for it, ``fetch(within:)`` brings what is new, also while ``follow()`` runs. If the
/// server pushes the events themselves, the app calls
/// ``/Foldback/Store/confirm(_:through:from:)`` with them, and needs a downlink only to catch up.
///
/// The outbox and the downlink of a store do not know each other: the app tells each of them when
/// the device goes online or offline, and when a user signs in or out. All work runs in the tasks
/// that call the downlink, and in their child tasks.
public final class Downlink<P: EventFold>: Sendable {
    /// The result of ``fetch()`` and ``fetch(within:)``.
    @nonexhaustive
    public enum FetchResult: Hashable, Sendable {
        /// The log has all events of the authority up to this position.
        case caughtUp(through: Position)
        /// A retry would not help: no user is signed in, or the answer cannot be used.
        case failed(AuthorityFailure)
        /// The time of ``Downlink/fetch(within:)`` has passed. The log has the events up to
        /// `through`, and the authority may have more. `failure` says what the last request failed
        /// with; nil if it just took too long.
        case timedOut(through: Position, failure: AuthorityFailure?)
        /// The task was canceled, or the store was closed. The log has the events that came before.
        case stopped
    }

    private typealias Outcome = Result<FetchResult, SyncError>

    private let store: Store<P>
    private let authority: any Authority<P.Event>
    private let sources: SyncSources
    private let readers: DownlinkReaders
    private let listening: Listening

    /// - Parameters:
    ///   - store: the store that receives the events.
    ///   - authority: the authority to ask.
    ///   - policy: the waits between attempts, and the time of a long poll. Its other limits are for
    ///     an outbox.
    ///   - sources: the sources of time and randomness.
    public init(
        _ store: Store<P>, from authority: any Authority<P.Event>, policy: SyncPolicy,
        sources: SyncSources = .system
    ) {
        self.store = store
        self.authority = authority
        self.sources = sources
        let readers = DownlinkReaders(
            policy: policy, isNeeded: store.status.kind == .downlink, sources: sources)
        self.readers = readers
        listening = store.listen { isClosed in
            if isClosed { readers.say(.storeClosed) }
        }
    }

    /// The current state, for display.
    public var status: DownlinkStatus { readers.status(of: store) }

    /// The current state, and then each change of it: see ``Statuses``.
    public var statuses: Statuses<DownlinkStatus> {
        Statuses(of: store, readers.changes) { [readers, store] in readers.status(of: store) }
    }

    /// Rings after each change of the downlink itself.
    var changes: Signal { readers.changes }

    // MARK: Events from the app

    /// Reports a change of the connection or of the user. A downlink begins online and signed in.
    public func tell(_ change: LinkChange) { readers.say(.told(change)) }

    // MARK: Following

    /// Fetches the events after `through`, and then each new event as it comes, until the task is
    /// canceled or the store is closed. Then it returns.
    ///
    /// It asks by long polls of ``SyncPolicy/waiting``. If the authority answers earlier without
    /// events, the next request waits for the rest of that time. After a failure, it retries with
    /// backoff and without limit, and ``status`` shows the failure. In a log that is confirmed by
    /// acknowledgements, it sends no request (F2).
    ///
    /// One call at a time follows for a store, also if the store has several downlinks. If another
    /// call was canceled and is ending, this waits for its end.
    ///
    /// - Throws: `.alreadyRunning`: another call goes on, and this call did nothing. `.superseded` if
    ///   the authority is another one or has lost data. `.log` with the errors of
    ///   ``/Foldback/Store/confirm(_:through:from:)`` if the log cannot be written. The log has the
    ///   events that came before. `.superseded`, `.latched`, and damage that refuses all commands
    ///   end this also if an outbox or a command of the app found the cause, and end each later call
    ///   at once.
    public func follow() async throws(SyncError) {
        let gate = store.core.followers
        let run = gate.newRun()
        defer { gate.leave(run) }
        // The handler is there before the run enters. So once `cancel()` has returned, no other run
        // is refused because of this run.
        let outcome = await withTaskCancellationHandler {
            switch await gate.enter(run) {
            case .ended: return Outcome.success(.stopped)
            case .refused: return .failure(.alreadyRunning)
            case .entered: return await following(in: run)
            }
        } onCancel: {
            gate.end(run)
        }
        _ = try outcome.get()
    }

    /// Reads until an outbox, or a command of the app, finds that nothing more can be fetched.
    private func following(in run: RunGate.Run) async -> Outcome {
        await withTaskGroup(of: Outcome?.self) { group in
            group.addTask { await self.read(.follow) }
            group.addTask { await self.store.waitForSyncObstacle().map { .failure(SyncError($0)) } }
            // A long poll may take long to notice that it is canceled.
            defer {
                store.core.followers.end(run)
                group.cancelAll()
            }
            while let outcome = await group.next() {
                if let outcome { return outcome }
            }
            return .success(.stopped)
        }
    }

    // MARK: Fetching

    /// Fetches the events after `through`, until the authority has no more.
    ///
    /// If the authority cannot be reached, this retries with backoff and without limit. Cancel the
    /// task to stop it, or use ``fetch(within:)``. It ends a pause after failures, unless the
    /// authority asked for the pause. While the device is offline, it waits. It may be called several
    /// times at once, and while ``follow()`` runs: each call has its own requests, so its result
    /// includes everything that the authority had when it was called. In a log that is confirmed by
    /// acknowledgements, this returns `.caughtUp` and sends no request (F2).
    ///
    /// - Throws: `.superseded` if the authority is another one or has lost data, also if that was
    ///   found before. `.log` with `.latched` and the errors of
    ///   ``/Foldback/Store/confirm(_:through:from:)``. The log has the events that came before.
    public func fetch() async throws(SyncError) -> FetchResult {
        guard store.status.kind == .downlink else {
            return .caughtUp(through: store.status.through)
        }
        try requireSyncable()
        return try await read(.fetch).get()
    }

    /// Fetches as ``fetch()`` does, and returns `.timedOut` if that takes longer than `limit`.
    ///
    /// After `limit`, it cancels a request that is on its way, and returns when the authority has
    /// noticed that. Use it where the system gives the app a limited time, as after a push message.
    ///
    /// - Throws: as ``fetch()``.
    public func fetch(within limit: Duration) async throws(SyncError) -> FetchResult {
        guard store.status.kind == .downlink else {
            return .caughtUp(through: store.status.through)
        }
        try requireSyncable()
        let reader = readers.begin(.fetch)
        defer { readers.say(.ended(reader)) }
        let outcome = await withTaskGroup(of: Outcome?.self) { group in
            group.addTask { await self.read(as: reader) }
            group.addTask {
                await self.sources.sleep(limit)
                return nil
            }
            let first = await group.next() ?? nil
            let failure = readers.failure(of: reader)
            group.cancelAll()
            if let first { return first }
            // The last page may have been recorded at this moment.
            switch await group.next() ?? nil {
            case .success(.stopped), nil: break
            case let last?: return last
            }
            if Task.isCancelled { return .success(.stopped) }
            return .success(.timedOut(through: store.status.through, failure: failure))
        }
        return try outcome.get()
    }

    private func requireSyncable() throws(SyncError) {
        do throws(CommandError) { try store.requireSyncable() } catch { throw SyncError(error) }
    }

    // MARK: Readers

    private func read(_ purpose: DownlinkState.Purpose) async -> Outcome {
        let reader = readers.begin(purpose)
        defer { readers.say(.ended(reader)) }
        return await read(as: reader)
    }

    private func read(as reader: ReaderNumber) async -> Outcome {
        while !Task.isCancelled {
            let (step, seen) = readers.next(reader)
            switch step {
            case .request(let waiting):
                do throws(CommandError) { try await request(waiting, reader) } catch {
                    return .failure(SyncError(error))
                }
            case .wait(let until): await readers.idle(until: until, seen: seen)
            case .end(.caughtUp(let through)): return .success(.caughtUp(through: through))
            case .end(.failed(let failure)): return .success(.failed(failure))
            case .end(.superseded(let shared)): return .failure(.superseded(shared: shared))
            case .end(.storeClosed): return .success(.stopped)
            }
        }
        return .success(.stopped)
    }

    /// Asks for a page, records it, and reports what happened.
    private func request(
        _ waiting: Duration?, _ reader: ReaderNumber
    ) async throws(CommandError) {
        let device = store.syncPoint
        switch await answer(to: device, waiting, reader) {
        case nil: readers.say(.requestDropped(reader))
        case .failure where Task.isCancelled: readers.say(.requestDropped(reader))
        case .failure(let failure):
            if case .superseded(let shared) = failure {
                let error = await store.noteLostData(shared: shared)
                guard case .superseded = error else { throw error }
            }
            readers.say(.requestFailed(reader, failure))
        case .success(let changes): readers.say(try await recorded(changes, device, reader))
        }
    }

    /// Returns the authority's answer; nil if the reader should no longer wait for it.
    private func answer(
        to device: SyncPoint, _ waiting: Duration?, _ reader: ReaderNumber
    ) async -> Result<Changes<P.Event>, AuthorityFailure>? {
        guard let waiting else {
            return await result { () throws(AuthorityFailure) in
                try await authority.changes(after: device)
            }
        }
        return await withTaskGroup(
            of: Result<Changes<P.Event>, AuthorityFailure>?.self
        ) { group in
            group.addTask {
                await self.result { () throws(AuthorityFailure) in
                    try await self.authority.changes(after: device, waiting: waiting)
                }
            }
            group.addTask {
                await self.readers.waitUntilDropped(reader)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func result(
        _ call: () async throws(AuthorityFailure) -> Changes<P.Event>
    ) async -> Result<Changes<P.Event>, AuthorityFailure> {
        do throws(AuthorityFailure) { return .success(try await call()) } catch {
            return .failure(error)
        }
    }

    /// Records a page, and returns what happened.
    private func recorded(
        _ changes: Changes<P.Event>, _ device: SyncPoint, _ reader: ReaderNumber
    ) async throws(CommandError) -> DownlinkState.Input {
        // A page that promises more but does not move `through` would never end.
        guard !changes.hasMore || changes.through > device.through else {
            let reason = "there is more after \(device.through), but this page has none of it"
            return .requestFailed(reader, .invalidAnswer(reason: reason))
        }
        do throws(CommandError) {
            try await store.requireShared(device, lineage: changes.lineage, head: changes.head)
            try await store.confirm(
                changes.events,
                through: changes.through,  // mutant: downlink-through
                from: changes.lineage,
                noting: changes.digest.map { NotedDigest($0, at: changes.through) })
        } catch {
            switch error {
            case .log(.closed): return .storeClosed
            case .log(.cancelled): return .requestDropped(reader)
            case .superseded(let shared):
                return .requestFailed(reader, .superseded(shared: shared))
            case .invalidBatch, .tooLarge, .notEncodable:
                return .requestFailed(reader, .invalidAnswer(reason: "\(error)"))
            default: throw error
            }
        }
        return .pageRecorded(
            reader,
            DownlinkState.Page(
                through: changes.through,
                isEmpty: changes.events.isEmpty || changes.through <= device.through,
                hasMore: changes.hasMore))
    }
}
