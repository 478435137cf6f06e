import Foldback

/// P11 of rows: what a table's codec and its keys' encoding write is read as what it was.
extension RowsInMemory {
    /// Rows that cannot be read, keys that are written otherwise the second time, and indexes that have a
    /// row elsewhere than the row as it is read says.
    ///
    /// An index has a row where the row was as `apply` put it, and the row is taken out of it where it is as
    /// the codec reads it: what is lost between the two leaves entries behind.
    var rowFlaw: Violation? {
        let spaces = Space.all(of: Stored.schema)
        var expected: [Int: Set<[UInt8]>] = [:]
        var kept: [Int: Set<[UInt8]>] = [:]
        for (key, value) in everything {
            let place = Self.place(of: key)
            guard place < spaces.count else { continue }
            guard spaces[place].isTable else {
                kept[place, default: []].insert(key)
                continue
            }
            guard let shown = Stored.schema.shown(key: key, row: value),
                let rowKey = shown.key as? any RowKey
            else { return Self.unreadable(key, value, spaces[place].name) }
            guard Self.bytes(of: rowKey) == Array(key.dropFirst(2)) else {
                return Self.otherKey(rowKey, key, spaces[place].name)
            }
            guard let entries = entries(of: rowKey, shown.row, in: shown.table) else { return nil }
            for entry in entries where entry != key {
                let place = Self.place(of: entry)
                guard expected[place, default: []].insert(entry).inserted else {
                    return Self.twice(spaces[place].name, entry)
                }
            }
        }
        let places = Set(expected.keys).union(kept.keys).sorted()
        guard let place = places.first(where: { expected[$0] != kept[$0] }), place < spaces.count
        else { return nil }
        return Self.elsewhere(spaces[place].name, expected[place] ?? [], kept[place] ?? [])
    }

    private static func bytes<K: RowKey>(of key: K) -> [UInt8] { key.bytes(behind: []) }

    private static func place(of key: [UInt8]) -> Int {
        key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
    }

    /// What removing the row removes, from its table and its indexes; nil where that cannot be asked.
    private func entries<K: RowKey>(of key: K, _ row: Any, in table: String) -> [[UInt8]]? {
        func opened<R: Sendable>(_ row: R) -> [[UInt8]]? { withRow(row, key, table) }
        // Rows are sendable, but that leaves no trace which a cast could ask for. And without being told
        // to, the compiler does not open what is as good as its own content.
        return _openExistential(
            unsafeBitCast(row as Any, to: (any Sendable).self), do: opened)
    }

    private func withRow<K: RowKey, R: Sendable>(
        _ row: R, _ key: K, _ table: String
    ) -> [[UInt8]]? {
        // Where the row is of a type below the table's own, like a subclass, this is another table.
        guard Stored.schema.summary.contains("table \(table) (\(K.self) to \(R.self))") else {
            return nil
        }
        var touched = touchable
        let given = RowTable<K, R>(table, codec: GivenRow(row: row))
        do { try touched.remove(key, from: given) } catch { return nil }
        return touched.made.map { Array($0.key.bytes.dropFirst(4)) }
    }

    // MARK: In words

    private static func unreadable(
        _ key: [UInt8], _ value: [UInt8], _ table: String
    ) -> Violation {
        Violation(
            .p11, "row unreadable",
            "A row of table \(table) was written and cannot be read: its key is "
                + "\(hexadecimal(key.dropFirst(2))), its bytes are \(hexadecimal(value)).")
    }

    private static func otherKey(_ key: any RowKey, _ bytes: [UInt8], _ table: String) -> Violation
    {
        Violation(
            .p11, "row key",
            "A key of table \(table) is read as \(StateText.inline(key)), and that is written as "
                + "\(hexadecimal(self.bytes(of: key))) instead of \(hexadecimal(bytes.dropFirst(2))): "
                + "the row cannot be found any more.")
    }

    private static func twice(_ index: String, _ entry: [UInt8]) -> Violation {
        Violation(
            .p11, "row twice",
            "Unique index \(index) has two rows that are at one place when they are read, "
                + "\(hexadecimal(entry.dropFirst(2))): the table's codec loses what tells them apart."
        )
    }

    private static func elsewhere(
        _ index: String, _ expected: Set<[UInt8]>, _ kept: Set<[UInt8]>
    ) -> Violation {
        func text(_ entries: Set<[UInt8]>) -> StateText {
            var lines: [String: String] = [:]
            for entry in entries { lines[hexadecimal(entry.dropFirst(2))] = "a row" }
            return StateText(lines)
        }
        return Violation(
            .p11, "row index",
            "Index \(index) has rows elsewhere than they are when they are read: the table's codec loses "
                + "something that the index goes by, like a part of a second. When such a row changes, the "
                + "index keeps it where it was, and in the end reading pages of the index throws. Have the "
                + "codec keep all of it, or put only what the codec keeps.",
            comparing: Violation.Comparison(
                expectedName: "where the index has the rows as they are read",
                expected: text(expected),
                foundName: "where it has them", found: text(kept)))
    }
}

/// What a schema has at one place.
struct Space {
    let name: String
    let isTable: Bool

    /// As the schema says in words, which is all that it says without types.
    static func all(of schema: RowSchema) -> [Space] {
        // Types have commas too, and are no beginnings.
        schema.summary.split(separator: ", ").compactMap { words in
            for start in ["table ", "index ", "unique index "] where words.hasPrefix(start) {
                let isTable = start == "table "
                let rest = words.dropFirst(start.count)
                let end = rest.firstRange(of: isTable ? " (" : " on ")?.lowerBound
                return Space(name: String(rest[..<(end ?? rest.endIndex)]), isTable: isTable)
            }
            return nil
        }
    }
}

/// Reads one row, whatever the bytes are.
private struct GivenRow<Row: Sendable>: ByteCodec {
    let row: Row
    func encode(_ value: Row, into output: inout OutputBuffer) {}
    func decode(_ bytes: RawSpan) -> Row { row }
}
