import Foldback

/// What happens to a log: what its user does, what its server answers, and when its process ends. A
/// script can be run on any log of events of this type, as often as needed.
///
/// ```
/// record .liked("a")          intent 1
/// record .liked("b")          intent 2
/// reject 1
/// ```
///
/// A step names an intent by its place among the steps that record, from 1 up. That is the intent's
/// number in a log that refuses nothing. If recording was refused, the place names no intent. If it
/// joined an existing intent, the place names that intent. A step that names no intent does
/// nothing, so every script can be run. Numbers from 1,000,000 up are sent as they are: to the log
/// such an intent is unknown.
public struct Script<Event: Sendable>: Sendable {
    /// Which source confirms (F2).
    public let kind: LogKind
    public var steps: [Step]

    public init(_ kind: LogKind, _ steps: [Step]) {
        self.kind = kind
        self.steps = steps
    }

    /// One step of a script.
    public enum Step: Sendable {
        case record(
            Event, force: Bool = false, confirmOnly: Bool = false, once: String? = nil,
            replacing: String? = nil, held: Bool = false)
        /// Records several events as one action (F20). Each takes a place.
        case together([Event], force: Bool = false, once: String? = nil, held: Bool = false)
        /// A command about an intent; write `.withdraw(2)`, `.undo(2)` or `.retry(2, force: true)`.
        /// `undo` and `redo` take a place, for the first intent that they record.
        case change(IntentNumber, IntentCommand, force: Bool)
        /// Retries a rejected intent with another event; write `.retry(2, with: event)`.
        case edit(IntentNumber, Event, force: Bool)
        case acknowledge(IntentNumber, position: Position? = nil, replacement: Event? = nil)
        case reject(IntentNumber, code: String? = nil, message: String)
        case confirm([ServerEvent], through: Position? = nil)
        /// Begins to send a pending intent, as an outbox does: it cannot be withdrawn any more (F7).
        case attempt(IntentNumber)
        /// Writes a checkpoint if the log supports it.
        case checkpoint
        /// Closes the log and opens it again.
        case reopen
        /// Ends the process between two commits, and opens the log again.
        case kill

        /// Whether later steps can name an intent of this step.
        public var isRecording: Bool { placeCount > 0 }

        /// The number of places that the step takes.
        var placeCount: Int {
            switch self {
            case .record, .edit: 1
            case .together(let events, _, _, _): events.count
            case .change(_, let command, _): command.isRecording ? 1 : 0
            case .acknowledge, .reject, .confirm, .attempt, .checkpoint, .reopen, .kill: 0
            }
        }

        /// Whether the step comes from the server.
        var isAnswer: Bool {
            switch self {
            case .acknowledge, .reject, .confirm: true
            case .record, .together, .change, .edit, .attempt, .checkpoint, .reopen, .kill: false
            }
        }

        /// The name of the step in scripts and counts.
        var name: String {
            switch self {
            case .record: "record"
            case .together: "together"
            case .change(_, let command, _): command.rawValue
            case .edit: "edit"
            case .acknowledge: "acknowledge"
            case .reject: "reject"
            case .confirm: "confirm"
            case .attempt: "attempt"
            case .checkpoint: "checkpoint"
            case .reopen: "reopen"
            case .kill: "kill"
            }
        }
    }

    /// One event of a batch from the server.
    public struct ServerEvent: Sendable {
        public let position: Position
        public let event: Event
        public let origin: Origin

        public init(_ position: Position, _ event: Event, _ origin: Origin) {
            self.position = position
            self.event = event
            self.origin = origin
        }
    }

    /// The intent that an event of a batch comes from.
    public enum Origin: Hashable, Sendable {
        /// An intent of this log, by its place among the steps that record.
        case own(IntentNumber)
        case foreign(IntentID)
        case none
    }

    /// The events that this log's user recorded, in order, without those of edited retries.
    public var recordedEvents: [Event] {
        steps.flatMap { step -> [Event] in
            switch step {
            case .record(let event, _, _, _, _, _): [event]
            case .together(let events, _, _, _): events
            default: []
            }
        }
    }

    /// Every event in the script, in order.
    var events: [Event] {
        steps.flatMap { step -> [Event] in
            switch step {
            case .record(let event, _, _, _, _, _), .edit(_, let event, _): [event]
            case .together(let events, _, _, _): events
            case .acknowledge(_, _, let replacement): replacement.map { [$0] } ?? []
            case .confirm(let events, _): events.map(\.event)
            case .change, .reject, .attempt, .checkpoint, .reopen, .kill: []
            }
        }
    }
}

extension IntentNumber {
    /// The first of the numbers that no script reaches: a step that names one names an unknown
    /// intent.
    static let neverRecorded: IntentNumber = 1_000_000

    var isNeverRecorded: Bool { self >= .neverRecorded }
}

extension ReplicaID {
    /// The replica of every log that runs a script.
    package static let own = named("me")
    /// Another device's replica.
    package static let foreign = named("other")

    static func named(_ name: String) -> ReplicaID {
        guard let replica = ReplicaID(name) else {
            preconditionFailure("not a replica id: \(name)")
        }
        return replica
    }
}
