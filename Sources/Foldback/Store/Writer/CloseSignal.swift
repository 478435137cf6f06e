import Synchronization

/// A signal that a store has closed its log.
final class CloseSignal: Sendable {
    /// The waiting callers; nil once the log is closed.
    private let waiting = Mutex<[UnsafeContinuation<Void, Never>]?>([])

    /// Resumes all callers of ``wait()``, now and later.
    func reach() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Suspends until ``reach()`` was called.
    func wait() async {
        await withUnsafeContinuation { continuation in
            let isOver = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOver { continuation.resume() }
        }
    }
}
