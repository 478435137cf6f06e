/// A table of a stored projection: rows by key, in the keys' order.
///
/// ```swift
/// static let messages = RowTable("messages", key: UUID.self, row: Message.self)
/// static let unread = messages.index("unread") { _, message in
///     message.isRead ? nil : message.sent
/// }
/// static let schema = RowSchema(messages, unread)
/// ```
public struct RowTable<Key: RowKey, Row: Sendable>: RowSpace {
    public let name: String
    let codec: any ByteCodec<Row>

    /// - Parameters:
    ///   - name: of its own in its schema; another name is another table.
    ///   - key: the type of its keys.
    ///   - codec: what its rows are as bytes.
    public init(_ name: String, key: Key.Type = Key.self, codec: any ByteCodec<Row>) {
        self.name = name
        self.codec = codec
    }

    public init(
        _ name: String, key: Key.Type = Key.self, row: Row.Type = Row.self
    ) where Row: Codable { self.init(name, codec: JSONBytes<Row>()) }

    /// An index of this table, to be put into the schema beside it.
    ///
    /// - Parameters:
    ///   - name: of its own in its schema.
    ///   - isUnique: two rows with one key are an error of the event that makes the second one.
    ///   - key: where the index has the row; nil where it does not have it. A pure function, whose changes
    ///     nobody can see: count the projection's ``EventFold/version`` up with them.
    public func index<IndexKey: RowKey>(
        _ name: String, isUnique: Bool = false,
        by key: @escaping @Sendable (Key, Row) -> IndexKey?
    ) -> RowIndex<Key, Row, IndexKey> {
        index(name, isUnique: isUnique) { primary, row in key(primary, row).map { [$0] } ?? [] }
    }

    /// The same for rows that an index has in several places, like an article under each of its tags.
    public func index<IndexKey: RowKey>(
        _ name: String, isUnique: Bool = false,
        byEach keys: @escaping @Sendable (Key, Row) -> [IndexKey]
    ) -> RowIndex<Key, Row, IndexKey> {
        RowIndex(table: self, name: name, isUnique: isUnique, keys: keys)
    }

    var types: SpaceTypes {
        SpaceTypes(key: ObjectIdentifier(Key.self), row: ObjectIdentifier(Row.self))
    }

    public var definition: SpaceDefinition {
        SpaceDefinition(
            name: name, types: types,
            kind: .table(types: "\(stableName(of: Key.self)) to \(stableName(of: Row.self))") {
                key, bytes in
                guard let key = try? Key(stored: key, behind: 0),
                    let row = try? decoded(bytes.span.bytes)
                else { return nil }
                return (key, row)
            })
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

/// A secondary index of a ``RowTable``: its rows in another order, or some of them.
public struct RowIndex<Key: RowKey, Row: Sendable, IndexKey: RowKey>: RowSpace {
    public let table: RowTable<Key, Row>
    public let name: String
    public let isUnique: Bool
    let keys: @Sendable (Key, Row) -> [IndexKey]

    var types: SpaceTypes {
        var types = table.types
        types.index = SpaceTypes.Index(key: ObjectIdentifier(IndexKey.self), isUnique: isUnique)
        return types
    }

    public var definition: SpaceDefinition {
        SpaceDefinition(
            name: name, types: types,
            kind: .index(
                table: table.name, isUnique: isUnique, types: stableName(of: IndexKey.self),
                IndexedRows(self)))
    }
}

/// A table or an index, as schemas list them: ``RowTable`` or ``RowIndex``.
public protocol RowSpace: Sendable {
    /// Of its own in its schema.
    var name: String { get }
    /// For schemas.
    var definition: SpaceDefinition { get }
}

/// What a schema knows of a table or an index without its types.
public struct SpaceDefinition: Sendable {
    enum Kind: Sendable {
        /// `shown`: key and row of their bytes, for people.
        case table(types: String, shown: @Sendable ([UInt8], [UInt8]) -> (key: Any, row: Any)?)
        case index(table: String, isUnique: Bool, types: String, any AnyIndexedRows)
    }

    let name: String
    let types: SpaceTypes
    let kind: Kind
}

/// The types of a table or an index, by which one of the same name is told to be another.
struct SpaceTypes: Equatable, Sendable {
    struct Index: Equatable, Sendable {
        let key: ObjectIdentifier
        let isUnique: Bool
    }

    let key: ObjectIdentifier
    let row: ObjectIdentifier
    /// Nil of a table.
    var index: Index?

    /// Whether both are tables with keys of one type.
    func isTable(like table: SpaceTypes) -> Bool {
        index == nil && table.index == nil && key == table.key
    }
}

protocol AnyIndexedRows: Sendable {
    /// Where the index has the row; nowhere if key or row is of another type than its table's.
    func keys(ofAny key: Any, _ row: Any) -> [[UInt8]]
}

/// Where an index has a row, by bytes.
final class IndexedRows<Key: RowKey, Row: Sendable>: AnyIndexedRows {
    let keys: @Sendable (Key, Row) -> [[UInt8]]

    init<IndexKey>(_ index: RowIndex<Key, Row, IndexKey>) {
        let keys = index.keys
        self.keys = { key, row in keys(key, row).map { $0.bytes(behind: []) } }
    }

    func keys(ofAny key: Any, _ row: Any) -> [[UInt8]] {
        guard let key = key as? Key, let row = row as? Row else { return [] }
        return keys(key, row)
    }
}
