import FoldbackLMDB
import Synchronization

/// Work on a log that a store does beside its commands, on a thread of its own.
package final class BackgroundWork: Sendable {
    private struct State {
        var running: Task<Void, Never>?
        var failure: LogError?
    }

    private let state = Mutex(State())

    init() {}

    /// Why the last work failed; nil if it did not.
    package var failure: LogError? { state.withLock { $0.failure } }

    /// Begins the work. If the store is closed before the work has read what it needs, that is not a
    /// failure.
    ///
    /// - Parameter failure: why earlier work failed.
    func begin(
        after failure: LogError?, _ work: @escaping @Sendable () throws(LogError) -> Void
    ) {
        state.withLock { $0.failure = failure }
        let task = Task.detached { [self] in
            do throws(LogError) { try await Platform.onThread(work) } catch {
                if case .closed = error { return }
                state.withLock { $0.failure = error }
            }
        }
        state.withLock { $0.running = task }
    }

    /// Waits for the end of the work.
    package func end() async { await state.withLock { $0.running }?.value }
}
