/// A stored projection's rows at one sequence, for any number of reads.
///
/// ```swift
/// let (newest, count) = try store.read { rows in
///     (try rows.page(of: Inbox.unread, order: .descending, limit: 50),
///      try rows.count(of: Inbox.unread))
/// }
/// ```
///
/// Valid only while the closure of ``Store/read(_:)`` runs. Every read in it sees the confirmed
/// rows of ``sequence`` with the overlay of that sequence, while the writer continues. Keep the
/// closure short (L8). To follow changes, use `changes(of:in:)` instead of reading
/// again.
///
/// All reads throw `LogError.damaged` or `.storage` if the file cannot be read. They throw
/// ``RowError`` if a row or key does not have the requested type, or if the schema has no such
/// table or index.
public struct RowReader<P: StoredProjection>: ~Copyable {
    /// The state of the log at ``sequence``.
    package let published: PublishedState
    private let folded: FoldedRows
    private let stored: StoredRows
    private let rows: MergedRows

    package init(_ published: PublishedState, _ folded: FoldedRows, _ stored: StoredRows) {
        self.published = published
        self.folded = folded
        self.stored = stored
        rows = MergedRows(stored: stored, folded: folded, isConfirmedOnly: false)
    }

    private init(confirmedOf other: borrowing RowReader) {
        published = other.published
        folded = other.folded
        stored = other.stored
        rows = MergedRows(stored: stored, folded: folded, isConfirmedOnly: true)
    }

    /// The last entry that the rows cover.
    public var sequence: LogSequence { published.sequence }
    /// The highest position that confirmed rows cover.
    public var through: Position { published.through }

    /// Pending and accepted intents in number order. O(1): an intent is copied when it is read.
    public var overlay: OverlayIntents<P.Event> { published.intents() }
    /// The numbers of the pending intents, ascending. O(n) in the overlay.
    public var pending: [IntentNumber] { published.numbers(in: .pending) }
    /// The numbers of the accepted intents, ascending. O(n) in the overlay.
    public var accepted: [IntentNumber] { published.numbers(in: .accepted) }
    /// The intents of the overlay that do not apply to the current rows, ascending (F9).
    public var conflicted: [IntentNumber] { folded.conflicted.keys }
    /// Returns the reason why an intent is conflicted; nil if it is not conflicted. It is the error's
    /// `errorDescription` if it is a `LocalizedError` and has one, else its description.
    public func conflict(of number: IntentNumber) -> String? { folded.conflicted[number] }
    /// Rejected intents that are neither dismissed nor retried, ascending.
    public var rejections: [IntentNumber] { published.rejections.keys }
    /// The confirmed events that could not be applied so far, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    /// Calls `body` with the confirmed rows alone, and returns its result.
    ///
    /// No row is pending there. The lists of intents are the same.
    public borrowing func confirmed<R>(
        _ body: (borrowing RowReader<P>) throws -> R
    ) throws -> R { try body(RowReader(confirmedOf: self)) }

    // MARK: By key

    /// Returns the row at `key`; nil if there is none.
    ///
    /// - Throws: as described at ``RowReader``.
    /// - Complexity: O(log n) in stored rows and in the overlay's rows. Decodes one row.
    public borrowing func get<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>
    ) throws -> Row? {
        switch try rows.value(at: try place(of: key, table)) {
        case nil: return nil
        case .memory(let bytes): return try table.decoded(bytes.span.bytes)
        case .file(let bytes): return try table.decoded(bytes.bytes)
        }
    }

    /// Calls `body` with a row's bytes as the table's codec wrote them, and returns its result; nil
    /// if the row does not exist.
    ///
    /// The bytes are valid only while `body` runs. The cost is that of ``get(_:in:)`` without
    /// decoding.
    public borrowing func withBytes<Key, Row, R>(
        of key: Key, in table: RowTable<Key, Row>, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        switch try rows.value(at: try place(of: key, table)) {
        case nil: return nil
        case .memory(let bytes): return try body(bytes.span.bytes)
        case .file(let bytes): return try body(bytes.bytes)
        }
    }

    /// Returns the row with this index key; nil if there is none.
    ///
    /// If the index is not unique, returns the first of these rows in the order of their own keys.
    ///
    /// - Complexity: as two reads by key.
    public borrowing func get<Key, Row, IndexKey>(
        _ key: IndexKey, by index: RowIndex<Key, Row, IndexKey>
    ) throws -> (key: Key, row: Row)? {
        try page(of: index, in: .key(key), limit: 1).first.map { ($0.key, $0.row) }
    }

    /// Returns whether an intent of the overlay wrote or removed the row.
    ///
    /// - Throws: as described at ``RowReader``.
    /// - Complexity: O(log n) in the overlay's rows.
    public borrowing func isPending<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>
    ) throws -> Bool { rows.chain(at: try place(of: key, table))?.visible != nil }

    /// Returns the numbers of the overlay's intents that read or write the row, ascending.
    ///
    /// Reads of whole ranges do not count.
    ///
    /// - Throws: as described at ``RowReader``.
    /// - Complexity: O(log n) in the overlay's rows, and O(m log m) in the intents returned.
    public borrowing func overlay<Key, Row>(
        touching key: Key, in table: RowTable<Key, Row>
    ) throws -> [IntentNumber] {
        rows.chain(at: try place(of: key, table))?.intents ?? []
    }

    // MARK: In order

    /// Returns a page of rows in the order of their keys.
    ///
    /// - Parameters:
    ///   - table: a table of the projection's schema.
    ///   - range: the keys to read.
    ///   - order: from the lowest key up, or from the highest key down.
    ///   - place: the key of the last row on the previous page; nil for the first page. The page
    ///     begins with the next row. The row at `place` need not exist any more.
    ///   - limit: the most rows to return; none if it is 0 or less.
    /// - Throws: as described at ``RowReader``.
    /// - Complexity: O(log n), and O(1) for each returned row and for each row in between that the
    ///   overlay removes.
    public borrowing func page<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all,
        order: RowOrder = .ascending, after place: Key? = nil, limit: Int
    ) throws -> [RowEntry<Key, Row>] {
        var page: [RowEntry<Key, Row>] = []
        guard limit > 0 else { return page }
        try scan(table, in: range, order: order, after: place) { key, bytes in
            page.append(RowEntry(key: key, row: try table.decoded(bytes)))
            return page.count < limit
        }
        return page
    }

    /// Calls `body` with the key and the bytes of each row, in the order of the keys, until it
    /// returns false.
    ///
    /// The bytes are as the table's codec wrote them, and are valid only during the call.
    /// Parameters and cost are those of
    /// ``page(of:in:order:after:limit:)-(RowTable<Key,Row>,_,_,_,_)``, without decoding.
    ///
    /// - Throws: the errors of `body`; else as described at ``RowReader``.
    public borrowing func scan<Key, Row>(
        _ table: RowTable<Key, Row>, in range: RowRange<Key> = .all,
        order: RowOrder = .ascending, after place: Key? = nil,
        _ body: (Key, RawSpan) throws -> Bool
    ) throws {
        let prefix = try folded.schema.prefix(of: table)
        let span = range.span(after: prefix)
            .following(place.map { KeyBytes($0.bytes(after: prefix)) }, order)
        try rows.scan(span, backwards: order == .descending) { key, bytes in
            try body(try Key(stored: key.bytes, after: prefix.count), bytes)
        }
    }

    /// Returns a page of rows in the order of an index.
    ///
    /// - Parameters:
    ///   - index: an index of the projection's schema.
    ///   - range: the index keys to read.
    ///   - order: from the lowest index key up, or from the highest index key down.
    ///   - place: the ``IndexedRow/place`` of the last row on the previous page; nil for the first
    ///     page.
    ///   - limit: the most rows to return; none if it is 0 or less.
    /// - Throws: as described at ``RowReader``.
    /// - Complexity: as a page of a table, and one read by key for each row.
    public borrowing func page<Key, Row, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all,
        order: RowOrder = .ascending, after place: IndexPlace<IndexKey, Key>? = nil, limit: Int
    ) throws -> [IndexedRow<IndexKey, Key, Row>] {
        var page: [IndexedRow<IndexKey, Key, Row>] = []
        guard limit > 0 else { return page }
        try scan(index, in: range, order: order, after: place) { place, bytes in
            page.append(IndexedRow(place: place, row: try index.table.decoded(bytes)))
            return page.count < limit
        }
        return page
    }

    /// Calls `body` with the place and the bytes of each row, in the order of an index, until it
    /// returns false.
    ///
    /// The bytes are as the table's codec wrote them, and are valid only during the call.
    /// Parameters and cost are those of a page of an index, without decoding.
    ///
    /// - Throws: the errors of `body`; else as described at ``RowReader``.
    public borrowing func scan<Key, Row, IndexKey>(
        _ index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all,
        order: RowOrder = .ascending, after place: IndexPlace<IndexKey, Key>? = nil,
        _ body: (IndexPlace<IndexKey, Key>, RawSpan) throws -> Bool
    ) throws {
        let prefix = try folded.schema.prefix(of: index)
        let tablePrefix = try folded.schema.prefix(of: index.table)
        let span = range.span(after: prefix)
            .following(place.map { KeyBytes($0.bytes(prefix, index.isUnique)) }, order)
        let (rows, identity) = (rows, folded.identity)
        try rows.scan(span, backwards: order == .descending) { key, bytes in
            let place = try IndexPlace<IndexKey, Key>(key, prefix.count, bytes, index.isUnique)
            switch try rows.value(at: KeyBytes(place.key.bytes(after: tablePrefix))) {
            case nil:
                throw LogError.damaged(
                    path: "\(identity)", sequence: nil,
                    reason:
                        "index \(index.name) has a row that \(index.table.name) lacks; if the "
                        + "index computes other keys now, count the projection's version up")
            case .memory(let row): return try body(place, row.span.bytes)
            case .file(let row): return try body(place, row.bytes)
            }
        }
    }

    /// Returns the number of rows in `range`.
    ///
    /// - Throws: as described at ``RowReader``.
    /// - Complexity: O(log n), and O(1) for each row. Decodes none. Keep a count in a row if that
    ///   is too slow.
    public borrowing func count<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all
    ) throws -> Int {
        try count(range.span(after: try folded.schema.prefix(of: table)))
    }

    /// Returns the number of an index's entries in `range`.
    ///
    /// Rows that the index leaves out do not count. A row with several entries counts once for
    /// each.
    ///
    /// - Throws: as described at ``RowReader``.
    /// - Complexity: O(log n), and O(1) for each entry.
    public borrowing func count<Key, Row, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all
    ) throws -> Int {
        try count(range.span(after: try folded.schema.prefix(of: index)))
    }

    /// Returns all rows and index entries; keys begin after the projection's number.
    package borrowing func everything() throws -> [(key: [UInt8], value: [UInt8])] {
        var all: [(key: [UInt8], value: [UInt8])] = []
        let faults = StoredRow.faultPrefix(folded.schema.number)
        let notes = StoredRow.notePrefix(folded.schema.number)
        let prefix = StoredRow.prefix(of: folded.schema.number)
        try rows.scan(KeySpan(prefix: prefix), backwards: false) { key, bytes in
            if !key.hasPrefix(faults), !key.hasPrefix(notes) {
                all.append((Array(key.bytes.dropFirst(prefix.count)), [UInt8](copying: bytes)))
            }
            return true
        }
        return all
    }

    /// Returns the keys of all rows and index entries that the overlay writes or removes, as in
    /// ``everything()``.
    package borrowing func everythingPending() -> Set<[UInt8]> {
        Set(rows.pendingKeys.map { Array($0.bytes.dropFirst(StoredRow.prefixBytes)) })
    }

    private borrowing func count(_ span: KeySpan) throws -> Int {
        var count = 0
        try rows.scan(span, backwards: false) { _, _ in
            count += 1
            return true
        }
        return count
    }

    private borrowing func place<Key, Row>(
        of key: Key, _ table: RowTable<Key, Row>
    ) throws(RowError) -> KeyBytes {
        KeyBytes(key.bytes(after: try folded.schema.prefix(of: table)))
    }
}
