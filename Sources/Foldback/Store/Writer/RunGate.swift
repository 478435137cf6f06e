import Synchronization

/// Lets one run at a time through: the next run waits for a run that was told to end, and is
/// refused while a run goes on. A substitute is never refused, and refuses none.
///
/// A screen that is closed and opened cancels a run and starts the next one at once. The canceled
/// run may take a moment to end, because its authority has to notice the cancellation.
package final class RunGate: Sendable {
    /// One call that wants to run.
    package struct Run: Hashable, Sendable {
        fileprivate let number: Int
        fileprivate let isSubstitute: Bool
    }

    package enum Entry: Sendable {
        /// The run goes on until ``RunGate/leave(_:)``.
        case entered
        /// Another run goes on and was not told to end.
        case refused
        /// The run was told to end before it could begin.
        case ended
    }

    fileprivate struct State {
        var last = 0
        var holder: Run?
        /// The runs that were told to end and have not left.
        var ended: Set<Run> = []
    }

    private let state = Mutex(State())
    /// Rings when a run was told to end, or has left.
    private let changes = Signal()

    package init() {}

    /// Returns a run that has not entered. Each run ends with ``leave(_:)``.
    ///
    /// - Parameter isSubstitute: whether it is for the time in which no other run goes on: it waits for
    ///   other runs, and they wait for it.
    package func newRun(isSubstitute: Bool = false) -> Run {
        state.withLock { state in
            state.last += 1
            return Run(number: state.last, isSubstitute: isSubstitute)
        }
    }

    /// Enters, or waits until the run before has left if that run was told to end, or one of the two is a
    /// substitute.
    package func enter(_ run: Run) async -> Entry {
        while true {
            if let entry = state.withLock({ $0.entry(of: run) }) { return entry }
            await changes.wait(ignoringCancellation: true) { [self] in
                state.withLock { !$0.mustWait(run) }
            }
        }
    }

    /// Tells a run to end. From now on, other runs wait for it and are not refused because of it.
    package func end(_ run: Run) {
        state.withLock { _ = $0.ended.insert(run) }
        changes.ring()
    }

    /// Ends a run, whether it entered or not.
    package func leave(_ run: Run) {
        state.withLock { state in
            state.ended.remove(run)
            if state.holder == run { state.holder = nil }
        }
        changes.ring()
    }
}

extension RunGate.State {
    /// Whether the run has to wait for the run before it.
    fileprivate func mustWait(_ run: RunGate.Run) -> Bool {
        guard let holder, !ended.contains(run) else { return false }
        return ended.contains(holder) || holder.isSubstitute || run.isSubstitute
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
