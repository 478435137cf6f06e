import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The party that decides on intents: usually a client of the app's server.
///
/// The outbox and the downlink call it. A server must keep A1 to A4 and can rely on A5:
///
/// - **A1** The server deduplicates by intent id. It keeps a set of ids, not a high-water mark,
///   because answers can get lost in any order. A repeated intent gets its first verdict and
///   position again, also a rejection, and is not applied again. The same id with a different event
///   gets a rejection. The server remembers an id as long as a replica may send it again. That is
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
/// Each request carries what the device knows (``/Foldback/SyncPoint``). If the authority has
/// another lineage, another digest at `through`, or no longer has the events up to `through`, it decides
/// nothing and throws
/// ``AuthorityFailure/superseded(shared:)``. (If it decided, a request that was on its way could be
/// applied again when the device continues under new ids.) Each answer carries the authority's
/// lineage and head, if it has them, and the device compares them too. So an intent never counts as
/// confirmed by a server that lost it.
///
/// All functions are called from any task, and several times at once if the policy allows it. If
/// the task is canceled, an implementation throws `.unreachable` soon. It also sets its own time
/// limits.
///
/// Declare each function with `throws(AuthorityFailure)`, also in closures that it calls. A function
/// with a plain `throws` does not conform.
public protocol Authority<Event>: UntypedAuthority {
    /// Sends intents and returns the verdicts on them.
    ///
    /// - Parameters:
    ///   - intents: the intents, ascending by number.
    ///   - device: what the device knows of the authority's data.
    /// - Returns: the verdicts. The outbox sends an intent without a verdict again, and ignores a
    ///   verdict on an intent that was not sent.
    /// - Throws: ``AuthorityFailure``. The outbox sends all intents of the request again.
    func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event>

    /// Returns confirmed events after `device.through`. The authority chooses how many it sends at
    /// once.
    ///
    /// - Parameter device: what the device knows of the authority's data.
    /// - Throws: ``AuthorityFailure``. Nothing was fetched.
    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Event>

    /// Returns confirmed events after `device.through`, and waits for the first event if there is
    /// none (a long poll).
    ///
    /// The default answers at once.
    ///
    /// - Parameters:
    ///   - device: what the device knows of the authority's data.
    ///   - waiting: the longest wait. After it, the answer is a page without events.
    /// - Throws: ``AuthorityFailure``. Nothing was fetched.
    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event>
}

/// Functions of an authority with errors of any type. Conform to ``Authority`` instead.
///
/// Swift infers the type of the events from this protocol, also if `submit` lacks
/// `throws(AuthorityFailure)`. So the compiler can name the function that is wrong.
public protocol UntypedAuthority<Event>: Sendable {
    /// The type of the app's events.
    associatedtype Event: Sendable
    /// In an ``Authority``, `Verdicts<Event>`. With that type written here, ``Authority`` would
    /// override this function, and Swift 6.3.1 fails to compile a call of the override.
    associatedtype UntypedVerdicts
    /// In an ``Authority``, `Changes<Event>`.
    associatedtype UntypedChanges
    /// The errors of ``changes(after:waiting:)``. Swift infers this type from a function of the app.
    /// The default exists only for `AuthorityFailure`, so it cannot replace a function that lacks
    /// `throws(AuthorityFailure)`.
    associatedtype WaitingFailure: Error = AuthorityFailure

    /// See ``Authority/submit(_:from:)``.
    func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws -> UntypedVerdicts

    /// See ``Authority/changes(after:waiting:)``.
    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(WaitingFailure) -> UntypedChanges
}

extension Authority where WaitingFailure == AuthorityFailure {
    public func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await changes(after: device)
    }
}

/// An intent on its way to the authority. Each attempt sends the same bytes under the same id.
public struct Submission<Event: Sendable>: Sendable {
    public let id: IntentID
    /// The device's time of recording. It may be wrong, and no decision should depend on it.
    public let time: Timestamp
    /// The `info` that the app recorded with the intent.
    public let info: [String: String]
    /// The number of the intent's lane in its request, from 0 up; nil if all are in one lane.
    ///
    /// ``Verdict/later(after:reason:)`` ends its lane: the authority gives no verdict on later intents of
    /// that lane, and decides on those of other lanes.
    public let lane: Int?
    /// The event and its bytes. One object, so that all submissions have the same layout: else
    /// unspecialized code would look it up at each use.
    package let payload: Payload

    public init(
        id: IntentID, event: Event, recorded: RecordedEvent, time: Timestamp,
        info: [String: String], lane: Int? = nil
    ) {
        self.init(
            id: id,
            payload: Payload(
                bytes: recorded.bytes, format: recorded.format, content: .event(event)),
            time: time, info: info, lane: lane)
    }

    /// - Precondition: the payload has an event of type `Event`.
    init(
        id: IntentID, payload: Payload, time: Timestamp, info: [String: String], lane: Int?
    ) {
        self.id = id
        self.payload = payload
        self.time = time
        self.info = info
        self.lane = lane
    }

    /// The event as this code reads it.
    public var event: Event { payload.requiredEvent() }

    /// The event exactly as the log has it. Send these bytes: an update of the app may encode
    /// ``event`` in another way, and the authority refuses the same id with other content (A1).
    public var recorded: RecordedEvent {
        RecordedEvent(format: payload.format, bytes: payload.bytes)
    }
}

/// An authority's answer to a request: its verdicts, and where its data stands.
public struct Verdicts<Event: Sendable>: Sendable {
    /// The verdicts by intent id.
    public let byIntent: [IntentID: Verdict<Event>]
    /// The authority's lineage; nil if it has none.
    public let lineage: Lineage?
    /// The authority's highest position; nil if it has none.
    public let head: Position?

    public init(
        _ byIntent: [IntentID: Verdict<Event>], lineage: Lineage? = nil, head: Position? = nil
    ) {
        self.byIntent = byIntent
        self.lineage = lineage
        self.head = head
    }

    /// The verdict on an intent; nil if the answer has none.
    public subscript(_ intent: IntentID) -> Verdict<Event>? { byIntent[intent] }
}

extension Verdicts: Equatable where Event: Equatable {}

extension Submission: Equatable where Event: Equatable {
    public static func == (a: Submission, b: Submission) -> Bool {
        a.id == b.id && a.recorded == b.recorded && a.event == b.event && a.time == b.time
            && a.info == b.info
    }
}

/// An authority's decision on one intent.
public enum Verdict<Event: Sendable>: Sendable {
    /// The intent is accepted.
    ///
    /// `position`, from 1 up, is the position at which the downlink will deliver the effect (F3). A
    /// log that is confirmed by acknowledgements does not use it (F4). `replacement` is the event
    /// that the authority applied in place of the intent's own event; nil if it applied that. It may
    /// be bytes that this code cannot read (E4).
    case accepted(position: Position?, replacement: DeliveredEvent<Event>?)
    /// The intent is refused. This is final (A4).
    case rejected(Rejection)
    /// The authority has not decided yet. The outbox sends the intent again: after `after`, which
    /// is limited to ``SyncPolicy/delayMax``, or with backoff if `after` is nil or not positive.
    ///
    /// Under a policy that keeps order (``SyncPolicy/ordered``), all later intents of the log wait
    /// too. So do not postpone an intent until a later intent of the same log arrives: neither would
    /// ever be decided. Reject it, and the user can retry it after the other intent.
    case later(after: Duration?, reason: String)
}

extension Verdict: Equatable where Event: Equatable {}

/// A page of the authority's confirmed events.
public struct Changes<Event: Sendable>: Sendable {
    /// The events. Pass an event as the bytes that the server sent if a newer app may have written
    /// it: an event that this code cannot read then delays no other event (E4).
    public let events: [ConfirmedEvent<Event>]
    /// The position up to which the authority has now delivered everything that this replica may
    /// see (A2).
    public let through: Position
    /// Whether the authority has more events now.
    public let hasMore: Bool
    /// The authority's lineage; nil if it has none.
    public let lineage: Lineage?
    /// The authority's highest position; nil if it has none. It can be above ``through``.
    public let head: Position?
    /// The authority's digest at ``through``; nil if it has none. The device sends it back, and the
    /// authority answers `.superseded` if it has another digest there (N6).
    public let digest: RunningDigest?

    public init(
        events: [ConfirmedEvent<Event>], through: Position, hasMore: Bool,
        lineage: Lineage? = nil, head: Position? = nil, digest: RunningDigest? = nil
    ) {
        self.events = events
        self.through = through
        self.hasMore = hasMore
        self.lineage = lineage
        self.head = head
        self.digest = digest
    }
}

extension Changes: Equatable where Event: Equatable {}

/// The reason why a request had no usable answer.
///
/// A failure answers no intent (A4). The authority may have accepted none, some or all of the
/// intents. The outbox sends them again under the same ids (A1).
@nonexhaustive
public enum AuthorityFailure: Error, Hashable, Sendable {
    /// No answer came: no connection, or a timeout. A server error is ``failed(reason:)``.
    ///
    /// The request is retried with backoff. An outbox also retries at once when the device comes
    /// online.
    case unreachable(reason: String)
    /// The authority accepts no requests now: it is overloaded, or under maintenance.
    ///
    /// The request is retried after `after`, which is limited to ``SyncPolicy/delayMax``, or with
    /// backoff if `after` is nil or not positive.
    case unavailable(after: Duration?, reason: String)
    /// The authority does not know the user: credentials are missing or not valid. An outbox sends
    /// nothing until ``LinkChange/signedIn``.
    case unauthenticated(reason: String)
    /// The answer cannot be understood.
    ///
    /// An outbox retries with backoff, because the next answer may be valid, and shows the reason
    /// in its status.
    case invalidAnswer(reason: String)
    /// The request reached the authority, and the authority failed on it: an HTTP status 500, for
    /// example. Nothing is known about its intents.
    ///
    /// One of them may be the cause. So an outbox retries with backoff, and halves the request
    /// after three failures. At last it quarantines an intent that keeps failing alone (S3).
    case failed(reason: String)
    /// The authority is not the authority that the log has answers from, or it has lost data. It
    /// has decided nothing.
    ///
    /// `shared` is the last position up to which the authority and the device have the same events;
    /// 0 if the authority has another lineage. The outbox and the downlink end with
    /// ``SyncError/superseded(shared:)``, which says how to continue.
    case superseded(shared: Position)

    /// The reason, for display and log files.
    public var reason: String {
        switch self {
        case .unreachable(let reason), .unavailable(_, let reason), .unauthenticated(let reason),
            .invalidAnswer(let reason), .failed(let reason):
            reason
        case .superseded(let shared): "\(CommandError.superseded(shared: shared))"
        }
    }
}

extension AuthorityFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let reason): "the server could not be reached: \(reason)"
        case .unavailable(_, let reason): "the server accepts no requests now: \(reason)"
        case .unauthenticated(let reason): "the server does not accept the user: \(reason)"
        case .invalidAnswer(let reason): "the server's answer cannot be used: \(reason)"
        case .failed(let reason): "the server failed on the request: \(reason)"
        case .superseded: reason
        }
    }
}

extension AuthorityFailure: LocalizedError {
    /// What happened, as a sentence.
    public var errorDescription: String? {
        guard case .superseded(let shared) = self else { return description.asSentence }
        return CommandError.superseded(shared: shared).errorDescription
    }

    /// What to do, as a sentence; nil if waiting is enough.
    public var recoverySuggestion: String? {
        switch self {
        case .unreachable: "Check the connection."
        case .unauthenticated: "Sign in again."
        case .superseded(let shared): CommandError.superseded(shared: shared).recoverySuggestion
        case .unavailable, .invalidAnswer, .failed: nil
        }
    }
}
