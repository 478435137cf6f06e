import Foldback
import FoldbackLMDB

/// Holds a store's writer back while answers are queued, so that all of them go into one transaction.
///
/// ```
///  close ─▶ a command that is refused ─▶ the writer asks for the time, and stands still
///           commands are queued        ─▶ open ─▶ the writer takes them all at once
/// ```
///
/// Otherwise the writer would take the first ones as they come, and how often it folds the overlay
/// again would be a matter of luck.
final class WriterGate: Sendable {
    private struct State {
        var isClosed = false
        var isHolding = false
    }

    private let monitor = Monitor(State())

    /// For the store that is to be held back.
    var sources: LogSources {
        LogSources(
            now: {
                self.pass()
                return LogSources.system.now()
            },
            freshReplica: LogSources.system.freshReplica)
    }

    private func pass() {
        _ = monitor.wait { state -> Void? in
            guard state.isClosed else {
                state.isHolding = false
                return ()
            }
            if !state.isHolding {
                state.isHolding = true
                monitor.wakeAll()
            }
            return nil
        }
    }

    func close() { monitor.withLock { $0.isClosed = true } }

    func open() {
        monitor.withLock { $0.isClosed = false }
        monitor.wakeAll()
    }

    /// Blocks until the writer stands still, which takes it microseconds.
    func waitForWriter() {
        _ = monitor.wait { state -> Void? in state.isHolding ? () : nil }
    }
}
