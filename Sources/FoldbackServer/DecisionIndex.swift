import Foldback

/// The decisions of a space by intent, as rows on its log: a few bytes for each (N4).
///
/// The verdict itself is in the decision, so a repeated intent costs one read of the index and one of the
/// log.
public struct DecisionIndex<P: Projection>: StoredProjection {
    public typealias Event = DecisionEvent<P.Event>

    public static var codec: any EventCodec<Event> { DecisionCodec(inner: P.codec) }
    public static var name: String { "decisions" }
    public static var schema: RowSchema { DecisionTables.schema }

    public static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        guard case .decided(let decision) = event else { return }
        guard case .intent(let id) = context.origin else { throw DecisionWithoutIntent() }
        var known = try rows.get(id.replica.name, in: DecisionTables.replicas)
        if known == nil {
            let count = try rows.get(.replicas, in: DecisionTables.counts) ?? 0
            try rows.put(count + 1, at: .replicas, in: DecisionTables.counts)
            known = KnownReplica(number: count + 1, account: decision.account)
            try rows.put(known!, at: id.replica.name, in: DecisionTables.replicas)
        }
        try rows.put(
            DecidedIntent(position: decision.position, digest: decision.digest),
            at: KeyPair(known!.number, id.number.value), in: DecisionTables.intents)
    }
}

private struct DecisionWithoutIntent: Error, CustomStringConvertible {
    let description = "a decision must name its intent"
}

/// The tables of ``DecisionIndex``. A generic type cannot have them.
enum DecisionTables {
    /// By the number of the replica and that of the intent.
    static let intents = RowTable<KeyPair<UInt32, UInt64>, DecidedIntent>(
        "intents", codec: DecidedIntentBytes())
    static let replicas = RowTable<ExactString, KnownReplica>(
        "replicas", codec: KnownReplicaBytes())
    static let counts = RowTable<Counted, UInt32>("counts", codec: CountBytes())
    static let schema = RowSchema(intents, replicas, counts)

    enum Counted: UInt8, RowKey { case replicas }
}

/// Where an intent was decided.
struct DecidedIntent: Hashable, Sendable {
    let position: Position
    let digest: UInt64
}

/// A replica that sent intents, and the account that it belongs to (N10).
struct KnownReplica: Hashable, Sendable {
    /// Stands for the replica's name in the keys of the intents.
    let number: UInt32
    let account: Account
}

private struct DecidedIntentBytes: ByteCodec {
    func encode(_ row: DecidedIntent, into output: inout OutputBuffer) {
        output.append(row.position.value)
        output.append(row.digest)
    }

    func decode(_ bytes: RawSpan) throws -> DecidedIntent {
        var cursor = InputCursor()
        let row = DecidedIntent(
            position: Position(try cursor.number(in: bytes)), digest: try cursor.number(in: bytes))
        try cursor.requireEnd(of: bytes)
        return row
    }
}

private struct KnownReplicaBytes: ByteCodec {
    func encode(_ row: KnownReplica, into output: inout OutputBuffer) {
        output.append(row.number)
        output.append(row.account.description)
    }

    func decode(_ bytes: RawSpan) throws -> KnownReplica {
        var cursor = InputCursor()
        let number: UInt32 = try cursor.number(in: bytes)
        guard let account = Account(try cursor.text(in: bytes)) else { throw InputError.outOfRange }
        try cursor.requireEnd(of: bytes)
        return KnownReplica(number: number, account: account)
    }
}

private struct CountBytes: ByteCodec {
    func encode(_ count: UInt32, into output: inout OutputBuffer) { output.append(count) }

    func decode(_ bytes: RawSpan) throws -> UInt32 {
        var cursor = InputCursor()
        return try cursor.number(in: bytes)
    }
}
