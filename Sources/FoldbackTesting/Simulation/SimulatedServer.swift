import Foldback
import FoldbackSync
import Synchronization

/// An authority, and whether its process runs. It keeps what it has decided.
final class SimulatedServer<P: Projection>: Sendable {
    private struct Process {
        var downUntil: Timestamp?
        /// How often it began.
        var beginnings = 0
    }

    let books: InProcessAuthority<P>
    /// As requests meet it.
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

    func die(for duration: Duration) {
        let end = time.now.advanced(by: duration)
        process.withLock { process in
            process.downUntil = end
            process.beginnings += 1
        }
    }

    func heal() { process.withLock { $0.downUntil = nil } }

    /// Tells the present process from those before; nil while none runs.
    var running: Int? {
        let now = time.now
        return process.withLock { process in
            if let end = process.downUntil, now < end { return nil }
            return process.beginnings
        }
    }
}
