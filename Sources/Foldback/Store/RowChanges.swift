/// What becomes of some rows of a stored projection, commit by commit; see ``ProjectedRows/changes(of:in:)``.
public struct RowChanges<Key: RowKey, Row: Sendable>: AsyncSequence, Sendable {
    public typealias Element = RowChangeBatch<Key, Row>

    let core: StoreCore
    let index: Int
    let table: RowTable<Key, Row>
    let span: KeySpan

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let watcher: RowWatcher
        private let table: RowTable<Key, Row>
        private var bell: AsyncStream<Void>.Iterator

        fileprivate init(
            _ watcher: RowWatcher, _ table: RowTable<Key, Row>, _ bell: AsyncStream<Void>
        ) {
            self.watcher = watcher
            self.table = table
            self.bell = bell.makeAsyncIterator()
        }

        /// - Throws: ``RowError`` where a row cannot be read; the batch is gone then.
        public mutating func next() async throws -> RowChangeBatch<Key, Row>? {
            try await next(isolation: nil)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> RowChangeBatch<Key, Row>? {
            while await bell.next(isolation: actor) != nil {
                let gathered = watcher.take()
                // Rung for what was taken with the batch before.
                if gathered.isEmpty { continue }
                return try RowChangeBatch(gathered, table)
            }
            return nil
        }
    }

    /// Watches from here on.
    public func makeAsyncIterator() -> AsyncIterator {
        let (bell, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watcher = RowWatcher(index, span, bell: continuation)
        let listeners = core.writer.listeners
        if let place = listeners.rows(watcher) {
            continuation.onTermination = { _ in listeners.stopRows(place) }
        }
        return AsyncIterator(watcher, table, bell)
    }
}

/// What has become of rows since the batch before: of one commit, or of several where nobody took them one by
/// one.
public struct RowChangeBatch<Key: RowKey, Row: Sendable>: Sendable {
    /// The last commit that is in it.
    public let sequence: LogSequence
    /// By key, in order; each row once, from what it was at the last batch to what it is. One that has
    /// changed and changed back in between is among them, for it may have been read meanwhile.
    public let changes: [RowChange<Key, Row>]
    /// False: more has changed than is kept for who comes late, or a commit was under way when watching
    /// began. What is wanted has to be read again, at ``sequence`` or later.
    public let isComplete: Bool

    fileprivate init(_ gathered: RowWatcher.Gathered, _ table: RowTable<Key, Row>) throws {
        sequence = gathered.sequence
        isComplete = gathered.isComplete
        changes = try gathered.changes.sorted { $0.key < $1.key }.map { key, seen in
            RowChange(
                key: try Key(stored: key.bytes, behind: StoredSchema.prefixBytes),
                old: try Self.row(seen.old, table), new: try Self.row(seen.new, table),
                isPending: seen.new.isPending)
        }
    }

    private static func row(_ seen: VisibleRow, _ table: RowTable<Key, Row>) throws -> Row? {
        guard case .row(let bytes) = seen.value else { return nil }
        return try table.decoded(bytes.span.bytes)
    }
}

/// A row that is seen otherwise than before.
public struct RowChange<Key: RowKey, Row: Sendable>: Sendable {
    public let key: Key
    /// Nil: it was absent.
    public let old: Row?
    /// Nil: it is absent.
    public let new: Row?
    /// An intent of the overlay makes it what it is. A confirmation of what was predicted changes this
    /// alone.
    public let isPending: Bool

    public init(key: Key, old: Row?, new: Row?, isPending: Bool) {
        self.key = key
        self.old = old
        self.new = new
        self.isPending = isPending
    }
}

extension RowChange: Equatable where Row: Equatable {}
extension RowChangeBatch: Equatable where Row: Equatable {}

extension ProjectedRows {
    /// What becomes of the rows in `range` from the iterator's making on: a batch for each commit that
    /// changes any. A reader that is slower than the commits gets them merged, in bounded space, never a
    /// queue. Ends when the store is closed.
    ///
    /// To go on from what was read: make the iterator, read, and then take the batches; those up to the
    /// sequence that was read tell what is known already.
    /// - Complexity: while somebody watches, each commit costs O(rows that it changes) more.
    public func changes<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all
    ) throws(RowError) -> RowChanges<Key, Row> {
        let prefix = try folded.schema.prefix(of: table)
        return RowChanges(
            core: core, index: index, table: table, span: range.span(behind: prefix))
    }
}

extension ProjectedRows {
    /// Gathers what becomes of all rows and of their places in indexes, for as long as it is there.
    package func gathering() -> RowObservation {
        RowObservation(
            RowWatcher(
                index, KeySpan(prefix: StoredRow.prefix(of: folded.schema.number)),
                bell: AsyncStream.makeStream(of: Void.self).continuation),
            core.writer.listeners)
    }
}

/// Somebody who watches all rows of a stored projection.
package final class RowObservation: Sendable {
    private let watcher: RowWatcher
    private let listeners: Listeners
    private let place: Int?

    fileprivate init(_ watcher: RowWatcher, _ listeners: Listeners) {
        self.watcher = watcher
        self.listeners = listeners
        place = listeners.rows(watcher)
    }

    deinit { if let place { listeners.stopRows(place) } }

    /// What has changed since the last was taken.
    package func take() -> RowWatcher.Gathered { watcher.take() }
}

extension Store where P: StoredProjection {
    /// See ``ProjectedRows/changes(of:in:)``.
    public func changes<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all
    ) throws(RowError) -> RowChanges<Key, Row> { try projected.changes(of: table, in: range) }
}
