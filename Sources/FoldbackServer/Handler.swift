import Foldback
import FoldbackSync

/// The HTTP side of an authority as a value, without a server: it turns requests into calls, and answers
/// and failures into JSON.
///
/// ```swift
/// let handler = Handler(spaces) { bearer in tokens.account(of: bearer) }
/// let response = await handler.respond(to: request)
/// ```
/// | request | answer |
/// |---|---|
/// | `POST /v1/spaces/{space}/intents`, a ``/FoldbackSync/SubmitRequest`` | ``/FoldbackSync/Verdicts`` |
/// | `GET /v1/spaces/{space}/changes?after=90&lineage=9b6d…&digest=5f0c…&wait=25` | ``/FoldbackSync/Changes`` |
///
/// `after` is 0 without it. With `wait`, the answer waits for an event, for as many seconds as it says, at most 55.
/// Failures are problem documents (RFC 9457). The table of statuses is in the article "Sync an app" of FoldbackSync.
///
/// The caller bounds what it reads: a body has at most ``bodyBytesMax`` bytes.
public struct Handler<Event: Sendable>: Sendable {
    /// Bytes of a request's body. More is answered with 413.
    public static var bodyBytesMax: Int { SpaceLimits.requestBytesMax }

    private let codec: AppCodec<Event>
    private let recording: any EventCodec<Event>
    private let authenticate: @Sendable (String?) async -> Account?
    private let authority: @Sendable (Account, SpaceName) -> any Authority<Event>
    private let report: @Sendable (AuthorityFailure) -> Void

    /// Creates a handler over any authority.
    ///
    /// - Parameters:
    ///   - codec: reads the events of requests, and writes those of answers.
    ///   - authenticate: returns the account of a token; nil if it is not valid.
    ///   - report: takes each failure, for the server's own log. Clients do not get its reason, which may
    ///     name files of the server.
    ///   - authority: returns the authority of an account for a space. It decides about access.
    public init(
        codec: any EventCodec<Event>,
        authenticate: @escaping @Sendable (_ bearer: String?) async -> Account?,
        report: @escaping @Sendable (AuthorityFailure) -> Void = { _ in },
        authority: @escaping @Sendable (Account, SpaceName) -> any Authority<Event>
    ) {
        self.codec = AppCodec(codec: codec)
        recording = codec
        self.authenticate = authenticate
        self.report = report
        self.authority = authority
    }

    /// Creates a handler over spaces.
    ///
    /// - Parameters:
    ///   - spaces: the spaces of the server.
    ///   - report: takes each failure, for the server's own log.
    ///   - authenticate: returns the account of a token; nil if it is not valid.
    public init<R: Rules>(
        _ spaces: Spaces<R>, report: @escaping @Sendable (AuthorityFailure) -> Void = { _ in },
        authenticate: @escaping @Sendable (_ bearer: String?) async -> Account?
    ) where R.State.Event == Event {
        self.init(codec: R.State.codec, authenticate: authenticate, report: report) {
            spaces.authority(for: $0, in: $1)
        }
    }

    /// Carries out a request. It always returns an answer.
    ///
    /// If the task is canceled, a request that waits ends soon. Intents may be decided all the same.
    public func respond(to request: ServerRequest) async -> ServerResponse {
        do throws(Problem) {
            let (resource, authority) = try await target(of: request)
            switch resource {
            case .intents: return try await submit(request, to: authority)
            case .changes: return try await fetch(request, from: authority)
            }
        } catch { return error.response }
    }

    /// Returns the answer to a request whose body need not be read, because it has no valid token, or
    /// nothing is at its path; nil for others.
    ///
    /// Ask it before you read a body, so that clients without a token cost no memory.
    public func refusal(of request: ServerRequest) async -> ServerResponse? {
        do throws(Problem) {
            _ = try await target(of: request)
            return nil
        } catch { return error.response }
    }

    private func target(
        of request: ServerRequest
    ) async throws(Problem) -> (Resource, any Authority<Event>) {
        let (space, resource) = try Self.place(of: request)
        guard let account = await authenticate(request.bearer) else {
            throw Problem(401, "the request has no valid token")
        }
        return (resource, authority(account, space))
    }

    // MARK: Routes

    private enum Resource { case intents, changes }

    private static func place(
        of request: ServerRequest
    ) throws(Problem) -> (SpaceName, Resource) {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "v1", parts[2] == "spaces",
            let space = SpaceName(String(parts[3]))
        else { throw Problem(404, "there is nothing at this path") }
        let (resource, method): (Resource, String) =
            switch parts[4] {
            case "intents": (.intents, "POST")
            case "changes": (.changes, "GET")
            default: throw Problem(404, "there is nothing at this path")
            }
        guard request.method == method else {
            throw Problem(405, "the method must be \(method)", headers: ["Allow": method])
        }
        return (space, resource)
    }

    // MARK: Intents

    private func submit(
        _ request: ServerRequest, to authority: any Authority<Event>
    ) async throws(Problem) -> ServerResponse {
        guard request.body.count <= Self.bodyBytesMax else {
            throw Problem(413, "a body has at most \(Self.bodyBytesMax) bytes")
        }
        let sent: SubmitRequest<RecordedEvent>
        do { sent = try SubmitRequest(json: try JSON(parsing: request.body)) } catch {
            throw Problem(400, "the body is not a request: \(error)")
        }
        guard firstOutOfOrder(sent.intents) == nil else {
            throw Problem(400, "the intents of a replica must be ascending by number")
        }
        guard sent.intents.allSatisfy({ !$0.id.replica.name.string.utf8.contains(0) }) else {
            throw Problem(400, "the name of a replica must not have a NUL")
        }
        // A space decides on the first ones, and the others come again.
        let (intents, unread) = readable(sent.intents.prefix(SpaceLimits.groupCountMax))
        do throws(AuthorityFailure) {
            var answer = try await authority.submit(intents, from: sent.device)
            for (lane, id) in unread
            where intents.allSatisfy({ $0.lane != lane || answer[$0.id]?.isFinal ?? false }) {
                answer = answer.adding(.serverIsOlder, on: id)
            }
            return try Self.response(answer) { try $0.recorded(by: recording).json() }
        } catch {
            report(error)
            throw Problem(error)
        }
    }

    /// Of each lane, the intents before the first one that this code cannot read whole, and that one
    /// (N13).
    private func readable(
        _ intents: ArraySlice<Submission<RecordedEvent>>
    ) -> ([Submission<Event>], unread: [Int?: IntentID]) {
        var readable: [Submission<Event>] = []
        var unread: [Int?: IntentID] = [:]
        for intent in intents where unread[intent.lane] == nil {
            let recorded = intent.recorded
            let payload = codec.payload(reading: recorded.bytes, format: recorded.format)
            guard case .event(let event) = payload.content, let event = event as? Event,
                payload.unreadPart == nil
            else {
                unread[intent.lane] = intent.id
                continue
            }
            readable.append(
                Submission(
                    id: intent.id, event: event, recorded: recorded, time: intent.time,
                    info: intent.info, lane: intent.lane))
        }
        return (readable, unread)
    }

    // MARK: Changes

    private func fetch(
        _ request: ServerRequest, from authority: any Authority<Event>
    ) async throws(Problem) -> ServerResponse {
        let query = try Query(request.query)
        let wait = try query.number("wait") ?? 0
        let device = SyncPoint(
            lineage: try query.value("lineage", Lineage.init),
            through: Position(try query.number("after") ?? 0),
            digest: try query.value("digest", RunningDigest.init))
        do throws(AuthorityFailure) {
            let page =
                if wait == 0 {
                    try await authority.changes(after: device)
                } else {
                    try await authority.changes(
                        after: device,
                        waiting: min(.seconds(Int64(clamping: wait)), SpaceLimits.waitMax))
                }
            return try Self.response(page) { try $0.recorded(by: recording).json() }
        } catch {
            // The client is gone, or the server ends its polls.
            if !Task.isCancelled { report(error) }
            throw Problem(error)
        }
    }

    private static func response<Answer>(
        _ answer: Answer, _ json: (Answer) throws -> JSON
    ) throws(AuthorityFailure) -> ServerResponse {
        do {
            return ServerResponse(
                status: 200, headers: ["Content-Type": "application/json"],
                body: try json(answer).encoded)
        } catch { throw .failed(reason: "the answer cannot be written: \(error)") }
    }
}

extension Verdicts {
    fileprivate func adding(_ verdict: Verdict<Event>, on id: IntentID) -> Verdicts {
        var verdicts = byIntent
        verdicts[id] = verdict
        return Verdicts(verdicts, lineage: lineage, head: head)
    }
}
