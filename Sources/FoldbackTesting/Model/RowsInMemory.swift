import Foldback

/// A stored projection as one whose state is a value: all of its rows, in memory.
///
/// What laws check of a ``/Foldback/StoredProjection``: its `apply` makes this value, and the rows of a
/// store that has the projection itself on the same log are compared with it wherever the laws look.
public struct RowsInMemory<Stored: StoredProjection>: Projection {
    public typealias Event = Stored.Event

    private var rows = ConfirmedRows()

    public init() {}

    public static var name: String { "\(Stored.name) in memory" }
    public static var version: UInt32 { Stored.version }
    public static var codec: any EventCodec<Stored.Event> { Stored.codec }
    public static var stateCodec: (any StateCodec<Self>)? { RowsInMemoryCodec<Stored>() }

    public mutating func apply(_ event: Stored.Event, _ context: EventContext) throws {
        var touched = TouchedRows(StoredSchema(Stored.schema, number: 0), over: rows)
        try Stored.apply(event, context, to: &touched)
        for (key, value) in touched.made { rows.set(value, at: key) }
    }

    /// Behind the projection's number, as a store has them.
    var everything: [(key: [UInt8], value: [UInt8])] {
        rows.rows.map { (Array($0.key.bytes.dropFirst(4)), $0.value) }
    }

    fileprivate init(_ pairs: [(key: [UInt8], value: [UInt8])]) {
        for (key, value) in pairs { rows.set(.row(value), at: KeyBytes(key)) }
    }

    fileprivate var pairs: [(key: [UInt8], value: [UInt8])] {
        rows.rows.map { ($0.key.bytes, $0.value) }
    }
}

extension RowsInMemory: Equatable {
    public static func == (a: Self, b: Self) -> Bool {
        a.pairs.elementsEqual(b.pairs) { $0.key == $1.key && $0.value == $1.value }
    }
}

extension RowsInMemory: CustomReflectable {
    /// Tables of rows; what indexes have follows from them.
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

private struct RowsInMemoryCodec<Stored: StoredProjection>: StateCodec {
    func encode(_ state: RowsInMemory<Stored>) throws -> [UInt8] {
        var writer = ByteWriter()
        for (key, value) in state.pairs {
            writer.sized(key)
            writer.sized(value)
        }
        return writer.bytes
    }

    func decode(_ bytes: RawSpan) throws -> RowsInMemory<Stored> {
        var reader = ByteReader(unsealed: bytes.withUnsafeBytes { Array($0) })
        var pairs: [(key: [UInt8], value: [UInt8])] = []
        while !reader.isAtEnd { pairs.append((try reader.sized(), try reader.sized())) }
        return RowsInMemory(pairs)
    }
}

// MARK: Beside

/// A projection that another one stands beside, to show the same.
protocol StandsBeside: Projection {
    static var beside: [AdditionalProjection<Event>] { get }

    /// What the other one shows otherwise; nil where it shows the same.
    static func differenceBeside(_ store: Store<Self>) throws -> String?
}

extension RowsInMemory: StandsBeside {
    static var beside: [AdditionalProjection<Stored.Event>] { [AdditionalProjection(Stored.self)] }

    static func differenceBeside(_ store: Store<Self>) throws -> String? {
        let snapshot = store.snapshot
        return try store.projected(Stored.self).read { rows in
            guard same(try rows.everything(), snapshot.view) else {
                return "its rows are not the view"
            }
            guard try rows.confirmed({ same(try $0.everything(), snapshot.confirmed) }) else {
                return "its confirmed rows are not confirmed state"
            }
            guard rows.conflicted == snapshot.conflicted else {
                return "\(rows.conflicted) are conflicted there"
            }
            return rows.faults == snapshot.faults ? nil : "it has \(rows.faults.count) faults"
        }
    }

    private static func same(
        _ stored: [(key: [UInt8], value: [UInt8])], _ state: Self
    ) -> Bool {
        stored.elementsEqual(state.everything) { $0.key == $1.key && $0.value == $1.value }
    }
}

extension Projection {
    /// What a law's store has beside this projection.
    static var alsoForLaws: [AdditionalProjection<Event>] {
        func beside<Q: StandsBeside>(_: Q.Type) -> [AdditionalProjection<Event>] {
            Q.beside as? [AdditionalProjection<Event>] ?? []
        }
        guard let type = Self.self as? any StandsBeside.Type else { return [] }
        return beside(type)
    }

    static func differenceBesideForLaws(_ store: Store<Self>) -> String? {
        func difference<Q: StandsBeside>(_: Q.Type) -> String? {
            guard let store = store as? Store<Q> else { return nil }
            do { return try Q.differenceBeside(store) } catch { return "\(error)" }
        }
        guard let type = Self.self as? any StandsBeside.Type else { return nil }
        return difference(type)
    }
}
