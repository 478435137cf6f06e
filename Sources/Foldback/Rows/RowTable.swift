/// A table of a stored projection: rows by key, in the keys' order.
///
/// ```swift
/// static let messages = RowTable("messages", key: UUID.self, row: Message.self)
/// static let unread = messages.index("unread") { _, message in
///     message.isRead ? nil : message.sent
/// }
/// static let schema = RowSchema(messages, unread)
/// ```
///
/// A row has at most 16 MiB as bytes, a key at most ``KeyEncoder/bytesMax`` bytes.
public struct RowTable<Key: RowKey, Row: Sendable>: RowSpace {
    /// The table's name, unique in its schema.
    public let name: String
    let codec: any ByteCodec<Row>

    /// Creates a table whose rows `codec` turns into bytes.
    ///
    /// - Parameters:
    ///   - name: the table's name, unique in its schema. A table with another name is another
    ///     table.
    ///   - key: the type of the table's keys.
    ///   - codec: turns rows into bytes and back. If its bytes change, count the projection's
    ///     ``EventFold/version`` up.
    public init(_ name: String, key: Key.Type = Key.self, codec: any ByteCodec<Row>) {
        self.name = name
        self.codec = codec
    }

    /// Creates a table whose rows are stored as JSON.
    ///
    /// - Parameters:
    ///   - name: the table's name, unique in its schema. A table with another name is another
    ///     table.
    ///   - key: the type of the table's keys.
    ///   - row: the type of the table's rows.
    public init(
        _ name: String, key: Key.Type = Key.self, row: Row.Type = Row.self
    ) where Row: Codable { self.init(name, codec: JSONBytes<Row>()) }

    /// Returns an index of this table with at most one entry for each row.
    ///
    /// Put it into the schema together with its table.
    ///
    /// - Parameters:
    ///   - name: the index's name, unique in its schema.
    ///   - isUnique: whether two rows with the same index key are an error. The event that writes
    ///     the second row then does not apply (F9).
    ///   - key: returns the row's key in the index; nil to leave the row out. A pure function of
    ///     the row and its key. The store cannot see that the function changes, so count the
    ///     projection's ``EventFold/version`` up when it does.
    public func index<IndexKey: RowKey>(
        _ name: String, isUnique: Bool = false,
        by key: @escaping @Sendable (Key, Row) -> IndexKey?
    ) -> RowIndex<Key, Row, IndexKey> {
        RowIndex(table: self, name: name, isUnique: isUnique) { primary, row in
            guard let key = key(primary, row) else { return [] }
            return [IndexPlace(key, primary).bytes([], isUnique)]
        }
    }

    /// Returns an index of this table with any number of entries for each row, like an article
    /// under each of its tags.
    ///
    /// - Parameters:
    ///   - name: as in ``index(_:isUnique:by:)``.
    ///   - isUnique: as in ``index(_:isUnique:by:)``.
    ///   - keys: returns the row's keys in the index; none to leave the row out. The rules of
    ///     ``index(_:isUnique:by:)`` apply.
    public func index<IndexKey: RowKey>(
        _ name: String, isUnique: Bool = false,
        byEach keys: @escaping @Sendable (Key, Row) -> [IndexKey]
    ) -> RowIndex<Key, Row, IndexKey> {
        RowIndex(table: self, name: name, isUnique: isUnique) { primary, row in
            keys(primary, row).map { IndexPlace($0, primary).bytes([], isUnique) }
        }
    }

    var types: SpaceTypes {
        SpaceTypes(key: ObjectIdentifier(Key.self), row: ObjectIdentifier(Row.self))
    }

    /// The table without its types, for ``RowSchema``.
    public var definition: SpaceDefinition {
        SpaceDefinition(
            name: name, types: types,
            kind: .table(
                types: "\(stableName(of: Key.self)) to \(stableName(of: Row.self))",
                AnyTableCodec(
                    names: (codec as? any MemberNaming)?.naming,
                    shown: { key, bytes in
                        guard let key = try? Key(stored: key, after: 0),
                            let row = try? decoded(bytes.span.bytes)
                        else { return nil }
                        return (key, row)
                    },
                    rewritten: { try encoded(try decoded($0.span.bytes)) },
                    put: { key, bytes, rows in
                        try rows.put(
                            try decoded(bytes.span.bytes), at: try Key(stored: key, after: 0),
                            in: self)
                    })))
    }

    func encoded(_ row: Row) throws -> [UInt8] {
        let bytes = try codec.bytes(of: row)
        guard bytes.count <= Limits.rowBytesMax else {
            throw RowError.rowTooLarge(table: name, bytes: bytes.count)
        }
        return bytes
    }

    func decoded(_ bytes: RawSpan) throws(RowError) -> Row {
        do { return try codec.decode(bytes) } catch {
            throw .unreadableRow(table: name, reason: "\(error)")
        }
    }
}

/// A secondary index of a ``RowTable``: the table's rows, or some of them, in another order.
///
/// Made by ``RowTable/index(_:isUnique:by:)``. Foldback updates it with its table.
public struct RowIndex<Key: RowKey, Row: Sendable, IndexKey: RowKey>: RowSpace {
    /// The table whose rows the index has.
    public let table: RowTable<Key, Row>
    /// The index's name, unique in its schema.
    public let name: String
    /// Whether two rows with the same index key are an error.
    public let isUnique: Bool
    /// Returns the keys of the row's entries in the index, after its prefix.
    let entries: @Sendable (Key, Row) -> [[UInt8]]

    var types: SpaceTypes {
        var types = table.types
        types.index = SpaceTypes.Index(key: ObjectIdentifier(IndexKey.self), isUnique: isUnique)
        return types
    }

    /// The index without its types, for ``RowSchema``.
    public var definition: SpaceDefinition {
        SpaceDefinition(
            name: name, types: types,
            kind: .index(
                table: table.name, isUnique: isUnique, types: stableName(of: IndexKey.self),
                IndexedRows(self)))
    }
}

/// An element of a schema: a ``RowTable`` or a ``RowIndex``.
public protocol RowSpace: Sendable {
    /// The name of the table or index, unique in its schema.
    var name: String { get }
    /// The table or index without its types, for ``RowSchema``.
    var definition: SpaceDefinition { get }
}

/// A table or an index without its types, as a ``RowSchema`` keeps it.
public struct SpaceDefinition: Sendable {
    enum Kind: Sendable {
        case table(types: String, AnyTableCodec)
        case index(table: String, isUnique: Bool, types: String, any AnyIndexedRows)
    }

    let name: String
    let types: SpaceTypes
    let kind: Kind
}

/// A table's codec without the types of its keys and rows.
struct AnyTableCodec: Sendable {
    /// Reads the members of rows; nil if their bytes name none.
    let names: (any MemberNames)?
    /// Decodes the bytes of a key and a row; nil if either cannot be read.
    let shown: @Sendable ([UInt8], [UInt8]) -> (key: Any, row: Any)?
    /// Decodes a row, and encodes it again.
    let rewritten: @Sendable ([UInt8]) throws -> [UInt8]
    /// Decodes the bytes of a key and a row, and writes the row.
    let put: @Sendable ([UInt8], [UInt8], inout TouchedRows) throws -> Void
}

/// The types of a table or an index, to detect another table or index with the same name.
struct SpaceTypes: Equatable, Sendable {
    struct Index: Equatable, Sendable {
        let key: ObjectIdentifier
        let isUnique: Bool
    }

    let key: ObjectIdentifier
    let row: ObjectIdentifier
    /// Nil for a table.
    var index: Index?

    /// Returns whether both are tables with the same type of keys.
    func isTable(like table: SpaceTypes) -> Bool {
        index == nil && table.index == nil && key == table.key
    }
}

protocol AnyIndexedRows: Sendable {
    /// Returns the keys of the row's entries in the index, after its prefix; none if key or row does not
    /// have its table's type.
    func entries(ofAny key: Any, _ row: Any) -> [[UInt8]]
}

/// The closure of an index, without the type of its keys.
final class IndexedRows<Key: RowKey, Row: Sendable>: AnyIndexedRows {
    let entries: @Sendable (Key, Row) -> [[UInt8]]

    init<IndexKey>(_ index: RowIndex<Key, Row, IndexKey>) { entries = index.entries }

    func entries(ofAny key: Any, _ row: Any) -> [[UInt8]] {
        guard let key = key as? Key, let row = row as? Row else { return [] }
        return entries(key, row)
    }
}
