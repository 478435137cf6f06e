import Foldback

/// A fold in memory with a stored projection on the same log. The stored rows must show the same in
/// every ``Observation``.
protocol RowModel: Projection, Equatable {
    static var beside: [AdditionalProjection<Event>] { get }

    /// - Throws: if rows cannot be read.
    static func rowsShown(by store: Store<Self>) throws -> RowModelState<Self>

    /// The same at a past sequence.
    static func rowsShown(
        by store: Store<Self>, at sequence: LogSequence
    ) async throws -> RowModelState<Self>

    /// Lets the store note which rows change, as long as the returned value exists.
    static func watchRows(of store: Store<Self>) -> RowObservation

    /// What is wrong with the reported row changes; nil if nothing is.
    static func flaw(
        in changes: RowWatcher.Gathered, from old: RowModelState<Self>, to new: RowModelState<Self>
    ) -> String?

    /// All rows as stored bytes, for states that differ in nothing readable.
    var asStored: [String: String] { get }

    /// The keys that an event touches in this state, for P9; nil if the event has another type.
    func touched(by event: Any, _ context: EventContext) -> TouchedKeys?
}

/// The rows of a store, as states of the fold in memory.
struct RowModelState<P: Projection>: Sendable {
    var sequence: LogSequence
    var through: Position
    var view: P
    var confirmed: P
    var pending: [IntentNumber]
    var accepted: [IntentNumber]
    var conflicted: [IntentNumber]
    var faults: Int
    /// Keys of rows and index entries that pending intents wrote or removed.
    var pendingKeys: Set<[UInt8]>
}

/// The keys that an event read or wrote.
struct TouchedKeys: Sendable {
    let keys: Set<KeyBytes>
    let spans: [KeySpan]

    func isDisjoint(with other: Self) -> Bool {
        keys.isDisjoint(with: other.keys) && !other.keys.contains(where: isInSpan)
            && !keys.contains(where: other.isInSpan)
    }

    private func isInSpan(_ key: KeyBytes) -> Bool { spans.contains { $0.contains(key) } }
}

extension RowsInMemory: RowModel {
    static var beside: [AdditionalProjection<Stored.Event>] { [AdditionalProjection(Stored.self)] }

    static func rowsShown(by store: Store<Self>) throws -> RowModelState<Self> {
        try store.projected(Stored.self).read { try RowModelState(of: $0) }
    }

    static func rowsShown(
        by store: Store<Self>, at sequence: LogSequence
    ) async throws -> RowModelState<Self> {
        try await store.projected(Stored.self).read(at: sequence) { try RowModelState(of: $0) }
    }

    static func watchRows(of store: Store<Self>) -> RowObservation {
        store.projected(Stored.self).observation()
    }

    var asStored: [String: String] {
        var stored: [String: String] = [:]
        for (key, value) in everything { stored[key.hexadecimal] = value.hexadecimal }
        return stored
    }

    func touched(by event: Any, _ context: EventContext) -> TouchedKeys? {
        guard let event = event as? Stored.Event else { return nil }
        var rows = touchable
        // An event that does not apply has read rows all the same.
        try? Stored.apply(event, context, to: &rows)
        return TouchedKeys(
            keys: Set(rows.reads.map(\.key) + rows.writes.map(\.key)), spans: rows.spans)
    }
}

extension RowModelState {
    /// - Throws: the error of a read, and ``OrderMismatch``.
    fileprivate init<Stored>(of rows: borrowing RowReader<Stored>) throws
    where P == RowsInMemory<Stored> {
        confirmed = try rows.confirmed { try RowsInMemory(of: $0) }
        view = try RowsInMemory(of: rows)
        // A row that the overlay removed must not be found by its key either.
        let shown = Set(view.everything.map(\.key))
        for row in confirmed.shownRows where !shown.contains(row.bytes) {
            try RowsInMemory.require(nil, at: row.key, in: row.table, of: rows)
        }
        sequence = rows.sequence
        through = rows.through
        pending = rows.pending
        accepted = rows.accepted
        conflicted = rows.conflicted
        faults = rows.faults.count
        pendingKeys = rows.everythingPending()
    }
}

/// Reading in order and reading by key find different rows.
struct OrderMismatch: Error, CustomStringConvertible {
    let description: String
}

extension RowsInMemory {
    /// All rows in order, after checking that reading by key and backwards finds the same rows.
    fileprivate init(of rows: borrowing RowReader<Stored>) throws {
        self.init(everything: try rows.everything())
        var tables: [String: (key: any RowKey, place: [UInt8])] = [:]
        for row in shownRows {
            try Self.require(row.value, at: row.key, in: row.table, of: rows)
            tables[row.table] = (row.key, Array(row.bytes.prefix(2)))
        }
        let everything = everything
        for (name, table) in tables {
            let values = everything.filter { $0.key.starts(with: table.place) }.map(\.value)
            try Self.require(values, backwardsIn: name, keysLike: table.key, of: rows)
        }
    }

    /// The readable rows of tables.
    fileprivate var shownRows: [(table: String, key: any RowKey, bytes: [UInt8], value: [UInt8])] {
        everything.compactMap { key, value in
            guard let shown = Stored.schema.shown(key: key, row: value),
                let rowKey = shown.key as? any RowKey
            else { return nil }
            return (shown.table, rowKey, key, value)
        }
    }

    fileprivate static func require<K: RowKey>(
        _ value: [UInt8]?, at key: K, in table: String, of rows: borrowing RowReader<Stored>
    ) throws {
        guard try rows.get(key, in: RowTable<K, [UInt8]>(table, codec: StoredBytes())) != value
        else {
            return
        }
        throw OrderMismatch(
            description:
                "the row of \(table) at \(StateText.inline(key)) that is found by its key is "
                + "not the row that is found in order")
    }

    private static func require<K: RowKey>(
        _ values: [[UInt8]], backwardsIn table: String, keysLike key: K,
        of rows: borrowing RowReader<Stored>
    ) throws {
        let table = RowTable<K, [UInt8]>(table, codec: StoredBytes())
        let backwards = try rows.page(of: table, order: .descending, limit: .max)
        guard backwards.map(\.row) != values.reversed() else { return }
        throw OrderMismatch(description: "\(table.name) has other rows backwards than forwards")
    }
}

/// Rows as their stored bytes.
private struct StoredBytes: ByteCodec {
    func encode(_ row: [UInt8], into output: inout OutputBuffer) { output.append(bytes: row) }
    func decode(_ bytes: RawSpan) -> [UInt8] { bytes.withUnsafeBytes { Array($0) } }
}

// MARK: For laws, which know only the projection

extension Projection {
    /// Whether a stored projection is on the same log.
    static var hasRowsBeside: Bool { Self.self is any RowModel.Type }

    /// Whether the reference model knows which keys two intents share. It does not know the rows that
    /// they read.
    static var sharesOnlyKeys: Bool {
        alsoForLaws.allSatisfy { !($0.type is any StoredProjection.Type) }
    }

    /// The stored projection on the same log, or the projections that share its conflicts.
    static var alsoForLaws: [AdditionalProjection<Event>] {
        func beside<Q: RowModel>(_: Q.Type) -> [AdditionalProjection<Event>] {
            Q.beside as? [AdditionalProjection<Event>] ?? []
        }
        guard let type = Self.self as? any RowModel.Type else { return othersInStore }
        return beside(type)
    }

    /// Nil without a stored projection.
    static func rowsForLaws(_ store: Store<Self>) throws -> RowModelState<Self>? {
        func shown<Q: RowModel>(_: Q.Type) throws -> RowModelState<Self>? {
            guard let store = store as? Store<Q> else { return nil }
            return try Q.rowsShown(by: store) as? RowModelState<Self>
        }
        guard let type = Self.self as? any RowModel.Type else { return nil }
        return try shown(type)
    }

    static func watchRowsForLaws(_ store: Store<Self>) -> RowObservation? {
        func watch<Q: RowModel>(_: Q.Type) -> RowObservation? {
            (store as? Store<Q>).map { Q.watchRows(of: $0) }
        }
        guard let type = Self.self as? any RowModel.Type else { return nil }
        return watch(type)
    }

    /// - Parameters:
    ///   - changes: the reported row changes.
    ///   - old: the rows before.
    ///   - new: the rows after.
    static func flawForLaws(
        in changes: RowWatcher.Gathered, from old: RowModelState<Self>, to new: RowModelState<Self>
    ) -> String? {
        func flaw<Q: RowModel>(_: Q.Type) -> String? {
            guard let old = old as? RowModelState<Q>, let new = new as? RowModelState<Q> else {
                return nil
            }
            return Q.flaw(in: changes, from: old, to: new)
        }
        guard let type = Self.self as? any RowModel.Type else { return nil }
        return flaw(type)
    }

    static func rowsForLaws(
        _ store: Store<Self>, at sequence: LogSequence
    ) async throws -> RowModelState<Self>? {
        func shown<Q: RowModel>(_: Q.Type) async throws -> RowModelState<Self>? {
            guard let store = store as? Store<Q> else { return nil }
            return try await Q.rowsShown(by: store, at: sequence) as? RowModelState<Self>
        }
        guard let type = Self.self as? any RowModel.Type else { return nil }
        return try await shown(type)
    }
}
