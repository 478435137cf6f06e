extension EarlierVersion where P: StoredProjection {
    /// The rows are those that `migrate` writes.
    ///
    /// It is called with each row of the earlier tables, in the order of tables and keys. Index entries
    /// follow from the rows. The result must be what folding the same events again would give.
    public static func migrated(
        _ number: UInt32,
        _ migrate: @escaping @Sendable (EarlierRow, inout TouchedRows) throws -> Void
    ) -> Self {
        Self(
            number: number,
            taking: .migrating { try RowsInMemory<P>.making(of: EarlierRows($0), migrate) })
    }
}

/// A row that an earlier version of a stored projection has written.
///
/// ```swift
/// .migrated(1) { old, rows in
///     guard old.table == "notes" else { return }
///     let note = try old.row(NoteOfVersion1.self)
///     try rows.put(Note(note), at: try old.key(UUID.self), in: notes)
/// }
/// ```
public struct EarlierRow: Sendable {
    /// The name of its table.
    public let table: String
    let key: [UInt8]
    /// The bytes that the table's codec wrote.
    public let bytes: [UInt8]

    /// Returns the row's key.
    ///
    /// - Throws: ``RowError`` if it is not a key of this type.
    public func key<Key: RowKey>(_ type: Key.Type) throws -> Key { try Key(stored: key, after: 0) }

    /// Returns the row of a table whose rows are JSON.
    ///
    /// - Throws: `DecodingError` if it is not a row of this type.
    public func row<Row: Codable & Sendable>(_ type: Row.Type) throws -> Row {
        try JSONBytes<Row>().decode(bytes.span.bytes)
    }
}
