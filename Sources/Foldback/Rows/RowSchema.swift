/// The tables and indexes of a stored projection.
///
/// What is in it, under which names, of which types and in which order, is part of what is stored: a log whose rows were
/// made under another schema has them made anew from its entries, as with another version. A type is told by its full
/// name, which for those of Foundation is the same on every platform. What the closure of an index computes, and what
/// a codec writes, is not seen: ``EventFold/version`` is to be counted up with them.
public struct RowSchema: Sendable {
    private let spaces: [SpaceDefinition]
    private let places: [String: Int]
    /// For each table, the indexes on it, by place.
    private let indexes: [[Int]]

    /// Traps where two have one name, or an index comes without its table.
    public init(_ spaces: any RowSpace...) { self.init(spaces) }

    public init(_ spaces: [any RowSpace]) {
        let definitions = spaces.map(\.definition)
        var places: [String: Int] = [:]
        for (place, space) in definitions.enumerated() {
            precondition(
                places[space.name] == nil, "two tables or indexes are called \(space.name)")
            places[space.name] = place
        }
        var indexes = definitions.map { _ in [Int]() }
        for (place, space) in definitions.enumerated() {
            guard case .index(let table, _, _, _) = space.kind else { continue }
            guard let owner = places[table], case .table = definitions[owner].kind else {
                preconditionFailure(
                    "the table \(table) of index \(space.name) is not in the schema")
            }
            indexes[owner].append(place)
        }
        self.spaces = definitions
        self.places = places
        self.indexes = indexes
    }

    /// In words, to be compared with what rows were made under.
    package var summary: String {
        spaces.map { space in
            switch space.kind {
            case .table(let types, _): "table \(space.name) (\(types))"
            case .index(let table, let isUnique, let types, _):
                "\(isUnique ? "unique " : "")index \(space.name) on \(table) (\(types))"
            }
        }.joined(separator: ", ")
    }

    /// A table's row by its bytes, behind the projection's number; nil where it is of an index, or of
    /// another type.
    package func shown(
        key: [UInt8], row: [UInt8]
    ) -> (table: String, key: Any, row: Any)? {
        let place = key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        guard key.count >= 2, place < spaces.count,
            case .table(_, let shown) = spaces[place].kind,
            let (key, row) = shown(Array(key.dropFirst(2)), row)
        else { return nil }
        return (spaces[place].name, key, row)
    }

    /// The table or index that has such a key, behind the projection's number; nil: none.
    func spaceName(ofKey key: ArraySlice<UInt8>) -> String? {
        let place = key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        return key.count >= 2 && place < spaces.count ? spaces[place].name : nil
    }

    /// In order of place.
    package var spaceNames: [(name: String, isTable: Bool)] {
        spaces.map { space in
            if case .table = space.kind { (space.name, true) } else { (space.name, false) }
        }
    }

    /// What a table's row is when it is read: its key as it is written again, and where indexes would have it;
    /// nil where it cannot be read. All bytes are those behind the projection's number.
    package func readBack(
        key: [UInt8], row: [UInt8]
    ) -> (key: [UInt8], entries: [[UInt8]])? {
        guard let shown = shown(key: key, row: row), let rowKey = shown.key as? any RowKey,
            let place = places[shown.table]
        else { return nil }
        let primary = rowKey.bytes(behind: [])
        var entries: [[UInt8]] = []
        for place in indexes[place] {
            let (_, isUnique, rows) = index(place)
            for entry in rows.keys(ofAny: shown.key, shown.row) {
                entries.append(Self.bytes(of: place) + entry + (isUnique ? [] : primary))
            }
        }
        return (Array(key.prefix(2)) + primary, entries)
    }

    fileprivate static func bytes(of place: Int) -> [UInt8] {
        [UInt8(place >> 8), UInt8(truncatingIfNeeded: place)]
    }

    /// - Parameter isWritten: whether its rows have to be of the schema's type; they may be read as another.
    func place<Key, Row>(
        of table: RowTable<Key, Row>, isWritten: Bool = false
    ) throws(RowError) -> Int {
        let types = table.types
        guard let place = place(named: table.name), spaces[place].types.isTable(like: types),
            !isWritten || spaces[place].types.row == types.row
        else { throw .unknown(table.name) }
        return place
    }

    func place<Key, Row, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>
    ) throws(RowError) -> Int {
        guard let place = place(named: index.name), spaces[place].types == index.types else {
            throw .unknown(index.name)
        }
        return place
    }

    private func place(named name: String) -> Int? {
        // Comparing a few short names costs less than hashing one.
        spaces.count <= Self.fewSpaces
            ? spaces.firstIndex { $0.name == name } : places[name]
    }

    private static let fewSpaces = 8

    fileprivate var spaceCount: Int { spaces.count }

    /// The indexes of the table at `place`.
    func indexes(of place: Int) -> [Int] { indexes[place] }

    func index(_ place: Int) -> (name: String, isUnique: Bool, rows: any AnyIndexedRows) {
        guard case .index(_, let isUnique, _, let rows) = spaces[place].kind else {
            preconditionFailure("\(spaces[place].name) is no index")
        }
        return (spaces[place].name, isUnique, rows)
    }
}

/// A schema in a log: which bytes its tables' keys begin with.
///
/// ```
/// number of the projection (4 bytes)  place in the schema (2)  key
/// ```
package struct StoredSchema: Sendable {
    package let schema: RowSchema
    /// Of the projection in its log; 0 in memory.
    package let number: UInt32

    /// What the keys of each space begin with.
    private let prefixes: [[UInt8]]

    package init(_ schema: RowSchema, number: UInt32) {
        self.schema = schema
        self.number = number
        prefixes = (0..<schema.spaceCount).map { place in
            StoredRow.prefix(of: number) + RowSchema.bytes(of: place)
        }
    }

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
