import Foldback

/// A fold in memory that a stored projection stands beside, on one log: what its rows show has to be the
/// same wherever the laws look (``Sight``).
protocol StandsBeside: Projection, Equatable {
    static var beside: [AdditionalProjection<Event>] { get }

    /// - Throws: where rows cannot be read.
    static func rowsShown(by store: Store<Self>) throws -> RowsShown<Self>

    /// The same at a past sequence.
    static func rowsShown(
        by store: Store<Self>, at sequence: LogSequence
    ) async throws -> RowsShown<Self>

    /// Everything as it is kept, for what differs in nothing that people read.
    var asKept: [String: String] { get }

    /// What is written and read as something else (P11).
    var rowFlaw: Violation? { get }

    /// What an event touches that is applied here, for P9; nil where it is no such event.
    func touched(by event: Any, _ context: EventContext) -> TouchedKeys?
}

/// What the rows of a store show, as states of the fold in memory.
struct RowsShown<P: Projection>: Sendable {
    var view: P
    var confirmed: P
    var conflicted: [IntentNumber]
    var faults: Int
}

/// Rows that an event has asked for or changed.
struct TouchedKeys: Sendable {
    let keys: Set<KeyBytes>
    let spans: [KeySpan]

    func isDisjoint(with other: Self) -> Bool {
        keys.isDisjoint(with: other.keys) && !other.keys.contains(where: isInSpan)
            && !keys.contains(where: other.isInSpan)
    }

    private func isInSpan(_ key: KeyBytes) -> Bool { spans.contains { $0.contains(key) } }
}

extension RowsInMemory: StandsBeside {
    static var beside: [AdditionalProjection<Stored.Event>] { [AdditionalProjection(Stored.self)] }

    static func rowsShown(by store: Store<Self>) throws -> RowsShown<Self> {
        try store.projected(Stored.self).read { try RowsShown(of: $0) }
    }

    static func rowsShown(
        by store: Store<Self>, at sequence: LogSequence
    ) async throws -> RowsShown<Self> {
        try await store.projected(Stored.self).read(at: sequence) { try RowsShown(of: $0) }
    }

    var asKept: [String: String] {
        var kept: [String: String] = [:]
        for (key, value) in everything { kept[Self.hexadecimal(key)] = Self.hexadecimal(value) }
        return kept
    }

    func touched(by event: Any, _ context: EventContext) -> TouchedKeys? {
        guard let event = event as? Stored.Event else { return nil }
        var rows = touchable
        // One that does not apply has asked all the same.
        try? Stored.apply(event, context, to: &rows)
        return TouchedKeys(
            keys: Set(rows.found.map(\.key) + rows.made.map(\.key)), spans: rows.spans)
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension RowsShown {
    fileprivate init<Stored>(of rows: borrowing RowReader<Stored>) throws
    where P == RowsInMemory<Stored> {
        view = RowsInMemory(everything: try rows.everything())
        confirmed = try rows.confirmed { RowsInMemory(everything: try $0.everything()) }
        conflicted = rows.conflicted
        faults = rows.faults.count
    }
}

// MARK: For laws, which know a projection only

extension Projection {
    /// Whether a stored projection stands beside this one.
    static var hasRowsBeside: Bool { Self.self is any StandsBeside.Type }

    /// What a law's store has beside this projection.
    static var alsoForLaws: [AdditionalProjection<Event>] {
        func beside<Q: StandsBeside>(_: Q.Type) -> [AdditionalProjection<Event>] {
            Q.beside as? [AdditionalProjection<Event>] ?? []
        }
        guard let type = Self.self as? any StandsBeside.Type else { return [] }
        return beside(type)
    }

    /// Nil where none stands beside.
    static func rowsForLaws(_ store: Store<Self>) throws -> RowsShown<Self>? {
        func shown<Q: StandsBeside>(_: Q.Type) throws -> RowsShown<Self>? {
            guard let store = store as? Store<Q> else { return nil }
            return try Q.rowsShown(by: store) as? RowsShown<Self>
        }
        guard let type = Self.self as? any StandsBeside.Type else { return nil }
        return try shown(type)
    }

    static func rowsForLaws(
        _ store: Store<Self>, at sequence: LogSequence
    ) async throws -> RowsShown<Self>? {
        func shown<Q: StandsBeside>(_: Q.Type) async throws -> RowsShown<Self>? {
            guard let store = store as? Store<Q> else { return nil }
            return try await Q.rowsShown(by: store, at: sequence) as? RowsShown<Self>
        }
        guard let type = Self.self as? any StandsBeside.Type else { return nil }
        return try await shown(type)
    }
}
