import Foldback
import FoldbackSync

/// The decisions of one group, as a table has them.
///
/// Two groups are equal if their positions and all of their rows are.
public struct TableGroup: Hashable, Sendable {
    public let position: Position
    /// The rows in order, at least one.
    public let rows: [TableRow]
    /// What the table knows the group by, for an append after it; nil in a group that is not from a table.
    public let stamp: Int64?

    public init(position: Position, rows: [TableRow], stamp: Int64? = nil) {
        self.position = position
        self.rows = rows
        self.stamp = stamp
    }

    public static func == (a: TableGroup, b: TableGroup) -> Bool {
        a.position == b.position && a.rows == b.rows
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(position)
        hasher.combine(rows)
    }
}

/// One event of a space's log, as a table has it.
public enum TableRow: Hashable, Sendable {
    case founded(Founding)
    case decided(IntentID, DecidedRow)
}

/// A decision whose effect is bytes.
public struct DecidedRow: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        case accepted(RecordedEvent)
        case reworded(RecordedEvent?)
        case rejected(Rejection)
    }

    public let account: Account
    /// The ``/Foldback/EventFold/version`` of the projection that decided (N9).
    public let version: UInt32
    /// The digest of the event that the device sent (N4).
    public let digest: UInt64
    public let outcome: Outcome

    public init(account: Account, version: UInt32, digest: UInt64, outcome: Outcome) {
        self.account = account
        self.version = version
        self.digest = digest
        self.outcome = outcome
    }
}

// MARK: To and from a space's log

extension TableGroup {
    init<Event>(
        position: Position, _ events: [(intent: IntentID?, event: DecisionEvent<Event>)]
    ) {
        self.init(
            position: position,
            rows: events.map { intent, event in
                switch event {
                case .founded(let founding): return .founded(founding)
                case .decided(let decision):
                    guard let intent else { preconditionFailure("a decision names its intent") }
                    return .decided(intent, DecidedRow(decision))
                }
            })
    }

    /// The group as an entry of a space's log. No effect is decoded here: the log notes what this code cannot
    /// read.
    func events<Event>() -> [ConfirmedEvent<DecisionEvent<Event>>] {
        let codec = DecisionCodec(inner: UndecodedEvents())
        return rows.map { row in
            let (intent, event) = row.event(at: position)
            let bytes: [UInt8]
            do { bytes = try codec.encode(event) } catch {
                preconditionFailure("a decision cannot be encoded: \(error)")
            }
            return ConfirmedEvent(
                position: position, recorded: RecordedEvent(format: codec.format, bytes: bytes),
                origin: intent)
        }
    }
}

extension TableRow {
    fileprivate func event(
        at position: Position
    ) -> (IntentID?, DecisionEvent<UndecodedEvents.Undecoded>) {
        switch self {
        case .founded(let founding): (nil, .founded(founding))
        case .decided(let intent, let row):
            (
                intent,
                .decided(
                    Decision(
                        position: position, account: row.account, version: row.version,
                        digest: row.digest, outcome: row.outcome.undecoded))
            )
        }
    }
}

extension DecidedRow {
    fileprivate init<Event>(_ decision: Decision<Event>) {
        let outcome: Outcome =
            switch decision.outcome {
            case .accepted(let effect): .accepted(effect.recorded)
            case .reworded(let effect): .reworded(effect?.recorded)
            case .rejected(let rejection): .rejected(rejection)
            }
        self.init(
            account: decision.account, version: decision.version, digest: decision.digest,
            outcome: outcome)
    }
}

extension DecidedRow.Outcome {
    fileprivate var undecoded: Decision<UndecodedEvents.Undecoded>.Outcome {
        switch self {
        case .accepted(let event): .accepted(Effect(undecoded: event))
        case .reworded(let event): .reworded(event.map { Effect(undecoded: $0) })
        case .rejected(let rejection): .rejected(rejection)
        }
    }
}

extension Effect<UndecodedEvents.Undecoded> {
    fileprivate init(undecoded event: RecordedEvent) {
        self.init(event: .init(), format: event.format, bytes: event.bytes)
    }
}
