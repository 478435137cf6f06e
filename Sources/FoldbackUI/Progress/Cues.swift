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
/// reader, also between two readers. Of more than ``pendingMax`` cues, the newest wait. The
/// sequence ends when it is finished or the reader's task is canceled.
///
/// All methods may be called on any task.
public final class Cues: AsyncSequence, Sendable {
    public typealias Element = Cue

    private struct Content {
        var pending: [Cue] = []
        /// The newest iterator.
        var reader = 0
        /// The newest iterator waits here while it has read all cues.
        var waiting: CheckedContinuation<Cue?, Never>?
        var isFinished = false
    }

    /// How many cues wait for a reader.
    public static var pendingMax: Int { 100 }

    private let content = Mutex(Content())

    public init() {}

    /// Adds cues in order.
    public func send(_ cues: [Cue]) {
        let (reader, first) = content.withLock { content in
            guard !content.isFinished, !cues.isEmpty else { return (nil as Waiting?, nil as Cue?) }
            content.pending += cues
            let reader = content.waiting.take()
            let first = reader == nil ? nil : content.pending.removeFirst()
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
                    guard content.pending.isEmpty else { return content.pending.removeFirst() }
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
