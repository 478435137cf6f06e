import Synchronization

/// The listeners of a log: readers of views, watchers of rows, and tasks that wait for entries or
/// answers.
///
/// Only active listeners add cost to a commit. The writer calls this in the order of F15: views
/// before it resumes the callers of commands, answers after that.
package final class Listeners: Sendable {
    /// The continuation of a task that waits.
    package typealias Woken = UnsafeContinuation<Void, Never>

    private struct State {
        var nextID = 0
        var views: [Int: @Sendable (PublishedState?) -> Void] = [:]
        /// Listeners to what is kept beside the entries.
        var beside: [Int: @Sendable () -> Void] = [:]
        var intents: [IntentNumber: [Int: Woken]] = [:]
        var sequences: [Int: Woken] = [:]
        var stops: [Int: Woken] = [:]
        var rows: [Int: RowWatcher] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    // MARK: The writer

    /// Hands a newly published state to the readers of views and the watchers of rows.
    ///
    /// - Parameter changes: the changes of rows, for each stored projection; nil if they are not
    ///   known.
    package func notifyPublished(_ new: PublishedState, _ changes: [[RowChangeBytes]?]) {
        let (views, rows) = state.withLock { (Array($0.views.values), Array($0.rows.values)) }
        for listener in views { listener(new) }
        for watcher in rows { watcher.notifyPublished(new.sequence, changes) }
    }

    /// Reports a change beside the entries: of attempts to send pending intents, or that the store
    /// was latched.
    package func notifyBeside() {
        for listener in state.withLock({ Array($0.beside.values) }) { listener() }
    }

    /// Resumes the tasks that wait for the next commit, or for the answers of these intents.
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

    /// Resumes the tasks that wait for the moment when nothing more can be sent or fetched.
    package func notifyStopped() {
        let woken = state.withLock { state in
            defer { state.stops.removeAll() }
            return state.stops.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in woken { continuation.resume() }
        notifyBeside()
    }

    /// Ends all views and watches, and resumes all waiting tasks, because the store is closed.
    package func close() {
        let (views, rows, woken) = state.withLock { state in
            state.isClosed = true
            defer {
                state.views.removeAll()
                state.beside.removeAll()
                state.rows.removeAll()
                state.intents.removeAll()
                state.sequences.removeAll()
                state.stops.removeAll()
            }
            let waiting =
                state.intents.values.flatMap(\.values) + state.sequences.values
                + state.stops.values
            return (Array(state.views.values), Array(state.rows.values), waiting)
        }
        for listener in views { listener(nil) }
        for watcher in rows { watcher.close() }
        for continuation in woken { continuation.resume() }
    }

    /// Whether there is a watcher of rows.
    package var watchesRows: Bool { state.withLock { !$0.rows.isEmpty } }

    /// Whether the store is closed.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Readers

    /// Calls `listener` with each published state, and with nil when the store is closed.
    ///
    /// - Returns: the id for ``stopViews(_:)``; nil if the store is closed.
    package func views(_ listener: @escaping @Sendable (PublishedState?) -> Void) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextID += 1
            state.views[state.nextID] = listener
            return state.nextID
        }
    }

    /// Calls `listener` after each change beside the entries; see ``notifyBeside()``.
    ///
    /// - Returns: the id for ``stopBeside(_:)``; nil if the store is closed.
    package func beside(_ listener: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextID += 1
            state.beside[state.nextID] = listener
            return state.nextID
        }
    }

    /// Hands the watcher the changes of each commit, until ``stopRows(_:)`` or until the store is
    /// closed.
    ///
    /// - Returns: the id for ``stopRows(_:)``; nil if the store is closed.
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

    /// Removes a watcher of rows. Does nothing if it was removed before.
    package func stopRows(_ id: Int) {
        state.withLock { _ = $0.rows.removeValue(forKey: id) }
    }

    /// Removes a reader of views. Does nothing if it was removed before.
    package func stopViews(_ id: Int) {
        state.withLock { _ = $0.views.removeValue(forKey: id) }
    }

    /// Removes a listener to changes beside the entries. Does nothing if it was removed before.
    package func stopBeside(_ id: Int) {
        state.withLock { _ = $0.beside.removeValue(forKey: id) }
    }

    /// The event for which a task waits.
    package enum Topic: Sendable {
        case intent(IntentNumber)
        case nextCommit
        /// Nothing more can be sent or fetched.
        case stop
    }

    /// Suspends until the subject may have changed, the store is closed, or the task is canceled.
    ///
    /// - Parameter isUnchanged: called after the task was added to the list, so that no change in
    ///   between is missed. If it returns false, the wait ends at once.
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
                    case .stop: state.stops[id] = continuation
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
            case .stop: return state.stops.removeValue(forKey: id)
            }
        }
        continuation?.resume()
    }
}
