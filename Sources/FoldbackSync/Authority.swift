import Foldback

/// Whoever decides on intents, as the outbox and the downlink see it: usually a client of the app's
/// server.
///
/// What a server has to keep to, to be checked off:
///
/// - **A1** It deduplicates by intent id, one by one: a set of ids, not a high-water mark, because
///   answers can get lost in any order. A repeated intent gets the verdict and the position that it got
///   first, rejections included, and is not applied again. The same id with another event is refused.
///   An id is remembered for as long as a replica may send it again: for ever, unless replicas that
///   were away for longer are turned away as a whole.
/// - **A2** `through = t` in ``Changes`` means that everything at or below `t` that this replica may see
///   has been delivered, the effects of its own intents included, each naming its intent.
/// - **A3** Positions rise and are never used twice. A server restored from an old backup is a new
///   server to its replicas.
/// - **A4** ``Verdict/rejected(_:)`` is final: the user is told. Whatever may go better another time is
///   ``Verdict/later(after:reason:)`` or an ``AuthorityFailure``; the outbox never gives up.
/// - **A5** Intents come in order of number, and a request is never sent before what is in it survives
///   a power cut. An intent may come again, alone or with others, until its verdict has arrived.
///
/// Both calls are made from any task, several at once if the policy says so. They return soon after
/// their task is cancelled, by throwing `.unreachable`; a limit on their time is theirs.
public protocol Authority<Event>: Sendable {
    associatedtype Event: Sendable

    /// Sends intents, ascending by number, and brings what was decided.
    ///
    /// - Returns: verdicts by intent. An intent without one has not been answered and is sent again;
    ///   a verdict for an intent that was not sent is passed over.
    func submit(
        _ intents: [Submission<Event>]
    ) async throws(AuthorityFailure) -> [IntentID: Verdict<Event>]

    /// Asks for confirmed events behind `position`, as many as the authority likes to send at once.
    func changes(after position: Position) async throws(AuthorityFailure) -> Changes<Event>
}

/// An intent on its way to the authority: the same event under the same id at each attempt.
public struct Submission<Event: Sendable>: Sendable {
    public let id: IntentID
    /// As it was recorded.
    public let event: Event

    public init(id: IntentID, event: Event) {
        self.id = id
        self.event = event
    }
}

extension Submission: Equatable where Event: Equatable {}

/// What an authority says of one intent.
public enum Verdict<Event: Sendable>: Sendable {
    /// It stands. `position`, from 1 up, is where its effect will come by the downlink (F3); it is not
    /// used in a log that acknowledgements confirm (F4). `replacement`: the authority's own words.
    case accepted(position: Position?, replacement: Event?)
    /// It is refused for good (A4).
    case rejected(Rejection)
    /// Not decided now: to be asked again, not before `after` where it is given, at most
    /// ``OutboxPolicy/delayMax``.
    case later(after: Duration?, reason: String)
}

extension Verdict: Equatable where Event: Equatable {}

/// A piece of the authority's confirmed events.
public struct Changes<Event: Sendable>: Sendable {
    public let events: [ConfirmedEvent<Event>]
    /// All that this replica may see up to here has been delivered with this piece (A2).
    public let through: Position
    /// Whether asking again at once brings more.
    public let hasMore: Bool

    public init(events: [ConfirmedEvent<Event>], through: Position, hasMore: Bool) {
        self.events = events
        self.through = through
        self.hasMore = hasMore
    }
}

/// Why a request brought nothing that can be used. No intent is answered by it (A4): the authority may
/// have taken none of them, some or all, and hears of them again under the same ids (A1).
@nonexhaustive
public enum AuthorityFailure: Error, Hashable, Sendable {
    /// Nothing came back: no connection, a time-out, a server's error without a word. Tried again with
    /// backoff, and at once when the device comes online.
    case unreachable(reason: String)
    /// The authority does not want to be asked now: overloaded, under maintenance. Tried again, not
    /// before `after` where it is given (at most ``OutboxPolicy/delayMax``), else with backoff.
    case unavailable(after: Duration?, reason: String)
    /// It does not know who asks. Nothing is sent until somebody has signed in.
    case unauthenticated(reason: String)
    /// Something came back that cannot be understood. The outbox tries again with backoff, for the
    /// next answer may be better; it shows in its status why it waits.
    case invalidAnswer(reason: String)

    /// For people and log files.
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
        case .unreachable(let reason): "the server was not reached: \(reason)"
        case .unavailable(_, let reason): "the server takes no requests now: \(reason)"
        case .unauthenticated(let reason): "the server does not know who asks: \(reason)"
        case .invalidAnswer(let reason): "the server's answer cannot be used: \(reason)"
        }
    }
}
