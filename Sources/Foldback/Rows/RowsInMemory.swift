/// A stored projection as a ``Projection``: its state is a value with all of its rows, in memory.
///
/// ```swift
/// let past = try await store.snapshot(of: RowsInMemory<Inbox>.self, at: 12)
/// print(JSON(describing: past.view))
/// ```
///
/// Use it to look into the past of a ``StoredProjection``, as the replay tools do. The laws of
/// FoldbackTesting compare it with the rows of a store. Do not use it for state that does not fit
/// in memory.
public struct RowsInMemory<Stored: StoredProjection>: Projection {
    public typealias Event = Stored.Event

    private var rows = ConfirmedRows()

    /// Creates the state before the first event: no rows.
    public init() {}

    public static var name: String { StoredRow.nameInMemory(of: Stored.name) }
    public static var version: UInt32 { Stored.version }
    public static var codec: any EventCodec<Stored.Event> { Stored.codec }
    public static var stateCodec: (any StateCodec<Self>)? { RowsInMemoryCodec<Stored>() }

    public mutating func apply(_ event: Stored.Event, _ context: EventContext) throws {
        try change { try Stored.apply(event, context, to: &$0) }
    }

    /// Makes the changes of `body`, or none if it throws.
    mutating func change(_ body: (inout TouchedRows) throws -> Void) throws {
        var touched = touchable
        try body(&touched)
        for (key, value) in touched.writes { rows.set(value, at: key) }
    }

    /// Calls `body` with the rows, and returns its result. Changes that `body` makes are dropped.
    ///
    /// Any number of reads and changes may run at once, from any task.
    ///
    /// - Throws: the errors of `body`.
    public func read<R>(_ body: (inout TouchedRows) throws -> R) rethrows -> R {
        var rows = touchable
        return try body(&rows)
    }

    /// These rows for one call of `apply`, whose changes are not kept.
    package var touchable: TouchedRows {
        TouchedRows(StoredSchema(Stored.schema, number: 0), over: rows)
    }

    /// Creates the state from stored rows.
    ///
    /// - Parameter everything: rows and index entries; keys begin after the projection's number.
    package init(everything: [(key: [UInt8], value: [UInt8])]) {
        let prefix = StoredRow.prefix(of: 0)
        for (key, value) in everything { rows.set(.row(value), at: KeyBytes(prefix + key)) }
    }

    /// All rows and index entries; keys begin after the projection's number.
    package var everything: [(key: [UInt8], value: [UInt8])] {
        rows.rows.map { (Array($0.key.bytes.dropFirst(4)), $0.value) }
    }
}

extension RowsInMemory: StandIn {
    package static var nameOfOriginal: String { Stored.name }
}

extension RowsInMemory: Equatable {
    /// Compares every byte of rows and index entries.
    public static func == (a: Self, b: Self) -> Bool {
        a.rows.rows.elementsEqual(b.rows.rows) { $0.key == $1.key && $0.value == $1.value }
    }
}

extension RowsInMemory: CustomReflectable {
    /// Shows the tables with their rows. Index entries are left out, because they follow from the
    /// rows.
    public var customMirror: Mirror {
        var tables: [String: [String: Any]] = [:]
        for (key, value) in everything {
            guard let shown = Stored.schema.shown(key: key, row: value) else { continue }
            tables[shown.table, default: [:]]["\(shown.key)"] = shown.row
        }
        let children = tables.sorted { $0.key < $1.key }.map { ($0.key, $0.value as Any) }
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

/// A projection that finds where two of its states differ without describing them as a whole.
package protocol PartComparing: Projection {
    /// Returns the differing parts of ``JSON/init(describing:)`` of both states, nil for an absent
    /// part; nil if only the whole descriptions tell.
    static func differingParts(
        _ old: Self, _ new: Self
    ) -> [(place: JSONPointer, old: JSON?, new: JSON?)]?
}

extension RowsInMemory: PartComparing {
    /// - Complexity: O(n) comparisons of rows' bytes. Only the differing rows are decoded.
    package static func differingParts(
        _ old: Self, _ new: Self
    ) -> [(place: JSONPointer, old: JSON?, new: JSON?)]? {
        // A table without rows is absent from the description, so its first row adds the table.
        guard old.tablesWithRows == new.tablesWithRows else { return nil }
        var (left, right) = (old.everything[...], new.everything[...])
        var parts: [(place: JSONPointer, old: JSON?, new: JSON?)] = []
        while let key = [left.first?.key, right.first?.key].compactMap({ $0 })
            .min(by: { $0.lexicographicallyPrecedes($1) })
        {
            let before = left.first?.key == key ? left.removeFirst().value : nil
            let after = right.first?.key == key ? right.removeFirst().value : nil
            guard before != after, Stored.schema.isTable(ofKey: key[...]) else { continue }
            let shown = [before, after].map { row in
                row.flatMap { Stored.schema.shown(key: key, row: $0) }
            }
            // A row that cannot be read is absent from the description.
            guard let place = (shown[0] ?? shown[1]), Self.isUnambiguous(place.key) else {
                return nil
            }
            parts.append(
                (
                    JSONPointer([ExactString(place.table), ExactString("\(place.key)")]),
                    shown[0].map { JSON(describing: $0.row) },
                    shown[1].map { JSON(describing: $0.row) }
                ))
        }
        return parts
    }

    /// Whether no other key of the table has the same text.
    private static func isUnambiguous(_ key: Any) -> Bool {
        key is any LosslessStringConvertible || key is any UnambiguousRowKey
    }

    private var tablesWithRows: Set<[UInt8]> {
        Set(
            everything.lazy.filter { Stored.schema.isTable(ofKey: $0.key[...]) }
                .map { Array($0.key.prefix(2)) })
    }
}

/// The state of ``RowsInMemory`` as bytes: the schema's text, then the rows and index entries.
private struct RowsInMemoryCodec<Stored: StoredProjection>: StateCodec {
    func encode(_ state: RowsInMemory<Stored>) throws -> [UInt8] {
        StoredRow.section(Stored.schema.summary, state.everything)
    }

    func decode(_ bytes: RawSpan) throws -> RowsInMemory<Stored> {
        let written = try EarlierRows(bytes.withUnsafeBytes { Array($0) })
        let schema = Stored.schema
        if written.summary == schema.summary { return RowsInMemory(everything: written.everything) }
        // The schema's text changes with an index too, and index entries follow from the rows.
        guard
            RowSchema.tables(inSummary: schema.summary)
                == RowSchema.tables(inSummary: written.summary)
        else {
            throw FormatError.damaged("its tables are \(written.summary)")
        }
        return try .adopting(written)
    }
}

extension StoredRow {
    /// The name of a stored projection's ``RowsInMemory``.
    static func nameInMemory(of name: String) -> String { "\(name) in memory" }

    /// Returns rows and index entries as bytes; keys begin after the projection's number.
    ///
    /// - Parameter summary: the schema's text.
    static func section(
        _ summary: String, _ rows: some Sequence<(key: [UInt8], value: [UInt8])>
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.sized(summary)
        for (key, value) in rows {
            writer.sized(key)
            writer.sized(value)
        }
        return writer.bytes
    }
}
