import Synchronization

/// Who waits for something to happen in a log: readers of views, of answers, of one intent's answer.
///
/// Whoever listens costs something at a commit; nobody else does. Called by the writer in the order
/// of F15: views before callers are resumed, answers after.
package final class Listeners: Sendable {
    package typealias Woken = UnsafeContinuation<Void, Never>

    private struct State {
        var nextID = 0
        var views: [Int: @Sendable (PublishedState?) -> Void] = [:]
        var intents: [IntentNumber: [Int: Woken]] = [:]
        var sequences: [Int: Woken] = [:]
        var rows: [Int: RowWatcher] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: The writer

    /// - Parameter changes: of rows, for each stored projection; nil where they are not known.
    package func notifyPublished(_ new: PublishedState, _ changes: [[RowChangeBytes]?]) {
        let (views, rows) = state.withLock { (Array($0.views.values), Array($0.rows.values)) }
        for listener in views { listener(new) }
        for watcher in rows { watcher.notifyPublished(new.sequence, changes) }
    }

    package func notifyAnswered(_ numbers: [IntentNumber]) {
        let woken = state.withLock { state in
            var woken = Array(state.sequences.values)
            state.sequences.removeAll()
            guard !state.intents.isEmpty else { return woken }
            for number in numbers {
                woken += state.intents.removeValue(forKey: number).map { Array($0.values) } ?? []
            }
            return woken
        }
        for continuation in woken { continuation.resume() }
    }

    /// The store is closed: views end, and who waits looks again.
    package func close() {
        let (views, rows, woken) = state.withLock { state in
            state.isClosed = true
            defer {
                state.views.removeAll()
                state.rows.removeAll()
                state.intents.removeAll()
                state.sequences.removeAll()
            }
            let waiting = state.intents.values.flatMap(\.values) + state.sequences.values
            return (Array(state.views.values), Array(state.rows.values), waiting)
        }
        for listener in views { listener(nil) }
        for watcher in rows { watcher.close() }
        for continuation in woken { continuation.resume() }
    }

    /// Whether somebody wants to know which rows change.
    package var watchesRows: Bool { state.withLock { !$0.rows.isEmpty } }

    package var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Readers

    /// Calls `listener` with each publication, and with nil at the end.
    /// - Returns: what ``stopViews(_:)`` takes; nil if the store is closed.
    package func views(_ listener: @escaping @Sendable (PublishedState?) -> Void) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextID += 1
            state.views[state.nextID] = listener
            return state.nextID
        }
    }

    /// Tells the watcher of each commit until ``stopRows(_:)``, or of the end.
    package func rows(_ watcher: RowWatcher) -> Int? {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed else { return nil }
            state.nextID += 1
            state.rows[state.nextID] = watcher
            return state.nextID
        }
        if id == nil { watcher.close() }
        return id
    }

    package func stopRows(_ id: Int) {
        state.withLock { _ = $0.rows.removeValue(forKey: id) }
    }

    package func stopViews(_ id: Int) {
        state.withLock { _ = $0.views.removeValue(forKey: id) }
    }

    /// What somebody waits for.
    package enum Topic: Sendable {
        case intent(IntentNumber)
        case nextCommit
    }

    /// Suspends until the subject may have changed, the store is closed, or the task is cancelled.
    ///
    /// - Parameter isStale: looked at after the place in the list has been taken, so that nothing that
    ///   happens meanwhile is missed; false returns at once.
    package func wait(for subject: Topic, whileUnchanged isUnchanged: @Sendable () -> Bool) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: Woken) in
                let isWaiting = state.withLock { state in
                    guard !state.isClosed, !Task.isCancelled else { return false }
                    switch subject {
                    case .intent(let number): state.intents[number, default: [:]][id] = continuation
                    case .nextCommit: state.sequences[id] = continuation
                    }
                    return true
                }
                if !isWaiting {
                    continuation.resume()
                } else if !isUnchanged() {
                    wake(id, subject)
                }
            }
        } onCancel: {
            wake(id, subject)
        }
    }

    private func wake(_ id: Int, _ subject: Topic) {
        let continuation = state.withLock { state -> Woken? in
            switch subject {
            case .intent(let number):
                let continuation = state.intents[number]?.removeValue(forKey: id)
                if state.intents[number]?.isEmpty == true { state.intents[number] = nil }
                return continuation
            case .nextCommit: return state.sequences.removeValue(forKey: id)
            }
        }
        continuation?.resume()
    }
}
