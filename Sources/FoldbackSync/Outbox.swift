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
///     for await path in connections { path.isUp ? outbox.wentOnline() : outbox.wentOffline() }
/// }
/// ```
///
/// - An intent with an answer is not sent again. If an intent has no answer and may have left, it is
///   sent again, with the same id and the recorded event, also after a restart (A1).
/// - An intent is sent only after the commit that records its attempt. A first attempt is sent only
///   after a flush (A5, L2). From that commit on, the intent cannot be withdrawn (F7).
/// - The outbox records a rejection only for the authority's definite refusal. It never gives up
///   (A4).
/// - An intent that this code cannot read is not sent, and is listed in the status. Later intents
///   are sent, because the view that the user sees omits the unreadable intent too (F9).
///
/// All work runs in child tasks of the task that calls ``run()``, on its executor.
public final class Outbox<P: EventFold>: Sendable {
    private let store: Store<P>
    private let authority: any Authority<P.Event>
    private let queue: OutboxQueue

    /// - Parameters:
    ///   - store: the store with the intents to send.
    ///   - authority: the authority that decides on them.
    ///   - policy: the sizes and number of requests, which determine the order, and the waits.
    ///   - sources: the sources of time and randomness.
    public init(
        _ store: Store<P>, to authority: any Authority<P.Event>, policy: OutboxPolicy,
        sources: SyncSources = .system
    ) {
        self.store = store
        self.authority = authority
        queue = OutboxQueue(policy: policy, sources: sources)
    }

    /// The current state, for display.
    /// - Complexity: O(n) in intents that are being sent or cannot be read.
    public var status: OutboxStatus { queue.status }

    // MARK: Events from the app

    /// Reports that the device has a connection, or a new connection.
    ///
    /// Waiting intents are sent now, unless the authority asked for the wait. An outbox begins
    /// online.
    public func wentOnline() { queue.say(.wentOnline) }

    /// Reports that the device has no connection. The outbox begins no request until
    /// ``wentOnline()``. Requests that were sent may still succeed or fail.
    public func wentOffline() { queue.say(.wentOffline) }

    /// Reports that a user has signed in, and resumes sending.
    ///
    /// An outbox begins signed in. If that is wrong, the first request fails as `.unauthenticated`.
    public func signedIn() { queue.say(.signedIn) }

    /// Reports that no user is signed in. The outbox begins no request until ``signedIn()``.
    public func signedOut(reason: String) { queue.say(.signedOut(reason: reason)) }

    // MARK: Running

    /// Sends intents until the task is canceled or the store is closed, and then returns.
    ///
    /// Only one call may run at a time; a second concurrent call traps. It may be called again
    /// later.
    ///
    /// - Throws: `.latched`, `.storage`, `.outcomeUnknown`, `.damaged`, `.newerFormat`,
    ///   `.usedAfterFork`: the log cannot be read or written, and sending has stopped. Intents
    ///   whose verdicts were not recorded are sent again after the log is reopened.
    public func run() async throws(FoldbackError) {
        queue.start()
        defer { queue.stop() }
        let failure = await withDiscardingTaskGroup(returning: FoldbackError?.self) { group in
            group.addTask { await self.follow() }
            while !Task.isCancelled {
                switch queue.turn() {
                case .idle(let until, let seen): await queue.idle(until: until, seen: seen)
                case .act(let actions):
                    for action in actions { await perform(action, &group) }
                case .ended(let failure):
                    group.cancelAll()
                    return failure
                }
            }
            return nil
        }
        if let failure { throw failure }
    }

    private func perform(
        _ action: OutboxState.Action, _ group: inout DiscardingTaskGroup
    ) async {
        switch action {
        case .cover(let request, let attempts, let flushes):
            await usingStore { () throws(FoldbackError) in
                let pending = try await store.recordAttempts(  // mutant: attempts-first
                    attempts, flushes: flushes)
                queue.say(.covered(request, pending: pending))
            }
        case .send(let request, let intents):
            group.addTask { await self.send(intents, as: request) }
        case .note(let attempts):
            await usingStore { () throws(FoldbackError) in
                _ = try await store.recordAttempts(attempts, flushes: false)
            }
        case .wait:
            preconditionFailure("the queue handles waits and must not return them as actions")
        }
    }

    /// Calls `body`, which uses the store. An error of `body` ends the run.
    private func usingStore(_ body: () async throws(FoldbackError) -> Void) async {
        do throws(FoldbackError) { try await body() } catch {
            switch error {
            case .closed, .cancelled: queue.end(nil)
            default: queue.end(error)
            }
        }
    }

    /// Reports the log's changes to the queue, beginning with the intents that are pending at the
    /// start.
    private func follow() async {
        await usingStore { () throws(FoldbackError) in
            let pending = store.pendingIntents
            queue.say(.recorded(pending.intents))
            var sequence = pending.sequence
            while await store.waitForEntry(after: sequence) {
                let changes = try store.pendingChanges(after: sequence)
                sequence = changes.sequence
                if !changes.answered.isEmpty { queue.say(.answered(changes.answered)) }
                if !changes.recorded.isEmpty { queue.say(.recorded(changes.recorded)) }
            }
            queue.end(nil)
        }
    }

    // MARK: One request

    private func send(_ intents: [IntentNumber], as request: RequestNumber) async {
        // Skip intents that were answered after the request began. The store knows this before the
        // queue.
        let submissions = intents.compactMap { store.pendingEvent($0) }
            .map { Submission(id: $0.id, event: $0.event) }  // mutant: submission-id
        let verdicts: [IntentID: Verdict<P.Event>]
        do throws(AuthorityFailure) {
            verdicts = submissions.isEmpty ? [:] : try await authority.submit(submissions)
        } catch {
            queue.say(.attemptFailed(request, error))
            return
        }
        await usingStore { () throws(FoldbackError) in
            let replies = try await store.record(verdicts, on: submissions.map(\.id))
            queue.say(.attemptAnswered(request, replies))
        }
    }
}
