import Foldback

/// Sends a store's pending intents to an authority and records the verdicts, while ``run()`` runs.
///
/// The outbox has no storage of its own. It sends the pending intents of the log's overlay, and the
/// store keeps the attempts beside the log.
///
/// ```swift
/// let outbox = Outbox(store, to: authority, policy: .ordered)
/// try await withThrowingTaskGroup { group in
///     group.addTask { try await outbox.run() }
///     group.addTask {
///         for await path in connections { outbox.tell(path.isUp ? .wentOnline : .wentOffline) }
///     }
///     try await group.next()  // throws what has ended `run()`, such as a log that was superseded
/// }
/// ```
///
/// - An intent with an answer is not sent again. If an intent has no answer and may have left, it is
///   sent again, with the same id and the recorded event, also after a restart (A1).
/// - An intent is sent only after the commit that records its attempt. A first attempt is sent only
///   after a flush (A5, L2). From that commit on, the intent cannot be withdrawn (F7).
/// - The outbox records a rejection only for the authority's definite refusal. It never gives up
///   (A4).
/// - An intent that makes the authority fail is found, quarantined, and shown in the status. It blocks
///   no intent of another lane, and none at all under a policy that does not keep order (S1, S3).
/// - An intent that this code cannot read is not sent, and is listed in the status. Later intents
///   are sent, because the view that the user sees omits the unreadable intent too (F9).
///
/// All work runs in child tasks of the task that calls ``run()``, on its executor.
public final class Outbox<P: EventFold>: Sendable {
    private let store: Store<P>
    private let authority: any Authority<P.Event>
    private let lane: (@Sendable (P.Event) -> String?)?
    private let queue: OutboxQueue

    /// ```swift
    /// let outbox = Outbox(store, to: authority, policy: .ordered) { event in event.documentID }
    /// ```
    ///
    /// - Parameters:
    ///   - store: the store with the intents to send.
    ///   - authority: the authority that decides on them.
    ///   - policy: the sizes and number of requests, and the waits. Without `lane`, it determines the
    ///     order too.
    ///   - sources: the sources of time and randomness.
    ///   - lane: returns the lane of an event: intents of one lane keep the order of numbers, and lanes do
    ///     not wait for each other (S1). So an intent that is postponed, or makes the server fail,
    ///     holds up its lane alone. Nil is a lane of its own. Give intents one lane if the server
    ///     must decide on them in order: those of one document, for example. It is called once or
    ///     twice for each intent, must be fast, and must always give an event the same lane.
    public init(
        _ store: Store<P>, to authority: any Authority<P.Event>, policy: SyncPolicy,
        sources: SyncSources = .system, lane: (@Sendable (P.Event) -> String?)? = nil
    ) {
        self.store = store
        self.authority = authority
        self.lane = lane
        queue = OutboxQueue(policy: policy, hasLanes: lane != nil, sources: sources)
    }

    /// The current state, for display.
    /// - Complexity: O(n) in intents that are being sent, are suspects (S3), cannot be read, or wait for
    ///   others.
    public var status: OutboxStatus { queue.status(of: store) }

    /// The current state, and then each change of it: see ``Statuses``.
    public var statuses: Statuses<OutboxStatus> {
        Statuses(of: store, queue.changes) { [queue, store] in queue.status(of: store) }
    }

    /// Rings after each change of the outbox itself.
    var changes: Signal { queue.changes }

    /// The number of pending intents that sending can settle: not drafts, unreadable or quarantined
    /// intents, nor what waits for one of these.
    package var leftCount: Int { queue.leftCount(of: store) }

    /// What a drain waits for.
    struct Remainder: Equatable, Sendable {
        /// ``leftCount``.
        let count: Int
        let pause: SyncPause?
    }

    /// What is left, and then each change of it. ``statuses`` are the same before an intent of a request
    /// leaves and after its answer, so a slow reader of these may miss the end.
    var remainders: Statuses<Remainder> {
        Statuses(of: store, queue.changes) { [queue, store] in
            Remainder(count: queue.leftCount(of: store), pause: queue.status(of: store).pause)
        }
    }

    // MARK: Events from the app

    /// Reports a change of the connection or of the user. An outbox begins online and signed in.
    public func tell(_ change: LinkChange) { queue.say(.told(change)) }

    /// Ends the quarantine of an intent, and forgets its failures (S3).
    ///
    /// Call it when the cause is fixed, for example after an update of the server. The intent is
    /// then sent like any other, by the outbox of the store that runs now or runs next. Does
    /// nothing if the intent never failed, or has an answer.
    ///
    /// - Throws: `.cancelled`, `.closed`, `.usedAfterFork`, `.latched`, `.damaged`, `.storage`, and
    ///   the intent stays quarantined; `.outcomeUnknown` if it may stay quarantined.
    /// - Complexity: one write.
    public func release(_ number: IntentNumber) async throws(LogError) {
        if let attempt = store.attempt(of: number), attempt.suspicion != .none {
            _ = try await store.recordAttempts([number: attempt.released], flushes: false)
        }
        store.core.release.withLock { $0 }?(number)
    }

    // MARK: Running

    /// Sends intents until the task is canceled or the store is closed, and then returns.
    ///
    /// One run at a time sends a store's intents, also if the store has several outboxes (S4). If
    /// another run was canceled and is ending, this waits for its end. An authority that takes long
    /// to notice a cancellation delays the next run by that time. If another run goes on, this
    /// throws at once. So a screen may cancel a run and start the next without waiting.
    ///
    /// - Throws: `.alreadyRunning` if another run goes on, and this call did nothing. `.superseded`
    ///   if the authority is another one or has lost data: nothing of its answer was recorded, and
    ///   the error says how to continue. `.log` with `.latched`, `.storage`, `.outcomeUnknown`,
    ///   `.damaged`, `.newerFormat` or `.usedAfterFork`: the log cannot be read or written, and
    ///   sending has stopped. Intents whose verdicts were not recorded are sent again after the log
    ///   is reopened. `.superseded`, `.latched`, and damage that refuses all commands end the run
    ///   also if a downlink or a command of the app found the cause, and end each later run of the store
    ///   at once. (A log that acknowledgements confirm is not continued. If its authority is back,
    ///   open the store again.)
    public func run() async throws(SyncError) {
        let senders = store.core.senders
        let run = senders.newRun()
        defer { senders.leave(run) }
        // The handler is there before the run enters. So once `cancel()` has returned, no other run
        // is refused because of this run.
        let failure = await withTaskCancellationHandler {
            switch await senders.enter(run) {
            case .ended: return SyncError?.none
            case .refused: return .alreadyRunning
            case .entered: return await sending(in: run)
            }
        } onCancel: {
            senders.end(run)
        }
        if let failure { throw failure }
    }

    /// Sends intents until the run ends. Returns the failure that ended it; nil for none.
    private func sending(in run: RunGate.Run) async -> SyncError? {
        queue.start()
        defer { queue.stop() }
        store.core.release.withLock { [queue] release in
            release = { queue.say(.released($0)) }
        }
        defer { store.core.release.withLock { $0 = nil } }
        return await withDiscardingTaskGroup(returning: SyncError?.self) { group in
            group.addTask { await self.follow() }
            // Found by a downlink, or by a command of the app. An idle outbox would not notice.
            group.addTask {
                guard let obstacle = await self.store.waitForSyncObstacle() else { return }
                self.queue.end(SyncError(obstacle))
            }
            while !Task.isCancelled {
                switch queue.turn() {
                case .idle(let until, let seen): await queue.idle(until: until, seen: seen)
                case .act(let actions):
                    for action in actions { await perform(action, &group) }
                case .ended(let failure):
                    store.core.senders.end(run)
                    group.cancelAll()
                    return failure
                }
            }
            return nil
        }
    }

    private func perform(
        _ action: OutboxState.Action, _ group: inout DiscardingTaskGroup
    ) async {
        switch action {
        case .cover(let request, let attempts, let flushes):
            await usingStore(SyncError.log) { () throws(LogError) in
                let pending = try await store.recordAttempts(  // mutant: attempts-first
                    attempts, flushes: flushes)
                queue.say(.covered(request, pending: pending))
            }
        case .send(let request, let intents):
            group.addTask { await self.send(intents, as: request) }
        case .note(let attempts):
            await usingStore(SyncError.log) { () throws(LogError) in
                _ = try await store.recordAttempts(attempts, flushes: false)  // mutant: noted
            }
        case .wait:
            preconditionFailure("the queue handles waits and must not return them as actions")
        }
    }

    /// Calls `body`, which uses the store. An error of `body` ends the run.
    ///
    /// - Parameter syncError: makes the error of the run.
    private func usingStore<E: Error>(
        _ syncError: (E) -> SyncError, _ body: () async throws(E) -> Void
    ) async {
        do throws(E) { try await body() } catch {
            switch syncError(error) {
            case .log(.closed), .log(.cancelled): queue.end(nil)
            case let failure: queue.end(failure)
            }
        }
    }

    /// Reports the log's changes to the queue, beginning with the intents that are pending at the
    /// start.
    private func follow() async {
        for await changes in store.pendingIntents(lane: lane) where !changes.isEmpty {
            // Both at once: what waited for an intent that was withdrawn may wait for another now.
            queue.say(.answered(changes.answered), .recorded(changes.recorded))
        }
        queue.end(nil)
    }

    // MARK: One request

    private func send(_ intents: [IntentNumber], as request: RequestNumber) async {
        // Skip intents that were answered after the request began. The store knows this before the
        // queue.
        var lanes = LaneNumbers(lane, keepsOrder: queue.keepsOrder)
        let submissions = intents.compactMap { store.pendingIntent($0) }
            .map {
                Submission<P.Event>(
                    $0.recorded,  // mutant: sent-bytes
                    lane: lanes.number(of: $0.event))
            }
        let device = store.syncPoint
        let verdicts: Verdicts<P.Event>
        do throws(AuthorityFailure) {
            verdicts =
                submissions.isEmpty
                ? Verdicts([:]) : try await authority.submit(submissions, from: device)
        } catch {
            // A canceled run knows nothing about the user that the next run sends for.
            if error.isUnauthenticated, Task.isCancelled { return }
            queue.say(.attemptFailed(request, error))
            if case .superseded(let shared) = error {
                queue.end(SyncError(await store.noteLostData(shared: shared)))
            }
            return
        }
        await usingStore(SyncError.init) { () throws(CommandError) in
            let replies = try await store.record(
                verdicts, on: submissions.map(\.id), knowing: device)
            queue.say(.attemptAnswered(request, replies))
        }
    }
}

extension Submission {
    /// The intent as the log has it (A1).
    ///
    /// - Precondition: this code can read its event, which has the type `Event`.
    init(_ recorded: RecordedIntent, lane: Int?) {
        self.init(
            id: recorded.id,  // mutant: submission-id
            payload: recorded.payload, time: recorded.time, info: recorded.info, lane: lane)
    }
}

/// The numbers of the lanes of one request, from 0 up (N5).
private struct LaneNumbers<Event> {
    private let lane: ((Event) -> String?)?
    private let keepsOrder: Bool
    private var numbers: [String: Int] = [:]
    private var last = -1

    init(_ lane: ((Event) -> String?)?, keepsOrder: Bool) {
        self.lane = lane
        self.keepsOrder = keepsOrder
    }

    /// Returns nil if all intents are in one lane.
    mutating func number(of event: Event) -> Int? {
        if keepsOrder { return nil }
        guard let name = lane?(event) else {
            last += 1
            return last
        }
        if let number = numbers[name] { return number }
        last += 1
        numbers[name] = last
        return last
    }
}
