/// A stored projection's rows at one sequence, for as many reads as are wanted, while writing goes on.
///
/// Stands while the closure of ``Store/read(_:)`` runs, and cannot leave it. Every read sees the same: what is
/// confirmed at ``sequence``, with what the overlay of that sequence makes of it. Keep it short, see
/// ``Store/read(_:)`` (L8).
///
/// All reading throws `FoldbackError.damaged` where the file is, and ``RowError`` where a row or key is not of
/// the type that is asked for, or the schema does not have the table.
public struct RowReader<P: StoredProjection>: ~Copyable {
    private let published: PublishedState
    private let folded: FoldedRows
    private let stored: StoredRows
    private let rows: MergedRows

    init(_ published: PublishedState, _ folded: FoldedRows, _ stored: StoredRows) {
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

    public var sequence: LogSequence { published.sequence }
    /// The highest position that confirmed rows cover.
    public var through: Position { published.through }

    /// Pending and accepted intents in order of number. O(n) in their count.
    public var overlay: [OverlayIntent<P.Event>] { published.intents() }
    /// Their numbers, by state; ascending, as all lists of numbers here.
    public var pending: [IntentNumber] { published.numbers(in: .pending) }
    public var accepted: [IntentNumber] { published.numbers(in: .accepted) }
    /// Intents in the overlay that do not apply to the present rows (F9).
    public var conflicted: [IntentNumber] { folded.conflicted.keys }
    /// Why an intent is conflicted; nil if it is not.
    public func conflict(of number: IntentNumber) -> String? { folded.conflicted[number] }
    /// Rejected intents that are neither dismissed nor retried.
    public var rejections: [IntentNumber] { published.rejections.keys }
    /// Confirmed events that could not be applied so far, oldest first (F9).
    public var faults: [Fault] { folded.faults }

    /// The same rows without the overlay, of which none is pending. Lists of intents stay as they are.
    public borrowing func confirmed<R>(
        _ body: (borrowing RowReader<P>) throws -> R
    ) throws -> R { try body(RowReader(confirmedOf: self)) }

    // MARK: By key

    /// The row at `key`; nil where there is none.
    ///
    /// - Complexity: O(log n) in rows and in the overlay's; one decoding.
    public borrowing func get<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>
    ) throws -> Row? {
        switch try rows.value(at: try place(of: key, table)) {
        case nil: return nil
        case .memory(let bytes): return try table.decoded(bytes.span.bytes)
        case .file(let bytes): return try table.decoded(bytes.bytes)
        }
    }

    /// Calls `body` with the bytes that the table's codec wrote, which must not be kept.
    public borrowing func withBytes<Key, Row, R>(
        of key: Key, in table: RowTable<Key, Row>, _ body: (RawSpan) throws -> R
    ) throws -> R? {
        switch try rows.value(at: try place(of: key, table)) {
        case nil: return nil
        case .memory(let bytes): return try body(bytes.span.bytes)
        case .file(let bytes): return try body(bytes.bytes)
        }
    }

    /// The row that a unique index has at `key`; of one that is not unique, the first.
    ///
    /// - Complexity: as two reads by key.
    public borrowing func get<Key, Row, IndexKey>(
        _ key: IndexKey, by index: RowIndex<Key, Row, IndexKey>
    ) throws -> (key: Key, row: Row)? {
        try page(of: index, in: .key(key), limit: 1).first.map { ($0.key, $0.row) }
    }

    /// Whether an intent of the overlay makes the row what it is.
    public borrowing func isPending<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>
    ) throws -> Bool { rows.chain(at: try place(of: key, table))?.visible != nil }

    /// The intents in the overlay that have read or changed the row, ascending.
    public borrowing func overlay<Key, Row>(
        touching key: Key, in table: RowTable<Key, Row>
    ) throws -> [IntentNumber] {
        rows.chain(at: try place(of: key, table))?.intents ?? []
    }

    // MARK: In order

    /// Rows in the order of their keys.
    ///
    /// - Parameters:
    ///   - table: of the projection's schema.
    ///   - range: which keys.
    ///   - order: from the lowest key up, or from the highest down.
    ///   - place: of the last row of the page before; the first row is the one behind it, whether that
    ///     one is still there or not.
    ///   - limit: how many rows at most.
    /// - Complexity: O(log n), and O(1) for each row, and for each one in between that the overlay
    ///   removes.
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

    /// Calls `body` with the key of each row and the bytes that the table's codec wrote, which must not be
    /// kept, until it answers false.
    ///
    /// The parameters and the cost are those of ``page(of:in:order:after:limit:)-(RowTable<Key,Row>,_,_,_,_)``,
    /// without decoding.
    public borrowing func scan<Key, Row>(
        _ table: RowTable<Key, Row>, in range: RowRange<Key> = .all,
        order: RowOrder = .ascending, after place: Key? = nil,
        _ body: (Key, RawSpan) throws -> Bool
    ) throws {
        let prefix = try folded.schema.prefix(of: table)
        let span = range.span(behind: prefix)
            .following(place.map { KeyBytes($0.bytes(behind: prefix)) }, order)
        try rows.scan(span, backwards: order == .descending) { key, bytes in
            try body(try Key(stored: key.bytes, behind: prefix.count), bytes)
        }
    }

    /// Rows in the order of an index.
    ///
    /// - Parameters:
    ///   - index: of the projection's schema.
    ///   - range: which keys of the index.
    ///   - order: from the lowest key up, or from the highest down.
    ///   - place: the ``IndexedRow/place`` of the last row of the page before.
    ///   - limit: how many rows at most.
    /// - Complexity: a walk along the index as in a table, and one read by key for each row.
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

    /// The same without decoding: calls `body` with each row's place and bytes, which must not be kept, until
    /// it answers false.
    public borrowing func scan<Key, Row, IndexKey>(
        _ index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all,
        order: RowOrder = .ascending, after place: IndexPlace<IndexKey, Key>? = nil,
        _ body: (IndexPlace<IndexKey, Key>, RawSpan) throws -> Bool
    ) throws {
        let prefix = try folded.schema.prefix(of: index)
        let tablePrefix = try folded.schema.prefix(of: index.table)
        let span = range.span(behind: prefix)
            .following(place.map { KeyBytes($0.bytes(prefix, index.isUnique)) }, order)
        let (rows, identity) = (rows, folded.identity)
        try rows.scan(span, backwards: order == .descending) { key, bytes in
            let place = try IndexPlace<IndexKey, Key>(key, prefix.count, bytes, index.isUnique)
            switch try rows.value(at: KeyBytes(place.key.bytes(behind: tablePrefix))) {
            case nil:
                throw FoldbackError.damaged(
                    path: "\(identity)", sequence: nil,
                    reason:
                        "index \(index.name) has a row that \(index.table.name) has not; if what "
                        + "the index has was changed, give the projection another version")
            case .memory(let row): return try body(place, row.span.bytes)
            case .file(let row): return try body(place, row.bytes)
            }
        }
    }

    /// How many rows there are.
    ///
    /// - Complexity: a walk along the rows, without decoding them.
    public borrowing func count<Key, Row>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all
    ) throws -> Int {
        try count(range.span(behind: try folded.schema.prefix(of: table)))
    }

    /// The same along an index: rows that it does not have are not counted, those in several places are so
    /// often.
    public borrowing func count<Key, Row, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all
    ) throws -> Int {
        try count(range.span(behind: try folded.schema.prefix(of: index)))
    }

    /// Everything that there is, also what indexes have: the bytes behind the projection's number.
    package borrowing func everything() throws -> [(key: [UInt8], value: [UInt8])] {
        var all: [(key: [UInt8], value: [UInt8])] = []
        let faults = StoredRow.faultPrefix(folded.schema.number)
        let prefix = StoredRow.prefix(of: folded.schema.number)
        try rows.scan(KeySpan(prefix: prefix), backwards: false) { key, bytes in
            if !key.hasPrefix(faults) {
                all.append((Array(key.bytes.dropFirst(prefix.count)), [UInt8](copying: bytes)))
            }
            return true
        }
        return all
    }

    /// The keys in ``everything()`` that are pending, and those that pending intents take away.
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
        KeyBytes(key.bytes(behind: try folded.schema.prefix(of: table)))
    }
}
