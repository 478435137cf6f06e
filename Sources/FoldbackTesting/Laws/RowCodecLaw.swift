import Foldback

/// P11 of rows: a table's codec and its keys' encoding read the values that they wrote.
protocol RowCodecChecked: RowModel {
    /// A row that is read as another row than was written; nil if there is none.
    var rowFlaw: Violation? { get }
}

extension RowsInMemory: RowCodecChecked {
    /// The first row that cannot be read, key that is written in another way the second time, or
    /// index that has a row at another place than the row's bytes say.
    ///
    /// An index entry is added for the row that `apply` put, and removed for the row that the codec
    /// read. If the codec loses something in between, the entry stays in the index.
    var rowFlaw: Violation? {
        let spaces = Stored.schema.spaceNames
        var expected: [Int: Set<[UInt8]>] = [:]
        var stored: [Int: Set<[UInt8]>] = [:]
        for (key, value) in everything {
            let place = Self.place(of: key)
            guard place < spaces.count else { continue }
            guard spaces[place].isTable else {
                stored[place, default: []].insert(key)
                continue
            }
            guard let read = Stored.schema.readBack(key: key, row: value) else {
                return Self.unreadable(key, value, spaces[place].name)
            }
            guard read.key == key else {
                return Self.otherKey(read.key, key, spaces[place].name)
            }
            for entry in Set(read.entries) {
                let place = Self.place(of: entry)
                guard expected[place, default: []].insert(entry).inserted else {
                    return Self.duplicate(spaces[place].name, entry)
                }
            }
        }
        let places = Set(expected.keys).union(stored.keys).sorted()
        guard let place = places.first(where: { expected[$0] != stored[$0] }), place < spaces.count
        else { return nil }
        return Self.misplaced(spaces[place].name, expected[place] ?? [], stored[place] ?? [])
    }

    private static func place(of key: [UInt8]) -> Int {
        key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
    }

    // MARK: Messages

    private static func unreadable(
        _ key: [UInt8], _ value: [UInt8], _ table: String
    ) -> Violation {
        Violation(
            .p11, "row unreadable",
            "A row of table \(table) was written and cannot be read. Its key is "
                + "\(key.dropFirst(2).hexadecimal), its bytes are \(value.hexadecimal).")
    }

    private static func otherKey(
        _ read: [UInt8], _ bytes: [UInt8], _ table: String
    ) -> Violation {
        Violation(
            .p11, "row key",
            "A key of table \(table) is written as \(bytes.dropFirst(2).hexadecimal) first, and as "
                + "\(read.dropFirst(2).hexadecimal) after it was read. The row cannot be found any more."
        )
    }

    private static func duplicate(_ index: String, _ entry: [UInt8]) -> Violation {
        Violation(
            .p11, "row twice",
            "Unique index \(index) has two rows that are at the same place once they are read, "
                + "\(entry.dropFirst(2).hexadecimal). The table's codec loses their difference."
        )
    }

    private static func misplaced(
        _ index: String, _ expected: Set<[UInt8]>, _ stored: Set<[UInt8]>
    ) -> Violation {
        func text(_ entries: Set<[UInt8]>) -> StateText {
            var lines: [String: String] = [:]
            for entry in entries { lines[entry.dropFirst(2).hexadecimal] = "a row" }
            return StateText(lines)
        }
        return Violation(
            .p11, "row index",
            "Index \(index) has rows at other places than the stored rows say. The table's codec loses a "
                + "value that the index depends on, like fractions of a second. When such a row changes, "
                + "its old entry stays in the index, and later reading pages of the index throws. Let the "
                + "codec keep the whole value, or put rows without what the codec loses.",
            comparing: Violation.Comparison(
                expectedName: "places of the rows as they are read",
                expected: text(expected),
                foundName: "places in the index", found: text(stored)))
    }
}
