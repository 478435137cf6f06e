import Foldback
import Synchronization

/// A count of changes, with the tasks and listeners that want to know of the next change.
///
/// Read ``count`` first, then the state, and then wait for a change after that count. So no change
/// in between is missed.
final class Signal: Sendable {
    private typealias Woken = UnsafeContinuation<Void, Never>

    private struct Content {
        var count = 0
        var lastID = 0
        var waiting: [Int: Woken] = [:]
        var listeners: [Int: @Sendable () -> Void] = [:]

        mutating func newID() -> Int {
            lastID += 1
            return lastID
        }
    }

    private let content = Mutex(Content())

    /// The number of changes so far.
    var count: Int { content.withLock { $0.count } }

    /// Reports a change, after the state has changed.
    func ring() {
        let (woken, listeners) = content.withLock { content in
            content.count += 1
            defer { content.waiting.removeAll() }
            return (Array(content.waiting), Array(content.listeners))
        }
        // In the order in which they came, so that simulations are repeatable.
        for (_, continuation) in woken.sorted(by: { $0.key < $1.key }) { continuation.resume() }
        for (_, listener) in listeners.sorted(by: { $0.key < $1.key }) { listener() }
    }

    /// Waits until there is a change after `seen`, or until the task is canceled.
    func wait(after seen: Int) async {
        let id = content.withLock { $0.newID() }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (woken: Woken) in
                let isOver = content.withLock { content in
                    guard content.count == seen, !Task.isCancelled else { return true }
                    content.waiting[id] = woken
                    return false
                }
                if isOver { woken.resume() }
            }
        } onCancel: {
            content.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Waits as ``wait(after:)`` does, and at most until the time `until`. Returns true if that time
    /// has come.
    func wait(after seen: Int, until: Timestamp?, _ sources: SyncSources) async -> Bool {
        guard let until else {
            await wait(after: seen)
            return false
        }
        let duration = until.duration(since: sources.now())
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await sources.sleep(duration)
                return true
            }
            group.addTask {
                await self.wait(after: seen)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Calls `listener` after each change until the returned value is released.
    func listen(_ listener: @escaping @Sendable () -> Void) -> Listening {
        let id = content.withLock { content in
            let id = content.newID()
            content.listeners[id] = listener
            return id
        }
        return Listening { [weak self] in
            self?.content.withLock { _ = $0.listeners.removeValue(forKey: id) }
        }
    }
}
