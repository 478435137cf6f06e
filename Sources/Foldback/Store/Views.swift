import Synchronization

/// The snapshots of one projection as they are published; see ``Projected/views``.
///
/// ```swift
/// for await snapshot in store.views { show(snapshot.view) }
/// ```
///
/// A slow reader gets the latest snapshot and misses those in between. Do not use it to see every
/// entry: use ``Store/answers(after:)`` or ``Store/entries(from:countMax:)``.
public struct Views<P: Projection>: AsyncSequence, Sendable {
    let core: StoreCore
    let index: Int

    /// A reader of the snapshots. Until it is released, each commit hands it a snapshot.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<Snapshot<P>>.Iterator

        fileprivate init(_ stream: AsyncStream<Snapshot<P>>) {
            self.stream = stream.makeAsyncIterator()
        }

        /// Returns the next snapshot that this iterator has not returned. Waits for the next commit
        /// if needed. Nil if the store is closed or the task is canceled.
        public mutating func next() async -> Snapshot<P>? { await stream.next() }

        /// Returns the next snapshot, on the given actor. As ``next()`` in everything else.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> Snapshot<P>? {
            await stream.next(isolation: actor)
        }
    }

    /// Returns an iterator that begins with the current snapshot.
    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Snapshot<P>.self, bufferingPolicy: .bufferingNewest(1))
        let listeners = core.writer.listeners
        // The listener is added first and gets the current snapshot after that, so that no commit
        // is missed. Both can then run in any order: `last` prevents that an older snapshot
        // replaces a newer one.
        let last = Mutex<LogSequence?>(nil)
        let index = index
        let offer: @Sendable (PublishedState?) -> Void = { published in
            guard let published else {
                continuation.finish()
                return
            }
            last.withLock { last in
                guard last.map({ $0 < published.sequence }) ?? true else { return }
                last = published.sequence
                continuation.yield(Snapshot(published, index))
            }
        }
        let place = listeners.views(offer)
        offer(core.writer.publishedState)
        if let place {
            continuation.onTermination = { _ in listeners.stopViews(place) }
        } else {
            continuation.finish()
        }
        return AsyncIterator(stream)
    }
}
