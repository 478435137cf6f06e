import Foldback
import Synchronization

/// The state of a running outbox, and what is still to be done about it. Whoever learns something says
/// it here; one loop does what comes out.
final class OutboxQueue: Sendable {
    /// What the loop finds.
    enum Turn: Sendable {
        case act([OutboxState.Action])
        /// Nothing to do before `until`, or before somebody has said something since `seen`.
        case idle(until: Timestamp?, seen: Int)
        case ended(FoldbackError?)
    }

    private typealias Woken = UnsafeContinuation<Void, Never>

    private struct Content {
        var state: OutboxState
        var actions: [OutboxState.Action] = []
        var wait: Timestamp?
        var isRunning = false
        /// Why it is over; nil inside where it has just ended.
        var end: FoldbackError??
        /// Counts what was said.
        var said = 0
        var sleeper: Woken?
    }

    private let content: Mutex<Content>
    private let sources: SyncSources

    init(policy: OutboxPolicy, sources: SyncSources) {
        self.sources = sources
        content = Mutex(
            Content(state: OutboxState(policy: policy, isOnline: true, signedOut: nil)))
    }

    var status: OutboxStatus {
        content.withLock {
            OutboxStatus($0.state, isRunning: $0.isRunning, nextAttempt: $0.wait)
        }
    }

    // MARK: Saying

    func say(_ input: OutboxState.Input) {
        // Under the lock: what was learnt later must not be told an earlier time.
        change { content in
            let actions = content.state.take(
                input, at: sources.now(), jitter: sources.jitter())
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

    /// The first reason holds; nil where the store is closed or the task cancelled.
    func end(_ failure: FoldbackError?) {
        change { content in
            if content.end == nil { content.end = .some(failure) }
        }
    }

    private func change(_ body: (inout Content) -> Void) {
        let sleeper = content.withLock { content in
            body(&content)
            content.said += 1
            defer { content.sleeper = nil }
            return content.sleeper
        }
        sleeper?.resume()
    }

    // MARK: The loop

    /// A run begins with nothing on its way and nothing known to be pending.
    func start() {
        content.withLock { content in
            precondition(!content.isRunning, "an outbox is run once at a time")
            content.isRunning = true
        }
    }

    /// Forgets everything but whether the device is online and somebody signed in.
    func stop() {
        content.withLock { content in
            let old = content.state
            let state = OutboxState(
                policy: old.policy, isOnline: old.isOnline, signedOut: old.signedOut)
            content = Content(state: state, said: content.said)
        }
    }

    func turn() -> Turn {
        content.withLock { content in
            if let end = content.end { return .ended(end) }
            guard content.actions.isEmpty else {
                defer { content.actions = [] }
                return .act(content.actions)
            }
            return .idle(until: content.wait, seen: content.said)
        }
    }

    /// Returns when something was said since `seen`, or `until` is there, which is said then; or when
    /// the task is cancelled.
    func idle(until: Timestamp?, seen: Int) async {
        guard let until else { return await sleep(seen: seen) }
        let duration = until.duration(since: sources.now())
        let isTime = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.sources.sleep(duration)
                return true
            }
            group.addTask {
                await self.sleep(seen: seen)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        if isTime { say(.timePassed) }
    }

    private func sleep(seen: Int) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (sleeper: Woken) in
                let isOver = content.withLock { content in
                    guard content.said == seen, !Task.isCancelled else { return true }
                    content.sleeper = sleeper
                    return false
                }
                if isOver { sleeper.resume() }
            }
        } onCancel: {
            change { _ in }
        }
    }
}
