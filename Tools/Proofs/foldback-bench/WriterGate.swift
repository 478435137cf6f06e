import Foldback
import FoldbackLMDB

/// Blocks a store's writer while commands are queued, so that all of them go into one transaction.
///
/// ```
///  close ─▶ a command that is refused ─▶ the writer asks for the time and blocks
///           commands are queued        ─▶ open ─▶ the writer takes all of them at once
/// ```
///
/// Without the gate, the writer takes the first commands earlier. Then chance decides how often it
/// rebases the overlay.
final class WriterGate: Sendable {
    private struct State {
        var isClosed = false
        var isHolding = false
    }

    private let monitor = Monitor(State())

    /// The sources for the blocked store.
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

    /// Blocks until the writer blocks, which takes microseconds.
    func waitForWriter() {
        _ = monitor.wait { state -> Void? in state.isHolding ? () : nil }
    }
}
