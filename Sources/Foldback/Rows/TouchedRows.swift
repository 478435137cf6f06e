/// The rows as an event finds them, and what it makes of them.
///
/// Handed to ``StoredProjection/apply(_:_:to:)``. Each row that is asked for is noted, and the event is applied
/// again when one of these comes out otherwise below it. Changes are seen by what follows in the same event,
/// and kept only if it does not throw. One that throws has changed nothing, neither the row nor an index: what
/// `apply` catches, it can go on from.
///
/// An index is kept with its table: a change of a row costs one read of it, and one change in each index
/// whose key for it changes.
public struct TouchedRows {
    private let schema: StoredSchema
    private let below: any RowsBelow
    private var touches: [Touch] = []
    /// Places in `touches`, once there are many.
    private var places: [KeyBytes: Int] = [:]
    /// Ranges that were asked for.
    package private(set) var spans: [KeySpan] = []
    /// What the disk said, whatever the app made of it.
    package private(set) var failure: FoldbackError?

    private struct Touch {
        let key: KeyBytes
        var read: RowValue?
        var written: RowValue?
    }

    package init(_ schema: StoredSchema, over below: any RowsBelow) {
        self.schema = schema
        self.below = below
    }

    // MARK: One row

    /// The row at `key`; nil where there is none.
    ///
    /// Here and below, an event that lets an error through does not apply (F9).
    /// - Throws: ``RowError``, where the table is not in the schema, the key is too long, or the row's codec
    ///   does not read it; `FoldbackError.damaged`, which also stops the command if it is caught.
    public mutating func get<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>
    ) throws -> Row? {
        try row(at: try place(of: key, table).key, table)
    }

    /// Puts the row there, whatever was there before.
    ///
    /// - Throws: what ``get(_:in:)`` throws, `RowError.rowTooLarge`, what the codec throws, and
    ///   `RowError.notUnique` where another row has one of its keys in a unique index: also where that row is
    ///   changed later in the same event. Two rows that swap such keys need a third value in between.
    public mutating func put<Key, Row>(
        _ row: Row, at key: Key, in table: RowTable<Key, Row>
    ) throws {
        try change(key, table, to: row)
    }

    /// Puts a row where there is none.
    ///
    /// - Throws: `RowError.isPresent` where there is one; what ``put(_:at:in:)`` throws.
    public mutating func insert<Key, Row>(
        _ row: Row, at key: Key, in table: RowTable<Key, Row>
    ) throws {
        guard try value(at: try place(of: key, table).key) == .absent else {
            throw RowError.isPresent(table: table.name)
        }
        try change(key, table, to: row)
    }

    /// Changes the row that is there.
    ///
    /// - Throws: `RowError.isAbsent` where there is none; what `body` and ``put(_:at:in:)`` throw.
    public mutating func update<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>, _ body: (inout Row) throws -> Void
    ) throws {
        guard let old = try get(key, in: table) else {
            throw RowError.isAbsent(table: table.name)
        }
        var row = old
        try body(&row)
        try change(key, table, from: old, to: row)
    }

    /// Changes the row that is there, or the one that is made where there is none.
    public mutating func update<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>, default made: @autoclosure () -> Row,
        _ body: (inout Row) throws -> Void
    ) throws {
        let old = try get(key, in: table)
        var row = old ?? made()
        try body(&row)
        try change(key, table, from: old, to: row)
    }

    /// Removes the row, if there is one.
    ///
    /// - Throws: what ``get(_:in:)`` throws.
    public mutating func remove<Key, Row>(_ key: Key, from table: RowTable<Key, Row>) throws {
        try change(key, table, to: nil)
    }

    // MARK: Many rows

    /// The keys of the rows in `range`, in order. The event is applied again when any row in it comes out
    /// otherwise: for whole states that a server sends, rather than for what users do.
    ///
    /// - Complexity: O(n) in these rows. While such an intent is pending, every row that changes is held
    ///   against its ranges.
    /// - Throws: ``RowError``; `FoldbackError.damaged`.
    public mutating func keys<Key, Row>(
        in range: RowRange<Key> = .all, of table: RowTable<Key, Row>
    ) throws -> [Key] {
        let prefix = try schema.prefix(of: table)
        let span = range.span(behind: prefix)
        var found: [KeyBytes]
        do throws(FoldbackError) { found = try below.keys(in: span) } catch {
            failure = failure ?? error
            throw error
        }
        spans.append(span)
        let made = writes.filter { span.contains($0.key) }
        if !made.isEmpty {
            let keys = Set(made.map(\.key))
            found.removeAll { keys.contains($0) }
            found += made.filter { $0.value != .absent }.map(\.key)
            found.sort()
        }
        return try found.map { try Key(stored: $0.bytes, behind: prefix.count) }
    }

    /// Removes the rows in `range`, one after the other; see ``keys(in:of:)``.
    ///
    /// - Throws: where one of them cannot be removed; those before it are removed then.
    public mutating func removeAll<Key, Row>(
        in range: RowRange<Key> = .all, from table: RowTable<Key, Row>
    ) throws {
        for key in try keys(in: range, of: table) { try remove(key, from: table) }
    }

    // MARK: With its indexes

    private mutating func change<Key, Row>(
        _ key: Key, _ table: RowTable<Key, Row>, to row: Row?
    ) throws {
        let (place, bytes) = try place(of: key, table)
        // What was there matters to indexes alone.
        let isIndexed = !schema.schema.indexes(of: place).isEmpty
        let old = isIndexed ? try self.row(at: bytes, table) : nil
        try change(key, table, from: old, to: row)
    }

    private mutating func change<Key, Row>(
        _ key: Key, _ table: RowTable<Key, Row>, from old: Row?, to row: Row?
    ) throws {
        let (place, bytes) = try place(of: key, table)
        let value: RowValue = try row.map { .row(try table.encoded($0)) } ?? .absent
        var entries: [(key: KeyBytes, value: RowValue)] = []
        let indexes = schema.schema.indexes(of: place)
        if !indexes.isEmpty {
            let primary = key.bytes(behind: [])
            for index in indexes {
                entries += try self.entries(in: index, key, primary, from: old, to: row)
            }
        }
        // Only now is anything changed: `apply` may catch what was thrown, and go on.
        for entry in entries { set(entry.value, at: entry.key) }
        set(value, at: bytes)
    }

    /// What changes in the index when the row does.
    ///
    /// - Throws: where the index cannot have the row.
    private mutating func entries<Key: RowKey, Row: Sendable>(
        in place: Int, _ key: Key, _ primary: [UInt8], from old: Row?, to new: Row?
    ) throws -> [(key: KeyBytes, value: RowValue)] {
        let (name, isUnique, rows) = schema.schema.index(place)
        guard let rows = rows as? IndexedRows<Key, Row> else {
            preconditionFailure("the index \(name) is of another table")
        }
        let before = old.map { rows.keys(key, $0) } ?? []
        let after = new.map { rows.keys(key, $0) } ?? []
        guard before != after else { return [] }
        let prefix = schema.prefix(ofPlace: place)
        var entries: [(key: KeyBytes, value: RowValue)] = []
        for index in before where !after.contains(index) {  // mutant: index-removal
            entries.append((KeyBytes(prefix + (isUnique ? index : index + primary)), .absent))
        }
        for index in after where !before.contains(index) {
            let bytes = prefix + (isUnique ? index : index + primary)
            try requireShort(bytes, name)
            let entry = KeyBytes(bytes)
            guard isUnique else {
                entries.append((entry, .row([])))
                continue
            }
            let there = try value(at: entry)
            // The row itself is not in its way, where its codec has lost what the index went by.
            guard there == .absent || there == .row(primary) else {  // mutant: unique-index
                throw RowError.notUnique(index: name)
            }
            entries.append((entry, .row(primary)))
        }
        return entries
    }

    // MARK: Bytes

    private func place<Key, Row>(
        of key: Key, _ table: RowTable<Key, Row>
    ) throws -> (place: Int, key: KeyBytes) {
        let place = try schema.schema.place(of: table, isWritten: true)
        let bytes = key.bytes(behind: schema.prefix(ofPlace: place))
        try requireShort(bytes, table.name)
        return (place, KeyBytes(bytes))
    }

    private func requireShort(_ bytes: [UInt8], _ name: String) throws {
        let count = bytes.count - StoredSchema.prefixBytes
        guard count <= KeyEncoder.bytesMax else {
            throw RowError.keyTooLong(table: name, bytes: count)
        }
    }

    private mutating func row<Key, Row>(
        at key: KeyBytes, _ table: RowTable<Key, Row>
    ) throws -> Row? {
        guard case .row(let bytes) = try value(at: key) else { return nil }
        return try table.decoded(bytes.span.bytes)
    }

    private mutating func value(at key: KeyBytes) throws -> RowValue {
        let index = touch(key)
        if let known = touches[index].written ?? touches[index].read { return known }
        do throws(FoldbackError) {
            let found = try below.value(at: key)
            touches[index].read = found  // mutant: read-noted
            return found
        } catch {
            failure = failure ?? error
            throw error
        }
    }

    private mutating func set(_ value: RowValue, at key: KeyBytes) {
        touches[touch(key)].written = value
    }

    private mutating func touch(_ key: KeyBytes) -> Int {
        if touches.count <= 16 {
            if let index = touches.firstIndex(where: { $0.key == key }) { return index }
        } else {
            if places.isEmpty {
                for (index, touch) in touches.enumerated() { places[touch.key] = index }
            }
            if let index = places[key] { return index }
            places[key] = touches.count
        }
        touches.append(Touch(key: key))
        return touches.count - 1
    }

    // MARK: What came of it

    package var reads: [(key: KeyBytes, value: RowValue)] {
        touches.compactMap { touch in touch.read.map { (touch.key, $0) } }
    }

    package var writes: [(key: KeyBytes, value: RowValue)] {
        touches.compactMap { touch in touch.written.map { (touch.key, $0) } }
    }
}

/// The rows that an event finds.
package protocol RowsBelow {
    func value(at key: KeyBytes) throws(FoldbackError) -> RowValue
    /// Of the rows in `span`, in order.
    func keys(in span: KeySpan) throws(FoldbackError) -> [KeyBytes]
}
