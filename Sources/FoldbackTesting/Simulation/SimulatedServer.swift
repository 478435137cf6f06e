import Foldback
import FoldbackSync
import Synchronization

/// An authority and its process. Its decisions survive a crash.
final class SimulatedServer<P: Projection>: Sendable {
    private struct Process {
        var downUntil: Timestamp?
        /// How often the process started.
        var starts = 0
    }

    let books: InProcessAuthority<P>
    /// The authority that answers requests.
    let authority: any Authority<P.Event>
    private let time: VirtualTime
    private let process = Mutex(Process())

    init(
        _ books: InProcessAuthority<P>, as authority: any Authority<P.Event>, _ time: VirtualTime
    ) {
        self.books = books
        self.authority = authority
        self.time = time
    }

    func crash(for duration: Duration) {
        let end = time.now.advanced(by: duration)
        process.withLock { process in
            process.downUntil = end
            process.starts += 1
        }
    }

    func heal() { process.withLock { $0.downUntil = nil } }

    /// Identifies the running process; nil if none runs.
    var running: Int? {
        let now = time.now
        return process.withLock { process in
            if let end = process.downUntil, now < end { return nil }
            return process.starts
        }
    }
}
