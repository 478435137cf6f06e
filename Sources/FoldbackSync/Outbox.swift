import Foldback

/// Sends a store's pending intents to an authority and records the answers, for as long as
/// ``run()`` runs. It keeps nothing of its own: what is to be sent is the overlay, and what was tried
/// lies beside the log.
///
/// ```swift
/// let outbox = Outbox(store, to: authority, policy: .ordered)
/// try await withThrowingTaskGroup { group in
///     group.addTask { try await outbox.run() }
///     for await path in connections { path.isUp ? outbox.wentOnline() : outbox.wentOffline() }
/// }
/// ```
///
/// - What was answered is not sent again; what may have left is sent again under the same id with the
///   event as it was recorded, over restarts too (A1).
/// - An intent leaves only behind the commit that notes its attempt, and its first attempt only behind
///   a flush (A5, L2); from then on it cannot be withdrawn (F7).
/// - Only the authority's definite refusal is recorded as one; there is no giving up (A4).
/// - An intent that this code cannot read is not sent and is listed in the status. What is behind it is
///   sent: the view that the user acts on leaves it out as well (F9).
///
/// All work is done in child tasks of the one that runs it, on its executor.
public final class Outbox<P: EventFold>: Sendable {
    private let store: Store<P>
    private let authority: any Authority<P.Event>
    private let queue: OutboxQueue

    /// - Parameters:
    ///   - store: whose pending intents are sent.
    ///   - authority: who decides on them.
    ///   - policy: how many at once, and so in which order; how long to wait.
    ///   - sources: where time and chance come from.
    public init(
        _ store: Store<P>, to authority: any Authority<P.Event>, policy: OutboxPolicy,
        sources: SyncSources = .system
    ) {
        self.store = store
        self.authority = authority
        queue = OutboxQueue(policy: policy, sources: sources)
    }

    /// How it stands. O(n) in intents that are on their way or cannot be read.
    public var status: OutboxStatus { queue.status }

    // MARK: What the app knows

    /// The device has a connection, or another one: what waits for being tried again is tried now,
    /// unless the authority asked for the wait. An outbox begins online.
    public func wentOnline() { queue.say(.wentOnline) }

    /// Nothing is begun until ``wentOnline()``. What is on its way is left to come back or fail.
    public func wentOffline() { queue.say(.wentOffline) }

    /// Somebody has signed in: what was held back goes on. An outbox begins signed in, and finds out.
    public func signedIn() { queue.say(.signedIn) }

    /// Nobody is signed in: nothing is begun until ``signedIn()``.
    public func signedOut(reason: String) { queue.say(.signedOut(reason: reason)) }

    // MARK: Running

    /// Sends until its task is cancelled or the store is closed. Once at a time; it may be run again.
    ///
    /// - Throws: `.latched`, `.storage`, `.outcomeUnknown`, `.damaged`, `.newerFormat`, `.usedAfterFork`:
    ///   the log cannot be read or written, and nothing is sent any more. What was sent and not recorded
    ///   is sent again after reopening.
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
            await noting { () throws(FoldbackError) in
                let pending = try await store.recordAttempts(  // mutant: attempts-first
                    attempts, flushes: flushes)
                queue.say(.covered(request, pending: pending))
            }
        case .send(let request, let intents):
            group.addTask { await self.send(intents, as: request) }
        case .note(let attempts):
            await noting { () throws(FoldbackError) in
                _ = try await store.recordAttempts(attempts, flushes: false)
            }
        case .wait: preconditionFailure("the queue keeps the wait")
        }
    }

    /// Does something to the store; what it throws ends the run.
    private func noting(_ body: () async throws(FoldbackError) -> Void) async {
        do throws(FoldbackError) { try await body() } catch {
            switch error {
            case .closed, .cancelled: queue.end(nil)
            default: queue.end(error)
            }
        }
    }

    /// Says what happens in the log, from what is pending at the start on.
    private func follow() async {
        await noting { () throws(FoldbackError) in
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
        // One that was answered meanwhile is known here before the queue hears of it.
        let submissions = intents.compactMap { store.pendingEvent($0) }
            .map { Submission(id: $0.id, event: $0.event) }  // mutant: submission-id
        let verdicts: [IntentID: Verdict<P.Event>]
        do throws(AuthorityFailure) {
            verdicts = submissions.isEmpty ? [:] : try await authority.submit(submissions)
        } catch {
            queue.say(.attemptFailed(request, error))
            return
        }
        await noting { () throws(FoldbackError) in
            let replies = try await store.record(verdicts, on: submissions.map(\.id))
            queue.say(.attemptAnswered(request, replies))
        }
    }
}
