import Foldback
import Synchronization

/// The state of a running outbox, and the actions that are not performed yet.
///
/// Any task reports inputs here. One loop, ``Outbox/run()``, performs the actions.
final class OutboxQueue: Sendable {
    /// The next step of the loop.
    enum Turn: Sendable {
        case act([OutboxState.Action])
        /// Nothing to do before `until`, or before there are more changes than `seen`.
        case idle(until: Timestamp?, seen: Int)
        case ended(SyncError?)
    }

    private struct Content {
        var state: OutboxState
        var actions: [OutboxState.Action] = []
        var wait: Timestamp?
        var isRunning = false
        /// The end of the run; nil while it goes on. The inner value is the failure; nil if there
        /// was none.
        var end: SyncError??
    }

    /// Rings after each change, for the loop and for readers of the status.
    let changes = Signal()
    private let content: Mutex<Content>
    private let sources: SyncSources
    /// Whether all intents are in one lane.
    let keepsOrder: Bool

    init(policy: SyncPolicy, hasLanes: Bool, sources: SyncSources) {
        self.sources = sources
        let state = OutboxState(policy: policy, hasLanes: hasLanes)
        keepsOrder = state.keepsOrder
        content = Mutex(Content(state: state))
    }

    /// - Parameter store: has the log's pending intents now. The state knows of new intents and of
    ///   answers a moment later.
    func status<P>(of store: Store<P>) -> OutboxStatus {
        let log = store.core.published
        return content.withLock {
            OutboxStatus(
                $0.state, of: log, isRunning: $0.isRunning, nextAttempt: $0.wait)
        }
    }

    /// - Parameter store: has the log's pending intents now.
    func leftCount<P>(of store: Store<P>) -> Int {
        let log = store.core.published
        return content.withLock { content in
            let others = content.state.stuck.count {
                log.isPending($0) && log.drafts[$0] != .held
            }
            return log.pendingCount - log.drafts.held.count - others
        }
    }

    // MARK: Inputs

    /// Reports what happened at one time, in order.
    func say(_ inputs: OutboxState.Input...) {
        // Read the time under the lock, so that a later input never gets an earlier time.
        change { content in
            let actions = content.state.take(
                inputs, at: sources.now(), jitter: sources.jitter())
            content.wait = nil
            for action in actions {
                if case .wait(let until) = action {
                    content.wait = until
                } else {
                    content.actions.append(action)
                }
            }
        }
    }

    /// Ends the run. The first call determines the failure; nil means that the store was closed or
    /// the task was canceled.
    func end(_ failure: SyncError?) {
        change { content in
            if content.end == nil { content.end = .some(failure) }
        }
    }

    private func change(_ body: (inout Content) -> Void) {
        content.withLock { body(&$0) }
        changes.ring()
    }

    // MARK: The loop

    /// Begins a run. No request is open and no pending intent is known then.
    func start() {
        change { content in
            precondition(!content.isRunning, "two runs of an outbox passed the gate (S4)")
            content.isRunning = true
        }
    }

    /// Ends a run. Keeps only whether the device is online and a user is signed in.
    func stop() {
        change { content in
            let old = content.state
            content = Content(
                state: OutboxState(
                    policy: old.policy, hasLanes: old.hasLanes, link: old.link.withoutFailures))
        }
    }

    func turn() -> Turn {
        let seen = changes.count
        return content.withLock { content in
            if let end = content.end { return .ended(end) }
            guard content.actions.isEmpty else {
                defer { content.actions = [] }
                return .act(content.actions)
            }
            return .idle(until: content.wait, seen: seen)
        }
    }

    /// Waits until there is a change after `seen`, until the task is canceled, or until the time
    /// `until`. In the last case, it reports ``OutboxState/Input/timePassed``.
    func idle(until: Timestamp?, seen: Int) async {
        if await changes.wait(after: seen, until: until, sources) { say(.timePassed) }
    }
}
