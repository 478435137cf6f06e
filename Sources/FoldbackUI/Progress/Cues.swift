import Synchronization

/// The cues of one or several models, each once, to one reader.
///
/// ```swift
/// let cues = Cues()
/// let loading = ProgressModel(cues: cues), sending = ProgressModel(cues: cues)
/// for await cue in cues { perform(cue) }
/// ```
///
/// The newest iterator is the reader; the sequence ends for older iterators. Cues wait for a
/// reader, also between two readers, for at most ``ageMax``. Older cues are dropped, because a
/// sentence about what was, or a jump of the focus, confuses. What is still true is in the
/// appearances and marks of the models. Of more than ``pendingMax`` cues, the newest wait. The
/// sequence ends when it is finished or the reader's task is canceled.
///
/// All methods may be called on any task.
public final class Cues: AsyncSequence, Sendable {
    /// One cue.
    public typealias Element = Cue

    private struct Content {
        var pending: [(content: Cue, at: Moment)] = []
        /// The newest iterator.
        var reader = 0
        /// The newest iterator waits here while it has read all cues.
        var waiting: CheckedContinuation<Cue?, Never>?
        var isFinished = false

        /// Removes and returns the first cue that is not too old.
        mutating func popFirst(at now: Moment) -> Cue? {
            pending.removeAll { $0.at.duration(to: now) > Cues.ageMax }  // mutant: stale-cue
            return pending.isEmpty ? nil : pending.removeFirst().content
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
        let (reader, first) = content.withLock { content in
            guard !content.isFinished, !cues.isEmpty else { return (nil as Waiting?, nil as Cue?) }
            content.pending += cues.map { ($0, now) }
            let reader = content.waiting.take()
            let first = reader == nil ? nil : content.popFirst(at: now)
            content.pending.removeFirst(Swift.max(0, content.pending.count - Self.pendingMax))
            return (reader, first)
        }
        reader?.resume(returning: first)
    }

    /// Ends the sequence after the cues that wait. Later cues are dropped.
    public func finish() {
        content.withLock { content in
            content.isFinished = true
            return content.waiting.take()
        }?.resume(returning: nil)
    }

    /// Returns a reader in place of any other.
    public func makeAsyncIterator() -> AsyncIterator {
        let (id, replaced) = content.withLock { content in
            content.reader += 1
            return (content.reader, content.waiting.take())
        }
        replaced?.resume(returning: nil)
        return AsyncIterator(cues: self, id: id)
    }

    /// A reader of the cues.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let cues: Cues
        fileprivate let id: Int

        /// Returns the next cue, or waits for it. Nil at the end of the sequence.
        public mutating func next() async -> Cue? { await next(isolation: nil) }

        /// Returns the next cue, on the given actor. As ``next()`` in everything else.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Cue? {
            await cues.next(for: id, isolation: actor)
        }
    }

    private typealias Waiting = CheckedContinuation<Cue?, Never>

    private func next(for id: Int, isolation actor: isolated (any Actor)?) async -> Cue? {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { continuation in
                // Nil if the reader waits.
                let next: Cue?? = content.withLock { content in
                    guard id == content.reader, !Task.isCancelled else { return .some(nil) }
                    if let next = content.popFirst(at: now()) { return next }
                    guard !content.isFinished else { return .some(nil) }
                    precondition(content.waiting == nil, "one iterator is read by two tasks")
                    content.waiting = continuation
                    return nil
                }
                if let next { continuation.resume(returning: next) }
            }
        } onCancel: {
            content.withLock { $0.reader == id ? $0.waiting.take() : nil }?.resume(returning: nil)
        }
    }
}
