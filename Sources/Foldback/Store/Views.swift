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

    /// A reader of the snapshots. It does not keep the store open.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let publication: Publication
        private let index: Int
        /// The sequence of the snapshot that was returned last; nil before the first.
        private var last: LogSequence?

        fileprivate init(_ publication: Publication, _ index: Int) {
            self.publication = publication
            self.index = index
        }

        /// Returns the next snapshot that this iterator has not returned. Waits for the next commit
        /// if needed. Nil if the store is closed or the task is canceled.
        public mutating func next() async -> Snapshot<P>? { await next(isolation: nil) }

        /// Returns the next snapshot, on the given actor. As ``next()`` in everything else.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> Snapshot<P>? {
            guard !Task.isCancelled else { return nil }
            let last = last
            let published = await publication.next { $0.isAfter(last) || $0.isClosed }
            guard let published, published.isAfter(last) else { return nil }
            self.last = published.sequence
            return Snapshot(published, index)
        }
    }

    /// Returns an iterator that begins with the current snapshot.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(core.publication, index) }
}

extension PublishedState {
    fileprivate func isAfter(_ last: LogSequence?) -> Bool { last.map { sequence > $0 } ?? true }
}
