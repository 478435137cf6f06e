import Foldback

/// What happened to a log, as a script: what its user did, what its server said, and when its process
/// ended. It can be carried out on any log of events of this type, again and again.
///
/// ```
/// record .liked("a")          intent 1
/// record .liked("b")          intent 2
/// reject 1
/// ```
///
/// Steps name an intent by its place among the steps that record, from 1 up: its number in a log that
/// refuses none. Where recording was refused, or joined an intent that was there, the place stands for
/// none or for that one, and steps that name nothing do nothing: every script can be carried out.
public struct Script<Event: Sendable>: Sendable {
    /// Which source confirms (F2).
    public let kind: LogKind
    public var steps: [Step]

    public init(_ kind: LogKind, _ steps: [Step]) {
        self.kind = kind
        self.steps = steps
    }

    /// One step of a history.
    public enum Step: Sendable {
        case record(Event, force: Bool = false, confirmOnly: Bool = false, once: String? = nil)
        case retry(IntentNumber, force: Bool = false)
        case withdraw(IntentNumber)
        case dismiss(IntentNumber)
        case acknowledge(IntentNumber, position: Position? = nil, replacement: Event? = nil)
        case reject(IntentNumber, message: String)
        case confirm([ServerEvent], through: Position? = nil)
        /// Writes a checkpoint where the log takes any.
        case checkpoint
        /// Closes the log and opens it again.
        case reopen
        /// The process ends between two commits, and the log is opened again.
        case kill

        /// Whether it stands for an intent that later steps can name.
        public var isRecording: Bool {
            switch self {
            case .record, .retry: true
            case .withdraw, .dismiss, .acknowledge, .reject, .confirm, .checkpoint, .reopen, .kill:
                false
            }
        }

        /// Whether it comes from the server.
        var isAnswer: Bool {
            switch self {
            case .acknowledge, .reject, .confirm: true
            case .record, .retry, .withdraw, .dismiss, .checkpoint, .reopen, .kill: false
            }
        }
    }

    /// One event of a batch, as the server tells it.
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

    /// Whose intent an event of a batch comes from.
    public enum Origin: Hashable, Sendable {
        /// This log's, by its place among the steps that record.
        case own(IntentNumber)
        case foreign(IntentID)
        case none
    }

    /// The events that this log's user recorded, in order.
    var recordedEvents: [Event] {
        steps.compactMap { step in
            guard case .record(let event, _, _, _) = step else { return nil }
            return event
        }
    }

    /// Every event that is spoken of, in order.
    var events: [Event] {
        steps.flatMap { step -> [Event] in
            switch step {
            case .record(let event, _, _, _): [event]
            case .acknowledge(_, _, let replacement): replacement.map { [$0] } ?? []
            case .confirm(let told, _): told.map(\.event)
            case .retry, .withdraw, .dismiss, .reject, .checkpoint, .reopen, .kill: []
            }
        }
    }
}

extension ReplicaID {
    /// The replica of every log that a history is carried out on.
    static let own = named("me")
    /// Somebody else's.
    static let foreign = named("other")

    static func named(_ name: String) -> ReplicaID {
        guard let replica = ReplicaID(name) else { preconditionFailure("\(name) is no replica id") }
        return replica
    }
}
