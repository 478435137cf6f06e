/// The tables and indexes of a stored projection.
///
/// ```swift
/// static let schema = RowSchema(messages, unread)
/// ```
///
/// The log stores a summary of the schema: names, types, unique or not, and the order. If it
/// differs when a log is opened, the store makes the rows again from the log's entries, as for
/// another version of the projection. A type counts by its full name. The names of Foundation's
/// types are the same on every platform.
///
/// The store cannot see that the closure of an index or the bytes of a codec change. Count
/// ``EventFold/version`` up when they do.
public struct RowSchema: Sendable {
    private let spaces: [SpaceDefinition]
    private let places: [String: Int]
    /// For each place, the places of the indexes on that table.
    private let indexes: [[Int]]

    /// Creates the schema with these tables and indexes, in this order.
    ///
    /// Traps if two of them have the same name, or if the table of an index is missing.
    public init(_ spaces: any RowSpace...) { self.init(spaces) }

    /// Creates the schema with these tables and indexes, in this order.
    ///
    /// Traps if two of them have the same name, or if the table of an index is missing.
    public init(_ spaces: [any RowSpace]) {
        let definitions = spaces.map(\.definition)
        var places: [String: Int] = [:]
        for (place, space) in definitions.enumerated() {
            precondition(
                places[space.name] == nil,
                "two tables or indexes have the name \(space.name); rename one of them")
            places[space.name] = place
        }
        var indexes = definitions.map { _ in [Int]() }
        for (place, space) in definitions.enumerated() {
            guard case .index(let table, _, _, _) = space.kind else { continue }
            guard let owner = places[table], case .table = definitions[owner].kind else {
                preconditionFailure(
                    "index \(space.name) is in the schema without its table \(table); add the table"
                )
            }
            indexes[owner].append(place)
        }
        self.spaces = definitions
        self.places = places
        self.indexes = indexes
    }

    /// The text of another schema, for which this one stands.
    private var summaryOfOriginal: String?

    /// Returns this schema as a test needs it that has two versions of an app in one program, where
    /// their rows have different types: with the text of `other`, if only types differ.
    package func standing(for other: RowSchema) -> RowSchema {
        var schema = self
        if shape == other.shape { schema.summaryOfOriginal = other.summary }
        return schema
    }

    private var shape: [String] {
        spaces.map { space in
            switch space.kind {
            case .table: "table \(space.name) \(space.types.key)"
            case .index(let table, let isUnique, _, _): "index \(space.name) \(table) \(isUnique)"
            }
        }
    }

    /// The schema as text, to compare with the schema of the rows in a log.
    package var summary: String {
        summaryOfOriginal
            ?? spaces.map { space in
                switch space.kind {
                case .table(let types, _): "table \(space.name) (\(types))"
                case .index(let table, let isUnique, let types, _):
                    "\(isUnique ? "unique " : "")index \(space.name) on \(table) (\(types))"
                }
            }.joined(separator: ", ")
    }

    /// Returns a table's row for its bytes; nil if it belongs to an index or cannot be read.
    ///
    /// - Parameter key: the bytes after the projection's number.
    package func shown(
        key: [UInt8], row: [UInt8]
    ) -> (table: String, key: Any, row: Any)? {
        let place = key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        guard key.count >= 2, place < spaces.count,
            case .table(_, let codec) = spaces[place].kind,
            let (key, row) = codec.shown(Array(key.dropFirst(2)), row)
        else { return nil }
        return (spaces[place].name, key, row)
    }

    /// Returns the name of the table or index that has the key; nil if there is none.
    ///
    /// - Parameter key: the bytes after the projection's number.
    func spaceName(ofKey key: ArraySlice<UInt8>) -> String? {
        let place = key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        return key.count >= 2 && place < spaces.count ? spaces[place].name : nil
    }

    /// Whether a table has the key, and not an index.
    ///
    /// - Parameter key: the bytes after the projection's number.
    func isTable(ofKey key: ArraySlice<UInt8>) -> Bool {
        let place = key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        guard key.count >= 2, place < spaces.count, case .table = spaces[place].kind else {
            return false
        }
        return true
    }

    /// Writes a row of an earlier version into the table that has its name now.
    ///
    /// - Returns: the table's place in the schema.
    /// - Throws: `RowError.unknown` if the schema lacks the table; errors of its codec.
    func put(_ old: EarlierRow, in rows: inout TouchedRows) throws -> Int {
        guard let place = places[old.table], case .table(_, let codec) = spaces[place].kind else {
            throw RowError.unknown(old.table)
        }
        try codec.put(old.key, old.bytes, &rows)
        return place
    }

    /// The names of all tables and indexes, in the order of the schema.
    package var spaceNames: [(name: String, isTable: Bool)] {
        spaces.map { space in
            if case .table = space.kind { (space.name, true) } else { (space.name, false) }
        }
    }

    /// Decodes a table's row, and returns its key encoded again and the keys of its index entries.
    ///
    /// All keys are the bytes after the projection's number.
    ///
    /// - Returns: nil if key or row cannot be read.
    package func readBack(
        key: [UInt8], row: [UInt8]
    ) -> (key: [UInt8], entries: [[UInt8]])? {
        guard let shown = shown(key: key, row: row), let rowKey = shown.key as? any RowKey,
            let place = places[shown.table]
        else { return nil }
        var entries: [[UInt8]] = []
        for place in indexes[place] {
            let (_, _, rows) = index(place)
            for entry in rows.entries(ofAny: shown.key, shown.row) {
                entries.append(Self.bytes(of: place) + entry)
            }
        }
        return (rowKey.bytes(after: Array(key.prefix(2))), entries)
    }

    fileprivate static func bytes(of place: Int) -> [UInt8] {
        [UInt8(place >> 8), UInt8(truncatingIfNeeded: place)]
    }

    /// Returns the table's place in the schema.
    ///
    /// - Parameter isWritten: whether the row type must be the schema's too. Rows may be read as
    ///   another type.
    /// - Throws: `RowError.unknown` if the schema has no such table.
    func place<Key, Row>(
        of table: RowTable<Key, Row>, isWritten: Bool = false
    ) throws(RowError) -> Int {
        let types = table.types
        guard let place = place(named: table.name), spaces[place].types.isTable(like: types),
            !isWritten || spaces[place].types.row == types.row
        else { throw .unknown(table.name) }
        return place
    }

    /// Returns the index's place in the schema.
    ///
    /// - Throws: `RowError.unknown` if the schema has no such index.
    func place<Key, Row, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>
    ) throws(RowError) -> Int {
        guard let place = place(named: index.name), spaces[place].types == index.types else {
            throw .unknown(index.name)
        }
        return place
    }

    private func place(named name: String) -> Int? {
        // To compare a few short names costs less than to hash one name.
        spaces.count <= Self.fewSpaces
            ? spaces.firstIndex { $0.name == name } : places[name]
    }

    private static let fewSpaces = 8

    /// For each place, the reader of the table's rows if their bytes name members; else nil.
    package var memberNames: [(any MemberNames)?] {
        spaces.map { space in
            if case .table(_, let codec) = space.kind { codec.names } else { nil }
        }
    }

    /// Decodes a row of a table, and encodes it again.
    ///
    /// - Throws: ``RowError``, also if the schema has no such table; errors of the codec.
    package func rewritten(_ row: [UInt8], of table: String) throws -> [UInt8] {
        guard let place = places[table], case .table(_, let codec) = spaces[place].kind else {
            throw RowError.unknown(table)
        }
        return try codec.rewritten(row)
    }

    fileprivate var spaceCount: Int { spaces.count }

    /// Returns the places of the indexes on the table at `place`.
    func indexes(of place: Int) -> [Int] { indexes[place] }

    func index(_ place: Int) -> (name: String, isUnique: Bool, rows: any AnyIndexedRows) {
        guard case .index(_, let isUnique, _, let rows) = spaces[place].kind else {
            preconditionFailure("\(spaces[place].name) is not an index")
        }
        return (spaces[place].name, isUnique, rows)
    }
}

/// A schema in a log: the bytes with which the keys of each table and index begin.
///
/// ```
/// number of the projection (4 bytes)  place in the schema (2)  key
/// ```
package struct StoredSchema: Sendable {
    package let schema: RowSchema
    /// The projection's number in its log; 0 in memory.
    package let number: UInt32

    /// The bytes with which keys begin, for each place in the schema.
    private let prefixes: [[UInt8]]

    package init(_ schema: RowSchema, number: UInt32) {
        self.schema = schema
        self.number = number
        prefixes = (0..<schema.spaceCount).map { place in
            StoredRow.prefix(of: number) + RowSchema.bytes(of: place)
        }
    }

    /// The length of the prefix of each key.
    package static let prefixBytes = StoredRow.prefixBytes + 2

    func prefix(ofPlace place: Int) -> [UInt8] { prefixes[place] }

    func prefix<Key, Row>(of table: RowTable<Key, Row>) throws(RowError) -> [UInt8] {
        prefix(ofPlace: try schema.place(of: table))
    }

    func prefix<Key, Row, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>
    ) throws(RowError) -> [UInt8] {
        prefix(ofPlace: try schema.place(of: index))
    }
}
