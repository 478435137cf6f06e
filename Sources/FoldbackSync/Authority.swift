import Foldback

/// The party that decides on intents: usually a client of the app's server.
///
/// The outbox and the downlink call it. A server must keep A1 to A4 and can rely on A5:
///
/// - **A1** The server deduplicates by intent id. It keeps a set of ids, not a high-water mark,
///   because answers can get lost in any order. A repeated intent gets its first verdict and
///   position again, also a rejection, and is not applied again. The same id with a different event
///   is refused. The server remembers an id as long as a replica may send it again. That is
///   forever, unless the server refuses all requests of replicas that were away for too long.
/// - **A2** `through = t` in ``Changes`` means that the server has delivered everything at or below
///   `t` that this replica may see. That includes the effects of the replica's own intents, each
///   with its intent id.
/// - **A3** Positions rise and are never used twice. A server that was restored from an old backup
///   is a new server for its replicas.
/// - **A4** ``Verdict/rejected(_:)`` is final, and the user is told. If a later attempt may
///   succeed, the answer is ``Verdict/later(after:reason:)`` or an ``AuthorityFailure``. The outbox
///   never gives up.
/// - **A5** Intents come in order of number, unless the policy allows several requests at once.
///   Before a request is sent, its intents survive a power cut. An intent may come again, alone or
///   with others, until its verdict has arrived.
///
/// Both functions are called from any task, and several times at once if the policy allows it. If
/// the task is canceled, an implementation throws `.unreachable` soon. It also sets its own time
/// limits.
public protocol Authority<Event>: Sendable {
    associatedtype Event: Sendable

    /// Sends intents and returns the verdicts on them.
    ///
    /// - Parameter intents: the intents, ascending by number.
    /// - Returns: verdicts by intent id. The outbox sends an intent without a verdict again, and
    ///   ignores a verdict on an intent that was not sent.
    /// - Throws: ``AuthorityFailure``. The outbox sends all intents of the request again.
    func submit(
        _ intents: [Submission<Event>]
    ) async throws(AuthorityFailure) -> [IntentID: Verdict<Event>]

    /// Returns confirmed events after `position`. The authority chooses how many it sends at once.
    /// - Throws: ``AuthorityFailure``. Nothing was fetched.
    func changes(after position: Position) async throws(AuthorityFailure) -> Changes<Event>
}

/// An intent on its way to the authority. Each attempt sends the same event under the same id.
public struct Submission<Event: Sendable>: Sendable {
    public let id: IntentID
    /// The event as it was recorded.
    public let event: Event

    public init(id: IntentID, event: Event) {
        self.id = id
        self.event = event
    }
}

extension Submission: Equatable where Event: Equatable {}

/// An authority's decision on one intent.
public enum Verdict<Event: Sendable>: Sendable {
    /// The intent is accepted.
    ///
    /// `position`, from 1 up, is the position at which the downlink will deliver the effect (F3). A
    /// log that is confirmed by acknowledgements does not use it (F4). `replacement` is the event
    /// that the authority applied in place of the intent's own event; nil if it applied that.
    case accepted(position: Position?, replacement: Event?)
    /// The intent is refused. This is final (A4).
    case rejected(Rejection)
    /// The authority has not decided yet. The outbox sends the intent again: after `after`, which
    /// is limited to ``OutboxPolicy/delayMax``, or with backoff if `after` is nil.
    case later(after: Duration?, reason: String)
}

extension Verdict: Equatable where Event: Equatable {}

/// A page of the authority's confirmed events.
public struct Changes<Event: Sendable>: Sendable {
    public let events: [ConfirmedEvent<Event>]
    /// The position up to which the authority has now delivered everything that this replica may
    /// see (A2).
    public let through: Position
    /// Whether the authority has more events now.
    public let hasMore: Bool

    public init(events: [ConfirmedEvent<Event>], through: Position, hasMore: Bool) {
        self.events = events
        self.through = through
        self.hasMore = hasMore
    }
}

/// The reason why a request had no usable answer.
///
/// A failure answers no intent (A4). The authority may have accepted none, some or all of the
/// intents. The outbox sends them again under the same ids (A1).
@nonexhaustive
public enum AuthorityFailure: Error, Hashable, Sendable {
    /// No answer came: no connection, a timeout, or a server error without content.
    ///
    /// The request is retried with backoff. An outbox also retries at once when the device comes
    /// online.
    case unreachable(reason: String)
    /// The authority accepts no requests now: it is overloaded, or under maintenance.
    ///
    /// The request is retried after `after`, which is limited to ``OutboxPolicy/delayMax``, or with
    /// backoff if `after` is nil.
    case unavailable(after: Duration?, reason: String)
    /// The authority does not know the user: credentials are missing or not valid. An outbox sends
    /// nothing until ``Outbox/signedIn()``.
    case unauthenticated(reason: String)
    /// The answer cannot be understood.
    ///
    /// An outbox retries with backoff, because the next answer may be valid, and shows the reason
    /// in its status.
    case invalidAnswer(reason: String)

    /// The reason, for display and log files.
    public var reason: String {
        switch self {
        case .unreachable(let reason), .unavailable(_, let reason), .unauthenticated(let reason),
            .invalidAnswer(let reason):
            reason
        }
    }
}

extension AuthorityFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let reason): "the server could not be reached: \(reason)"
        case .unavailable(_, let reason): "the server accepts no requests now: \(reason)"
        case .unauthenticated(let reason): "the user is not signed in: \(reason)"
        case .invalidAnswer(let reason): "the server's answer cannot be used: \(reason)"
        }
    }
}
