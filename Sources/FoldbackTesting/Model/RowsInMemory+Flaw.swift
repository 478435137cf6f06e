import Foldback

/// P11 of rows: what a table's codec and its keys' encoding write is read as what it was.
extension RowsInMemory {
    /// Rows that cannot be read, keys that are written otherwise the second time, and indexes that have a
    /// row elsewhere than the row as it is read says.
    ///
    /// An index has a row where the row was as `apply` put it, and the row is taken out of it where it is as
    /// the codec reads it: what is lost between the two leaves entries behind.
    var rowFlaw: Violation? {
        let spaces = Stored.schema.spaceNames
        var expected: [Int: Set<[UInt8]>] = [:]
        var kept: [Int: Set<[UInt8]>] = [:]
        for (key, value) in everything {
            let place = Self.place(of: key)
            guard place < spaces.count else { continue }
            guard spaces[place].isTable else {
                kept[place, default: []].insert(key)
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
                    return Self.twice(spaces[place].name, entry)
                }
            }
        }
        let places = Set(expected.keys).union(kept.keys).sorted()
        guard let place = places.first(where: { expected[$0] != kept[$0] }), place < spaces.count
        else { return nil }
        return Self.elsewhere(spaces[place].name, expected[place] ?? [], kept[place] ?? [])
    }

    private static func place(of key: [UInt8]) -> Int {
        key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
    }

    // MARK: In words

    private static func unreadable(
        _ key: [UInt8], _ value: [UInt8], _ table: String
    ) -> Violation {
        Violation(
            .p11, "row unreadable",
            "A row of table \(table) was written and cannot be read: its key is "
                + "\(key.dropFirst(2).hexadecimal), its bytes are \(value.hexadecimal).")
    }

    private static func otherKey(
        _ read: [UInt8], _ bytes: [UInt8], _ table: String
    ) -> Violation {
        Violation(
            .p11, "row key",
            "A key of table \(table) is written as \(bytes.dropFirst(2).hexadecimal), and once it is read "
                + "as \(read.dropFirst(2).hexadecimal): the row cannot be found any more.")
    }

    private static func twice(_ index: String, _ entry: [UInt8]) -> Violation {
        Violation(
            .p11, "row twice",
            "Unique index \(index) has two rows that are at one place when they are read, "
                + "\(entry.dropFirst(2).hexadecimal): the table's codec loses what tells them apart."
        )
    }

    private static func elsewhere(
        _ index: String, _ expected: Set<[UInt8]>, _ kept: Set<[UInt8]>
    ) -> Violation {
        func text(_ entries: Set<[UInt8]>) -> StateText {
            var lines: [String: String] = [:]
            for entry in entries { lines[entry.dropFirst(2).hexadecimal] = "a row" }
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
