import Synchronization

/// Lets one task wait until somebody opens it. It stays open.
final class Latch: Sendable {
    private let opened = AsyncStream<Never>.makeStream()
    private let state = Mutex(false)

    var isOpen: Bool { state.withLock { $0 } }

    func open() {
        state.withLock { $0 = true }
        opened.continuation.finish()
    }

    /// Returns when it is open or the task is canceled. One task at a time may wait.
    func wait() async {
        for await _ in opened.stream {}
    }
}
