import Foldback
import FoldbackSync

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A server of Foldback's HTTP interface, as one user's devices use it.
///
/// ```swift
/// let server = HTTPAuthority<Documents.Event>(
///     URL(string: "https://sync.example.com")!, space: "default"
/// ) { refused in try await session.token(renewing: refused) }
/// let sync = Sync(store, with: server, policy: .ordered)
/// ```
/// The server may be `foldback-server`, an app's own rules over FoldbackServer, or any backend that keeps
/// the contract of the article "Your own backend". Intents go out and events come in as they were
/// recorded, so no codec is needed.
///
/// Each call ends within its time limit, and each answer has at most ``ClientLimits/answerBytesMax`` bytes.
/// Redirects are not followed: the token is for one server. The article "Sync an app" of FoldbackSync has
/// the table of what each status means, and <doc:FromZeroToASyncedApp> shows an app.
public struct HTTPAuthority<Event: Sendable>: Authority {
    private let space: URL
    private let limits: ClientLimits
    private let transport: any HTTPTransport
    private let tokens: TokenSource

    /// - Parameters:
    ///   - server: the address of the server, with a path if it has one.
    ///   - space: the name of the space.
    ///   - limits: the time limits and sizes of calls.
    ///   - transport: carries requests.
    ///   - token: returns the user's token. It is asked once, and again when the server refuses a
    ///     token, which it then gets, so that it can make or fetch a fresh one. Several calls wait for one
    ///     answer. It throws `.unauthenticated` if nobody is signed in, or `.unreachable` if it cannot
    ///     fetch a token now.
    public init(
        _ server: URL, space: String, limits: ClientLimits = ClientLimits(),
        transport: any HTTPTransport = URLSessionTransport.shared,
        token: @escaping @Sendable (_ refused: String?) async throws(AuthorityFailure) -> String
    ) {
        self.space = server.appending(components: "v1", "spaces", space)
        self.limits = limits
        self.transport = transport
        tokens = TokenSource(token)
    }

    public func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        let answer = try await answer(
            to: ClientRequest(
                method: "POST", url: space.appending(component: "intents"),
                headers: ["Content-Type": "application/json"],
                body: SubmitRequest(intents, from: device).jsonBytes(), limit: limits.call,
                answerBytesMax: limits.answerBytesMax))
        if let rejection = answer.rejection, let alone = intents.first, intents.count == 1 {
            return Verdicts([alone.id: .rejected(rejection)])
        }
        let verdicts = try answer.json()
        do { return try Verdicts(json: verdicts, answering: intents.first?.id.replica) } catch {
            throw .invalidAnswer(reason: "\(error)")
        }
    }

    public func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await changes(after: device, waiting: .zero)
    }

    public func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        let wait = min(max(waiting, .zero), ClientLimits.waitMax)
        var query = [URLQueryItem(name: "after", value: "\(device.through)")]
        query += device.lineage.map { [URLQueryItem(name: "lineage", value: $0.name.string)] } ?? []
        query += device.digest.map { [URLQueryItem(name: "digest", value: $0.text.string)] } ?? []
        if wait > .zero {
            // Whole seconds. A short wait must not become none, or the device would ask in a circle.
            let seconds = max(1, wait.components.seconds)
            query.append(URLQueryItem(name: "wait", value: "\(seconds)"))
        }
        let page = try await answer(
            to: ClientRequest(
                method: "GET",
                url: space.appending(component: "changes").appending(encoding: query),
                limit: limits.call + wait, answerBytesMax: limits.answerBytesMax)
        ).json()
        do { return try Changes(json: page) } catch { throw .invalidAnswer(reason: "\(error)") }
    }

    /// Carries a request within its limit, whatever the app's function for tokens and the transport do.
    private func answer(
        to request: ClientRequest
    ) async throws(AuthorityFailure) -> ServerAnswer {
        let outcome = Outcome<ServerAnswer>()
        let work = Task {
            do throws(AuthorityFailure) {
                outcome.end(.success(try await exchange(request)))
            } catch { outcome.end(.failure(error)) }
        }
        return try await outcome.value(within: request.limit) { work.cancel() }
    }

    /// Carries a request with the user's token, and with a fresh one if the server refuses the first.
    private func exchange(
        _ request: ClientRequest
    ) async throws(AuthorityFailure) -> ServerAnswer {
        var request = request
        request.headers["Accept"] = "application/json, application/problem+json"
        let token = try await tokens.token()
        request.headers["Authorization"] = "Bearer \(token)"
        let first = ServerAnswer(try await transport.send(request))
        guard first.response.status == 401 else { return first }
        let fresh = try await tokens.token(after: token)
        guard fresh != token else { return first }
        request.headers["Authorization"] = "Bearer \(fresh)"
        return ServerAnswer(try await transport.send(request))
    }
}

extension HTTPAuthority {
    /// Creates a client with a token that stays valid, for tools and tests.
    public init(
        _ server: URL, space: String, token: String, limits: ClientLimits = ClientLimits(),
        transport: any HTTPTransport = URLSessionTransport.shared
    ) {
        self.init(server, space: space, limits: limits, transport: transport) { _ in token }
    }
}

extension URL {
    /// Returns the address with a query. `+` is encoded too: many servers read it as a space.
    fileprivate func appending(encoding items: [URLQueryItem]) -> URL {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return appending(queryItems: items)
        }
        components.queryItems = items
        components.percentEncodedQuery = components.percentEncodedQuery?
            .replacing("+", with: "%2B")
        return components.url ?? appending(queryItems: items)
    }
}
