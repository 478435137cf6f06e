/// The changes to a range of a stored projection's rows, in batches; see `changes(of:in:)` of
/// ``ProjectedRows``. The range is one of a table's keys or of an index.
///
/// ```swift
/// var changes = try store.changes(of: Inbox.messages).makeAsyncIterator()
/// show(try readAll())  // after the iterator was made, so that no change is missed
/// while let batch = try await changes.next() {
///     if batch.isComplete { update(with: batch.changes) } else { show(try readAll()) }
/// }
/// ```
///
/// Do not use it as a log of all changes: changes are merged if they are taken late.
public struct RowChanges<Key: RowKey, Row: Sendable>: AsyncSequence, Sendable {
    /// The changes since the batch before.
    public typealias Element = RowChangeBatch<Key, Row>

    /// Makes a batch of the collected changes; nil if none of them belongs to the range.
    fileprivate typealias Batching = @Sendable (RowWatcher.Gathered) throws -> Element?

    private let core: StoreCore
    private let index: Int
    private let spans: [KeySpan]
    private let batching: Batching

    fileprivate init(
        _ core: StoreCore, _ index: Int, _ spans: [KeySpan], _ batching: @escaping Batching
    ) {
        self.core = core
        self.index = index
        self.spans = spans
        self.batching = batching
    }

    /// A watcher of the rows. It watches from when it is made until it is released.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let watcher: RowWatcher
        private let watching: Listening
        private let publication: Publication
        private let batching: Batching

        fileprivate init(
            _ watcher: RowWatcher, in publication: Publication, _ batching: @escaping Batching
        ) {
            self.watcher = watcher
            self.publication = publication
            self.batching = batching
            watching = publication.watch(watcher)
        }

        /// Returns the changes since the last batch, and waits until there are any. Nil if the
        /// store is closed or the task is canceled.
        ///
        /// - Throws: ``RowError`` if the codec cannot read a row. This batch is lost. Another call
        ///   continues after it.
        public mutating func next() async throws -> RowChangeBatch<Key, Row>? {
            try await next(isolation: nil)
        }

        /// Returns the changes since the last batch, on the given actor. As ``next()`` in
        /// everything else.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> RowChangeBatch<Key, Row>? {
            let watcher = watcher
            while !Task.isCancelled {
                let state = await publication.next { !watcher.isEmpty || $0.isClosed }
                let gathered = watcher.take()
                guard let state, !gathered.isEmpty || !state.isClosed else { return nil }
                // A copy of this iterator may have taken the changes.
                if gathered.isEmpty { continue }
                if let batch = try batching(gathered) { return batch }
            }
            return nil
        }
    }

    /// Returns an iterator that watches the rows from now on.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(RowWatcher(index, spans), in: core.publication, batching)
    }
}

/// The changes to rows since the last batch: of one commit, or of several if they were taken late.
public struct RowChangeBatch<Key: RowKey, Row: Sendable>: Sendable {
    /// The last entry that the batch covers.
    public let sequence: LogSequence
    /// The changed rows in key order, each once: from its value at the last batch to its current
    /// value.
    ///
    /// A row that changed and changed back is included, because it may have been read in between.
    public let changes: [RowChange<Key, Row>]
    /// Whether ``changes`` has all changes.
    ///
    /// If false, read the rows again, at ``sequence`` or later. It is false if more changed than is
    /// kept (10,000 rows or 16 MiB), if a changed row could not be read, or if a commit was in
    /// progress when watching began.
    public let isComplete: Bool

    fileprivate init(_ gathered: RowWatcher.Gathered, _ table: RowTable<Key, Row>) throws {
        sequence = gathered.sequence
        isComplete = gathered.isComplete
        changes = try gathered.changes.sorted { $0.key < $1.key }.map { key, seen in
            RowChange(
                key: try Key(stored: key.bytes, after: StoredSchema.prefixBytes),
                old: try Self.row(seen.old, table), new: try Self.row(seen.new, table),
                isPending: seen.new.isPending)
        }
    }

    /// Makes a batch of the changes to a range of an index; nil if no row of the range changed.
    fileprivate init?(_ gathered: RowWatcher.Gathered, _ range: IndexSpan<some RowKey, Key, Row>)
        throws
    {
        sequence = gathered.sequence
        isComplete = gathered.isComplete
        var changes: [RowChange<Key, Row>] = []
        // A row may have entered and left the range between two batches. Its entry shows that.
        let entered = try range.rows(ofEntries: gathered.changes)
        for (key, seen) in gathered.changes.sorted(by: { $0.key < $1.key })
        where !range.span.contains(key) {
            let rowKey = try Key(stored: key.bytes, after: StoredSchema.prefixBytes)
            let old = range.keeping(try Self.row(seen.old, range.index.table), at: rowKey)
            let new = range.keeping(try Self.row(seen.new, range.index.table), at: rowKey)
            guard old != nil || new != nil || entered.contains(rowKey) else { continue }
            changes.append(
                RowChange(key: rowKey, old: old, new: new, isPending: seen.new.isPending))
        }
        if changes.isEmpty, isComplete { return nil }
        self.changes = changes
    }

    private static func row(_ seen: VisibleRow, _ table: RowTable<Key, Row>) throws -> Row? {
        guard case .row(let bytes) = seen.value else { return nil }
        return try table.decoded(bytes.span.bytes)
    }
}

/// A range of an index, as keys in the log.
private struct IndexSpan<IndexKey: RowKey, Key: RowKey, Row: Sendable>: Sendable {
    let index: RowIndex<Key, Row, IndexKey>
    /// The bytes with which the index's keys begin.
    let prefix: [UInt8]
    let span: KeySpan

    /// Returns the row if it has an entry in the range.
    func keeping(_ row: Row?, at key: Key) -> Row? {
        guard let row else { return nil }
        let isInRange = index.entries(key, row).contains { span.contains(KeyBytes(prefix + $0)) }
        return isInRange ? row : nil
    }

    /// Returns the keys of the rows whose entries in the range changed.
    func rows(
        ofEntries changes: [KeyBytes: (old: VisibleRow, new: VisibleRow)]
    ) throws -> Set<Key> {
        var keys: Set<Key> = []
        for (key, seen) in changes where span.contains(key) {
            for case .row(let bytes) in [seen.old.value, seen.new.value] where index.isUnique {
                keys.insert(try Key(stored: bytes, after: 0))
            }
            guard !index.isUnique else { continue }
            var decoder = KeyDecoder(key.bytes, from: prefix.count)
            let _: IndexKey = try decoder.next()
            keys.insert(try Key(stored: key.bytes, after: decoder.offset))
        }
        return keys
    }
}

/// A change to one row, as readers see it.
public struct RowChange<Key: RowKey, Row: Sendable>: Sendable {
    /// The row's key in its table.
    public let key: Key
    /// The row before the change; nil if there was none in the watched range.
    public let old: Row?
    /// The row after the change; nil if there is none in the watched range.
    public let new: Row?
    /// Whether an intent of the overlay wrote or removed the row.
    ///
    /// If the server confirms the intent unchanged, only this property changes.
    public let isPending: Bool

    /// Creates a change, for tests.
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
    /// Returns the changes to the rows in `range`: a batch for each commit that changes any of
    /// them.
    ///
    /// Watching begins when the iterator is made, and ends when the store is closed. A reader that
    /// is slower than the commits gets them merged, in bounded memory.
    ///
    /// To miss no change: make the iterator, then read, then take the batches. Batches up to the
    /// sequence of that read repeat what it saw.
    ///
    /// - Throws: `RowError.unknown` if the schema has no such table.
    /// - Complexity: while there is a watcher, each commit costs O(n) more in the rows that it
    ///   changes.
    public func changes<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all
    ) throws(RowError) -> RowChanges<Key, Row> {
        let prefix = try folded.schema.prefix(of: table)
        return RowChanges(core, index, [range.span(after: prefix)]) { gathered in
            try RowChangeBatch(gathered, table)
        }
    }

    /// Returns the changes to the rows that an index has in `range`, as `changes(of:in:)` does
    /// for a range of the table's own keys.
    ///
    /// A row that enters the range has no `old`, and a row that leaves it has no `new`, although
    /// the table may still have the row. A batch is in the order of the rows' own keys.
    ///
    /// ```swift
    /// let changes = try store.changes(of: Inbox.byThread, in: .prefix(thread))
    /// ```
    ///
    /// - Throws: `RowError.unknown` if the schema has no such index.
    /// - Complexity: the watcher keeps the changes to all rows of the table, and the limits of
    ///   ``RowChangeBatch/isComplete`` count them all. Each batch decodes them once.
    public func changes<Key, Row, IndexKey>(
        of rowIndex: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all
    ) throws(RowError) -> RowChanges<Key, Row> {
        let prefix = try folded.schema.prefix(of: rowIndex)
        let entries = IndexSpan(
            index: rowIndex, prefix: prefix, span: range.span(after: prefix))
        let rows = KeySpan(prefix: try folded.schema.prefix(of: rowIndex.table))
        return RowChanges(core, index, [rows, entries.span]) { gathered in
            try RowChangeBatch(gathered, entries)
        }
    }
}

extension ProjectedRows {
    /// Returns an observation that collects the changes to all rows and index entries until it is
    /// released.
    package func observation() -> RowObservation {
        observation(of: KeySpan(prefix: StoredRow.prefix(of: folded.schema.number)))
    }

    /// Returns an observation of the rows in `range`.
    ///
    /// - Throws: `RowError.unknown` if the schema has no such table.
    package func observation<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key>
    ) throws(RowError) -> RowObservation {
        observation(of: range.span(after: try folded.schema.prefix(of: table)))
    }

    private func observation(of span: KeySpan) -> RowObservation {
        RowObservation(RowWatcher(index, [span]), in: core.publication)
    }
}

/// A watcher of rows that collects changes until it is released.
package final class RowObservation: Sendable {
    private let watcher: RowWatcher
    private let watching: Listening

    fileprivate init(_ watcher: RowWatcher, in publication: Publication) {
        self.watcher = watcher
        watching = publication.watch(watcher)
    }

    /// Returns the changes since the last call.
    package func take() -> RowWatcher.Gathered { watcher.take() }
}

extension Store where P: StoredProjection {
    /// Returns the changes to the rows in `range`, in batches. See
    /// `changes(of:in:)` of ``ProjectedRows``.
    public func changes<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all
    ) throws(RowError) -> RowChanges<Key, Row> { try projected.changes(of: table, in: range) }

    /// Returns the changes to the rows that an index has in `range`, in batches. See
    /// `changes(of:in:)` of ``ProjectedRows``.
    public func changes<Key, Row, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all
    ) throws(RowError) -> RowChanges<Key, Row> { try projected.changes(of: index, in: range) }
}
