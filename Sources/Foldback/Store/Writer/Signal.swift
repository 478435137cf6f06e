import Synchronization

/// A bell that rings after each change of some state, for tasks that wait and for listeners.
///
/// The state itself is elsewhere, behind its own lock. Change it first, and then ring.
///
/// ```
///  task       isOver? ─ no ─▶ joins the list ─▶ isOver? ─ no ─▶ suspended ───────────▶ resumed
///  changer                                          changes ─▶ rings: isOver? ─ yes ──┘
/// ```
///
/// A waiting task is resumed only if its condition holds, so a change that does not concern it costs
/// one call of the condition. Tasks and listeners get their turn in the order in which they came, so
/// simulations are repeatable. Threads that block wait on a `Monitor`.
package final class Signal: Sendable {
    private typealias Woken = UnsafeContinuation<Void, Never>

    private struct Waiter: Sendable {
        let id: Int
        let isOver: @Sendable () -> Bool
        let continuation: Woken
    }

    private struct Content {
        var count = 0
        var lastID = 0
        var waiting: [Waiter] = []
        var listeners: [(id: Int, call: @Sendable () -> Void)] = []

        mutating func newID() -> Int {
            lastID += 1
            return lastID
        }
    }

    private let content = Mutex(Content())

    package init() {}

    /// The number of rings so far. Read it before the state, so that no change in between is missed.
    package var count: Int { content.withLock { $0.count } }

    /// Calls the listeners, and resumes the tasks whose condition holds now.
    ///
    /// - Complexity: O(n) in the waiting tasks and listeners.
    package func ring() {
        let (waiting, listeners) = content.withLock { content in
            content.count += 1
            return (content.waiting, content.listeners)
        }
        for listener in listeners { listener.call() }
        let over = Set(waiting.filter { $0.isOver() }.map(\.id))
        if over.isEmpty { return }
        let woken = content.withLock { content in
            defer { content.waiting.removeAll { over.contains($0.id) } }
            return content.waiting.filter { over.contains($0.id) }
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    /// Waits until `isOver` returns true, or until the task is canceled.
    ///
    /// - Parameters:
    ///   - ignoringCancellation: whether a canceled task waits too.
    ///   - isOver: the condition. A caller of ``ring()`` calls it too, so it must be short and must not
    ///     ring.
    /// - Returns: false if the task was canceled before the condition held.
    @discardableResult
    package nonisolated(nonsending) func wait(
        ignoringCancellation: Bool = false, until isOver: @escaping @Sendable () -> Bool
    ) async -> Bool {
        while !isOver() {
            guard ignoringCancellation || !Task.isCancelled else { return false }
            let id = content.withLock { $0.newID() }
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (continuation: Woken) in
                    let waiter = Waiter(id: id, isOver: isOver, continuation: continuation)
                    content.withLock { $0.waiting.append(waiter) }
                    // A change or a cancellation before this line did not find the waiter.
                    if isOver() || !ignoringCancellation && Task.isCancelled { wake(id) }
                }
            } onCancel: {
                if !ignoringCancellation { wake(id) }
            }
        }
        return true
    }

    /// Waits until the bell has rung after its count was `seen`, or until the task is canceled.
    package nonisolated(nonsending) func wait(after seen: Int) async {
        await wait(until: { [self] in count != seen })
    }

    private func wake(_ id: Int) {
        let waiter = content.withLock { content in
            content.waiting.firstIndex { $0.id == id }.map { content.waiting.remove(at: $0) }
        }
        waiter?.continuation.resume()
    }

    /// Calls `listener` at each ring until the returned value is released. It runs on the thread
    /// that rings, so it must be short.
    package func listen(_ listener: @escaping @Sendable () -> Void) -> Listening {
        let id = content.withLock { content in
            let id = content.newID()
            content.listeners.append((id, listener))
            return id
        }
        return Listening { [weak self] in
            // Released outside of the lock, because what it keeps may stop another listener.
            let stopped = self?.content.withLock { content in
                defer { content.listeners.removeAll { $0.id == id } }
                return content.listeners.filter { $0.id == id }
            }
            withExtendedLifetime(stopped) {}
        }
    }
}

/// Keeps a listener until it is released.
package final class Listening: Sendable {
    private let stop: @Sendable () -> Void

    package init(_ stop: @escaping @Sendable () -> Void) { self.stop = stop }

    deinit { stop() }
}
