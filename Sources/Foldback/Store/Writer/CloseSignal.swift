import Synchronization

/// The moment when a store has let go of its log.
final class CloseSignal: Sendable {
    private let waiting = Mutex<[UnsafeContinuation<Void, Never>]?>([])

    func reach() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

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
