import Synchronization

/// The snapshots of one projection as they are published; see ``Projected/views``.
public struct Views<P: Projection>: AsyncSequence, Sendable {
    let core: StoreCore
    let index: Int

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<Snapshot<P>>.Iterator

        fileprivate init(_ stream: AsyncStream<Snapshot<P>>) {
            self.stream = stream.makeAsyncIterator()
        }

        public mutating func next() async -> Snapshot<P>? { await stream.next() }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> Snapshot<P>? {
            await stream.next(isolation: actor)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Snapshot<P>.self, bufferingPolicy: .bufferingNewest(1))
        let listeners = core.writer.listeners
        // The present snapshot is offered after the place in the list is taken, so that none is missed;
        // whichever comes later, an older one never replaces a newer.
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
