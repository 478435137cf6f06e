import Synchronization

/// The cues of one or several models, each once, to one reader at a time.
///
/// ```swift
/// let cues = Cues()
/// let loading = ProgressModel(cues: cues), sending = ProgressModel(cues: cues)
/// for await cue in cues { perform(cue) }
/// ```
///
/// The newest iterator gets all cues, for example that of a sheet. Older iterators wait until it has
/// ended: until its task is canceled, or the iterator is released.
///
/// Cues wait for a reader, also between two readers, for at most ``ageMax``. Older cues are dropped,
/// because a sentence about what was, or a jump of the focus, confuses. What is still true is in the
/// appearances and marks of the models. Of more than ``pendingMax`` cues, the newest wait. The
/// sequence ends when it is finished or the reader's task is canceled.
///
/// All methods may be called on any task.
public final class Cues: AsyncSequence, Sendable {
    /// One cue.
    public typealias Element = Cue

    private typealias Waiting = CheckedContinuation<Cue?, Never>

    private struct Content {
        var pending: [(content: Cue, at: Moment)] = []
        /// The iterators that have not ended, the newest last.
        var readers: [Int] = []
        /// Iterators that wait: for a cue, or for the end of newer iterators.
        var waiting: [Int: Waiting] = [:]
        var lastReader = 0
        var isFinished = false
        /// Where the focus was before a cue moved it; nil if none has.
        var focusBefore: FocusTarget??

        /// Removes and returns the first cue that is not too old.
        mutating func popFirst(at now: Moment) -> Cue? {
            pending.removeAll { $0.at.duration(to: now) > Cues.ageMax }  // mutant: stale-cue
            return pending.isEmpty ? nil : pending.removeFirst().content
        }

        /// Removes and returns the newest reader with its cue, if it waits and there is one.
        mutating func delivery(at now: Moment) -> (reader: Waiting, cue: Cue)? {
            guard let newest = readers.last, let reader = waiting[newest],
                let cue = popFirst(at: now)
            else { return nil }
            waiting[newest] = nil
            return (reader, cue)
        }
    }

    /// How many cues wait for a reader.
    public static var pendingMax: Int { 100 }
    /// How long a cue waits for a reader.
    public static var ageMax: Duration { .seconds(10) }

    private let content = Mutex(Content())
    private let now: @Sendable () -> Moment

    /// Creates the cues of any number of models.
    ///
    /// - Parameter sources: the time, which decides how old a cue is.
    public init(sources: UISources = .system) { now = sources.now }

    /// Adds cues in order.
    public func send(_ cues: [Cue]) {
        let now = now()
        let delivery = content.withLock { content in
            guard !content.isFinished, !cues.isEmpty else { return nil as (Waiting, Cue)? }
            content.pending += cues.map { ($0, now) }
            let delivery = content.delivery(at: now)
            content.pending.removeFirst(Swift.max(0, content.pending.count - Self.pendingMax))
            return delivery
        }
        if let (reader, cue) = delivery { reader.resume(returning: cue) }
    }

    /// Ends the sequence after the cues that wait. Later cues are dropped.
    public func finish() {
        let waiting = content.withLock { content in
            content.isFinished = true
            defer { content.waiting = [:] }
            return content.waiting.values
        }
        for reader in waiting { reader.resume(returning: nil) }
    }

    /// Returns a reader, for which all others wait.
    public func makeAsyncIterator() -> AsyncIterator {
        let id = content.withLock { content in
            content.lastReader += 1
            content.readers.append(content.lastReader)
            return content.lastReader
        }
        return AsyncIterator(reader: Reader(cues: self, id: id))
    }

    /// A reader of the cues. When its last copy is released, the reader before it goes on.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        /// Returns the next cue, or waits for it. Nil at the end of the sequence.
        public mutating func next() async -> Cue? { await next(isolation: nil) }

        /// Returns the next cue, on the given actor. As ``next()`` in everything else.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Cue? {
            await reader.cues.next(for: reader.id, isolation: actor)
        }
    }

    fileprivate final class Reader: Sendable {
        let cues: Cues
        let id: Int

        init(cues: Cues, id: Int) {
            self.cues = cues
            self.id = id
        }

        deinit { cues.end(id) }
    }

    private func next(for id: Int, isolation actor: isolated (any Actor)?) async -> Cue? {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { continuation in
                // Nil if the reader waits.
                let next: Cue?? = content.withLock { content in
                    guard content.readers.contains(id), !Task.isCancelled else {
                        return .some(nil)
                    }
                    if id == content.readers.last, let next = content.popFirst(at: now()) {
                        return next
                    }
                    guard !content.isFinished else { return .some(nil) }
                    precondition(
                        content.waiting[id] == nil, "one iterator is read by two tasks")
                    content.waiting[id] = continuation
                    return nil
                }
                if let next { continuation.resume(returning: next) }
            }
        } onCancel: {
            end(id)
        }
    }

    /// Ends a reader, and lets the reader before it go on.
    private func end(_ id: Int) {
        let now = now()
        let (ended, delivery) = content.withLock { content in
            content.readers.removeAll { $0 == id }
            return (content.waiting.removeValue(forKey: id), content.delivery(at: now))
        }
        ended?.resume(returning: nil)
        if let (reader, cue) = delivery { reader.resume(returning: cue) }
    }
}

extension Cues {
    /// Returns where a view puts the focus for a cue. Call it once for each cue, in order.
    ///
    /// ```swift
    /// for await cue in cues { focus = cues.focus(for: cue, from: focus) }
    /// ```
    ///
    /// It resolves ``FocusTarget/previous``. What had the focus before an overlay took it is noted
    /// here and not in the view, because a view's tasks end and begin again as it disappears and
    /// appears. If no cue has moved the focus, `previous` leaves it where it is.
    ///
    /// - Parameters:
    ///   - cue: a cue of this queue.
    ///   - current: what has the focus now; nil if it has no name.
    public func focus(for cue: Cue, from current: FocusTarget?) -> FocusTarget? {
        switch cue {
        case .announce: return current
        case .moveFocus(let target):
            content.withLock { content in
                // An overlay that appears again has the focus itself, or nothing has it.
                let isControl = current != nil && current != .indicator
                if isControl || content.focusBefore == nil { content.focusBefore = .some(current) }
            }
            return target
        case .restoreFocus(let target):
            let before = content.withLock { $0.focusBefore.take() }
            guard target == .previous else { return target }
            return before ?? current
        }
    }
}
