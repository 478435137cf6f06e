import Foldback
import FoldbackSync
import Synchronization

/// An authority and its process. Its decisions survive a crash, but can be lost.
final class SimulatedServer<P: Projection>: Sendable {
    private struct Process {
        var downUntil: Timestamp?
        /// How often the process started.
        var starts = 0
        var failsUntil: Timestamp?
    }

    private struct Data {
        let books: InProcessAuthority<P>
        let authority: any Authority<P.Event>
    }

    private let data: Mutex<Data>
    private let wrapped: @Sendable (InProcessAuthority<P>) -> any Authority<P.Event>
    private let comparesDevices: Bool
    /// Whether the authority waits for events in long polls.
    let waits: Bool
    private let time: VirtualTime
    private let process = Mutex(Process())

    /// - Parameters:
    ///   - wrapped: returns the authority that answers requests, to break it on purpose.
    ///   - comparesDevices: see ``FleetScript/comparesDevices``.
    init(
        _ books: InProcessAuthority<P>, comparesDevices: Bool, waits: Bool,
        _ time: VirtualTime,
        as wrapped: @escaping @Sendable (InProcessAuthority<P>) -> any Authority<P.Event>
    ) {
        data = Mutex(Data(books: books, authority: wrapped(books)))
        self.wrapped = wrapped
        self.comparesDevices = comparesDevices
        self.waits = waits
        self.time = time
    }

    var books: InProcessAuthority<P> { data.withLock { $0.books } }
    /// The authority that answers requests.
    var authority: any Authority<P.Event> { data.withLock { $0.authority } }

    /// Returns what the authority looks at of what a device knows.
    func seen(_ device: SyncPoint) -> SyncPoint {
        if comparesDevices { return device }
        let head = books.head
        return SyncPoint(lineage: nil, through: min(device.through, head))
    }

    /// Loses all events but the first `count`, and begins again under another lineage. Requests
    /// that are on their way are lost.
    func lose(keeping count: Int, as lineage: Lineage) {
        data.withLock { data in
            let books = data.books.copy(keeping: count, lineage: lineage)
            data = Data(books: books, authority: wrapped(books))
        }
        process.withLock { $0.starts += 1 }
    }

    func crash(for duration: Duration) {
        let end = time.now.advanced(by: duration)
        process.withLock { process in
            process.downUntil = end
            process.starts += 1
        }
    }

    /// Fails on each request for a time.
    func fail(for duration: Duration) {
        let end = time.now.advanced(by: duration)
        process.withLock { $0.failsUntil = end }
    }

    func heal() {
        process.withLock { process in
            process.downUntil = nil
            process.failsUntil = nil
        }
    }

    var isFailing: Bool {
        let now = time.now
        return process.withLock { $0.failsUntil.map { now < $0 } ?? false }
    }

    /// Identifies the running process; nil if none runs.
    var running: Int? {
        let now = time.now
        return process.withLock { process in
            if let end = process.downUntil, now < end { return nil }
            return process.starts
        }
    }
}
