/// The rows that an event reads and writes; passed to ``StoredProjection/apply(_:_:to:)``.
///
/// ```swift
/// try rows.insert(message, at: id, in: messages)
/// try rows.update(message.thread, in: unreadCounts, default: 0) { $0 += 1 }
/// ```
///
/// Each row that the event reads is recorded. While the intent is in the overlay, its event is
/// applied again when one of these rows changes below it. Later reads in the same event see its
/// changes. They are kept only if `apply` does not throw.
///
/// Except ``removeAll(in:from:)``, a method that throws has changed neither the row nor an index,
/// so `apply` may catch the error and continue.
///
/// Foldback updates indexes with their table. In a table with indexes, a change to a row costs one
/// read of this row. Each index whose key for the row changes costs one or two writes.
public struct TouchedRows {
    private let schema: StoredSchema
    private let below: any RowsBelow
    private var touches: [Touch] = []
    /// Places in `touches`, once there are many.
    private var places: [KeyBytes: Int] = [:]
    /// The ranges that the event read.
    package private(set) var spans: [KeySpan] = []
    /// The first failure to read a row from disk. It counts even if `apply` catches it.
    package private(set) var failure: LogError?

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

    /// Returns the row at `key`; nil if there is none.
    ///
    /// If `apply` does not catch an error of this or another method, the event does not apply (F9).
    ///
    /// - Throws: ``RowError`` if the table is not in the schema, the key is too long, or the codec
    ///   cannot read the row. `LogError.damaged` or `.storage` if the row cannot be read from
    ///   disk; this fails the command even if `apply` catches it.
    public mutating func get<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>
    ) throws -> Row? {
        try row(at: try place(of: key, table).key, table)
    }

    /// Writes the row at `key`, and replaces the row that was there.
    ///
    /// - Throws: the errors of ``get(_:in:)`` and of the codec, and `RowError.rowTooLarge`.
    ///   `RowError.notUnique` if another row has one of its keys in a unique index, even if the
    ///   same event changes that row later. To swap such keys of two rows, give one of them a third
    ///   value first.
    public mutating func put<Key, Row>(
        _ row: Row, at key: Key, in table: RowTable<Key, Row>
    ) throws {
        try change(key, table, to: row)
    }

    /// Writes a new row at `key`.
    ///
    /// - Throws: `RowError.isPresent` if there is a row; the errors of ``put(_:at:in:)``.
    public mutating func insert<Key, Row>(
        _ row: Row, at key: Key, in table: RowTable<Key, Row>
    ) throws {
        guard try value(at: try place(of: key, table).key) == .absent else {
            throw RowError.isPresent(table: table.name)
        }
        try change(key, table, to: row)
    }

    /// Changes the row at `key`.
    ///
    /// - Throws: `RowError.isAbsent` if the row does not exist; the errors of `body` and
    ///   ``put(_:at:in:)``.
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

    /// Changes the row at `key`, or the default row if there is none.
    ///
    /// - Throws: the errors of `body` and ``put(_:at:in:)``.
    public mutating func update<Key, Row>(
        _ key: Key, in table: RowTable<Key, Row>, default defaultRow: @autoclosure () -> Row,
        _ body: (inout Row) throws -> Void
    ) throws {
        let old = try get(key, in: table)
        var row = old ?? defaultRow()
        try body(&row)
        try change(key, table, from: old, to: row)
    }

    /// Removes the row at `key`. Does nothing if there is none.
    ///
    /// - Throws: the errors of ``get(_:in:)``.
    public mutating func remove<Key, Row>(_ key: Key, from table: RowTable<Key, Row>) throws {
        try change(key, table, to: nil)
    }

    // MARK: Many rows

    /// Returns the keys of the rows in `range`, in order.
    ///
    /// While the intent is in the overlay, the event is applied again when any row in the range
    /// changes. So read ranges in events that replace whole states, as a server sends them. Avoid
    /// it in the events of users.
    ///
    /// - Throws: ``RowError``; `LogError.damaged` or `.storage`, as ``get(_:in:)``.
    /// - Complexity: O(n) in these rows. While such an intent is in the overlay, each row that
    ///   changes is compared with its ranges.
    public mutating func keys<Key, Row>(
        in range: RowRange<Key> = .all, of table: RowTable<Key, Row>
    ) throws -> [Key] {
        let prefix = try schema.prefix(of: table)
        let span = range.span(after: prefix)
        var bytes: [KeyBytes]
        do throws(LogError) { bytes = try below.keys(in: span) } catch {
            failure = failure ?? error
            throw error
        }
        spans.append(span)
        let written = writes.filter { span.contains($0.key) }
        if !written.isEmpty {
            let keys = Set(written.map(\.key))
            bytes.removeAll { keys.contains($0) }
            bytes += written.filter { $0.value != .absent }.map(\.key)
            bytes.sort()
        }
        return try bytes.map { try Key(stored: $0.bytes, after: prefix.count) }
    }

    /// Removes the rows in `range`, one after another. Reads the range, see ``keys(in:of:)``.
    ///
    /// - Throws: the errors of ``keys(in:of:)`` and ``remove(_:from:)``. The rows before the failed
    ///   row are removed.
    /// - Complexity: as ``keys(in:of:)``, and one removal for each row.
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
        // Only indexes need the old row.
        let isIndexed = !schema.schema.indexes(of: place).isEmpty
        let old = isIndexed ? try self.row(at: bytes, table) : nil
        try change(key, table, from: old, to: row)
    }

    private mutating func change<Key, Row>(
        _ key: Key, _ table: RowTable<Key, Row>, from old: Row?, to row: Row?
    ) throws {
        let (place, bytes) = try place(of: key, table)
        let value: RowValue = if let row { .row(try table.encoded(row)) } else { .absent }
        var entries: [(key: KeyBytes, value: RowValue)] = []
        let indexes = schema.schema.indexes(of: place)
        if !indexes.isEmpty {
            let primary = key.bytes(after: [])
            for index in indexes {
                entries += try self.entries(in: index, key, primary, from: old, to: row)
            }
        }
        // The first change comes after the last possible error, because `apply` may catch it and
        // continue.
        for entry in entries { set(entry.value, at: entry.key) }
        set(value, at: bytes)
    }

    /// Returns the changes to an index when the row changes from `old` to `new`.
    ///
    /// - Throws: `RowError.notUnique` or `.keyTooLong` if the index cannot have the row.
    private mutating func entries<Key: RowKey, Row: Sendable>(
        in place: Int, _ key: Key, _ primary: [UInt8], from old: Row?, to new: Row?
    ) throws -> [(key: KeyBytes, value: RowValue)] {
        let (name, isUnique, rows) = schema.schema.index(place)
        guard let rows = rows as? IndexedRows<Key, Row> else {
            preconditionFailure("the index \(name) belongs to another table")
        }
        let before = if let old { rows.entries(key, old) } else { [[UInt8]]() }
        let after = if let new { rows.entries(key, new) } else { [[UInt8]]() }
        guard before != after else { return [] }
        let prefix = schema.prefix(ofPlace: place)
        let (kept, known) = (Membership(after), Membership(before))
        var entries: [(key: KeyBytes, value: RowValue)] = []
        for key in before where !kept.contains(key) {  // mutant: index-removal
            entries.append((KeyBytes(prefix + key), .absent))
        }
        for key in after where !known.contains(key) {
            let bytes = prefix + key
            try requireShort(bytes, name)
            let entry = KeyBytes(bytes)
            guard isUnique else {
                entries.append((entry, .row([])))
                continue
            }
            let there = try value(at: entry)
            // The row's own entry is fine. It is there if the codec lost the value that the index
            // key came from.
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
        let bytes = key.bytes(after: schema.prefix(ofPlace: place))
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

    /// Returns the row as the event has it now, and records the first read from below.
    private mutating func value(at key: KeyBytes) throws -> RowValue {
        let index = touch(key)
        if let known = touches[index].written ?? touches[index].read { return known }
        do throws(LogError) {
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

    /// Returns the place of the row in `touches`, and adds it if needed.
    private mutating func touch(_ key: KeyBytes) -> Int {
        // To search a few keys costs less than to hash one.
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

    // MARK: Results

    /// The rows that the event read by key, with the values that they had below it.
    package var reads: [(key: KeyBytes, value: RowValue)] {
        touches.compactMap { touch in touch.read.map { (touch.key, $0) } }
    }

    /// The rows that the event wrote, index entries included, with their new values.
    package var writes: [(key: KeyBytes, value: RowValue)] {
        touches.compactMap { touch in touch.written.map { (touch.key, $0) } }
    }
}

/// Tells whether a list has an element, in constant time also if the list is long.
private struct Membership {
    private let few: [[UInt8]]
    private let many: Set<[UInt8]>

    init(_ list: [[UInt8]]) {
        // To search a few keys costs less than to hash one.
        let isLong = list.count > 16
        (few, many) = isLong ? ([], Set(list)) : (list, [])
    }

    func contains(_ key: [UInt8]) -> Bool { few.contains(key) || many.contains(key) }
}

/// The rows to which an event is applied.
package protocol RowsBelow {
    /// Returns the row's bytes, or `.absent` if the row does not exist.
    func value(at key: KeyBytes) throws(LogError) -> RowValue
    /// Returns the keys of the rows in `span`, in order.
    func keys(in span: KeySpan) throws(LogError) -> [KeyBytes]
}
