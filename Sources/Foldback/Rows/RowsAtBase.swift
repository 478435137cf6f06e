/// Reads the rows that a base has of a stored projection: rows and index entries, whose keys begin
/// after the projection's number.
typealias RowsAtBase =
    @Sendable (ProjectionSection) throws -> [(key: [UInt8], value: [UInt8])]

extension StoredProjection {
    /// Returns the rows of a section of ``RowsInMemory``, also of an earlier version (C6).
    static var rowsAtBase: RowsAtBase {
        { section in
            var fold = Fold<RowsInMemory<Self>>()
            try fold.restore(section)
            return fold.state(.confirmed, of: RowsInMemory<Self>.self).everything
        }
    }
}

extension RowsInMemory {
    public static var earlierVersions: [EarlierVersion<Self>] {
        Stored.earlierVersions.map { earlier in
            let taking: EarlierVersion<Self>.Taking =
                switch earlier.taking {
                case .adopting: .migrating { try adopting(EarlierRows($0)) }
                case .migrating(let make): .migrating(make)
                case .refolding: .refolding
                }
            return EarlierVersion(number: earlier.number, taking: taking)
        }
    }

    /// Returns the rows as they are in the present schema, with the index entries of this code.
    ///
    /// - Throws: ``RowError``; ``PartlyReadState`` if rows have members that this code does not read
    ///   (E12).
    static func adopting(_ earlier: EarlierRows) throws -> Self {
        let schema = Stored.schema
        var samples = schema.memberNames.map { $0.map { MemberSamples($0, samples: []) } }
        let adopted = try making(of: earlier) { old, rows in
            let place = try schema.put(old, in: &rows)
            _ = samples[place]?.add(old.bytes)
        }
        let left = try samples.flatMap { try $0?.membersLeft() ?? [] }
        guard left.isEmpty else { throw PartlyReadState(members: left.sorted()) }
        return adopted
    }

    /// Returns the rows that `make` writes for each earlier row.
    static func making(
        of earlier: EarlierRows, _ make: (EarlierRow, inout TouchedRows) throws -> Void
    ) throws -> Self {
        var made = Self()
        for old in try earlier.rows { try made.change { try make(old, &$0) } }
        return made
    }
}

/// The rows that the section of a base has, with the names of their tables.
struct EarlierRows {
    /// The schema as text: see ``RowSchema/summary``.
    let summary: String
    /// Rows and index entries; keys begin after the projection's number.
    let everything: [(key: [UInt8], value: [UInt8])]

    init(_ state: [UInt8]) throws(FormatError) {
        var reader = ByteReader(unsealed: state)
        summary = try reader.sizedString()
        var everything: [(key: [UInt8], value: [UInt8])] = []
        while !reader.isAtEnd { everything.append((try reader.sized(), try reader.sized())) }
        self.everything = everything
    }

    /// The rows of tables. Index entries are left out.
    var rows: [EarlierRow] {
        get throws(FormatError) {
            let texts = RowSchema.texts(inSummary: summary)
            let tables = texts.map(RowSchema.tableName)
            guard zip(texts, tables).allSatisfy({ $1 != nil || RowSchema.isIndex($0) }) else {
                throw .damaged("the schema \(summary) cannot be read")
            }
            var rows: [EarlierRow] = []
            for (key, value) in everything {
                let place = key.prefix(2).reduce(0) { $0 << 8 | Int($1) }
                guard key.count >= 2, place < tables.count else {
                    throw .damaged("a row is in no table of \(summary)")
                }
                guard let table = tables[place] else { continue }
                rows.append(
                    EarlierRow(table: table, key: Array(key.dropFirst(2)), bytes: value))
            }
            return rows
        }
    }
}

extension RowSchema {
    /// Returns the texts of the tables that a summary names.
    static func tables(inSummary summary: String) -> Set<Substring> {
        Set(texts(inSummary: summary).filter { tableName($0) != nil })
    }

    /// Returns the texts of the tables and indexes that a summary names, in order.
    ///
    /// Types and names have commas too. A comma ends a text only outside of all brackets, and before a text.
    fileprivate static func texts(inSummary summary: String) -> [Substring] {
        var texts: [Substring] = []
        var (start, depth) = (summary.startIndex, 0)
        for place in summary.indices {
            switch summary[place] {
            case "(", "<", "[": depth += 1
            case ")", ">", "]": depth -= 1
            case "," where depth == 0:
                let next = summary.index(after: place)
                let rest = summary[next...].drop { $0 == " " }
                guard rest.hasPrefix("table ") || isIndex(rest) else { continue }
                texts.append(summary[start..<place])
                start = next
            default: break
            }
        }
        return (texts + [summary[start...]]).map { $0.drop { $0 == " " } }
    }

    fileprivate static func isIndex(_ text: Substring) -> Bool {
        text.hasPrefix("index ") || text.hasPrefix("unique index ")
    }

    /// Returns the name of a table; nil for the text of an index.
    fileprivate static func tableName(_ text: Substring) -> String? {
        guard text.hasPrefix("table "), let end = text.firstRange(of: " (") else { return nil }
        return String(text[..<end.lowerBound].dropFirst("table ".count))
    }
}
