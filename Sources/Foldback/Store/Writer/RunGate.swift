import Synchronization

/// Lets one run at a time through: the next run waits for a run that was told to end, and is
/// refused while a run goes on.
///
/// A screen that is closed and opened cancels a run and starts the next one at once. The canceled
/// run may take a moment to end, because its authority has to notice the cancellation.
package final class RunGate: Sendable {
    /// One call that wants to run.
    package struct Run: Hashable, Sendable {
        fileprivate let number: Int
    }

    package enum Entry: Sendable {
        /// The run goes on until ``RunGate/leave(_:)``.
        case entered
        /// Another run goes on and was not told to end.
        case refused
        /// The run was told to end before it could begin.
        case ended
    }

    fileprivate typealias Woken = UnsafeContinuation<Void, Never>

    fileprivate struct State {
        var last = 0
        var holder: Run?
        /// The runs that were told to end and have not left.
        var ended: Set<Run> = []
        var waiting: [Run: Woken] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns a run that has not entered. Each run ends with ``leave(_:)``.
    package func newRun() -> Run {
        state.withLock { state in
            state.last += 1
            return Run(number: state.last)
        }
    }

    /// Enters, or waits until the run before has left if that run was told to end.
    package func enter(_ run: Run) async -> Entry {
        while true {
            if let entry = state.withLock({ $0.entry(of: run) }) { return entry }
            await withUnsafeContinuation { (woken: Woken) in
                let isOver = state.withLock { state in
                    guard state.mustWait(run) else { return true }
                    state.waiting[run] = woken
                    return false
                }
                if isOver { woken.resume() }
            }
        }
    }

    /// Tells a run to end. From now on, other runs wait for it and are not refused because of it.
    package func end(_ run: Run) {
        let woken = state.withLock { state in
            state.ended.insert(run)
            return state.waiting.removeValue(forKey: run)
        }
        woken?.resume()
    }

    /// Ends a run, whether it entered or not.
    package func leave(_ run: Run) {
        let woken = state.withLock { state -> [Woken] in
            state.ended.remove(run)
            guard state.holder == run else { return [] }
            state.holder = nil
            defer { state.waiting.removeAll() }
            // In the order in which they came, so that simulations are repeatable.
            return state.waiting.sorted { $0.key.number < $1.key.number }.map(\.value)
        }
        for continuation in woken { continuation.resume() }
    }
}

extension RunGate.State {
    /// Whether the run has to wait for the run before it.
    fileprivate func mustWait(_ run: RunGate.Run) -> Bool {
        guard let holder, !ended.contains(run) else { return false }
        return ended.contains(holder)
    }

    /// Returns nil if the run has to wait.
    fileprivate mutating func entry(of run: RunGate.Run) -> RunGate.Entry? {
        if mustWait(run) { return nil }
        if ended.contains(run) { return .ended }
        guard holder == nil else { return .refused }  // mutant: one-sender
        holder = run
        return .entered
    }
}
