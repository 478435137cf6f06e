import Foldback
import FoldbackSync

/// An answer of a server: the value that it has, or the failure that its status stands for.
struct ServerAnswer {
    let response: ClientResponse
    /// The members of a problem document (RFC 9457), or of a failure's JSON; nil without them.
    private let problem: JSON.Object?

    init(_ response: ClientResponse) {
        self.response = response
        let isJSON = ["application/problem+json", "application/json"].contains(
            Self.type(of: response))
        problem =
            response.status != 200 && isJSON
            ? (try? JSON(parsing: response.body))?.objectValue : nil
    }

    /// The rejection of a request's only intent; nil for any other answer.
    ///
    /// A rejection is final (A4). A proxy, or a mistake in the address, answers with these statuses too, so
    /// the answer must be JSON with a code.
    var rejection: Rejection? {
        guard [400, 413, 422].contains(response.status),
            let code = problem?["code"]?.stringValue
        else { return nil }
        return Rejection(code: code, message: problem?["detail"]?.stringValue ?? "")
    }

    /// The JSON of a good answer.
    func json() throws(AuthorityFailure) -> JSON {
        guard response.status == 200 else { throw failure }
        guard Self.type(of: response) == "application/json" else {
            // A network that asks for a sign-in answers everything with a page of its own.
            throw .unreachable(reason: "something else than the server answered, without JSON")
        }
        do { return try JSON(parsing: response.body) } catch {
            throw .invalidAnswer(reason: "\(error)")
        }
    }

    /// The table is in the article "Sync an app" of FoldbackSync.
    private var failure: AuthorityFailure {
        let reason = reason
        switch response.status {
        case 300..<400:
            return .unreachable(
                reason: "the address leads to \(response.headers["location"] ?? "another one")")
        case 401, 403: return .unauthenticated(reason: reason)
        // The network was too slow for the server's limit, so the request is not the cause.
        case 408: return .unreachable(reason: reason)
        case 409:
            guard case .integer(let number)? = problem?["shared"],
                let shared = UInt64(exactly: number)
            else { return .failed(reason: reason) }
            return .superseded(shared: Position(shared))
        case 429, 503:
            // A date is not used: this device's clock may be wrong.
            let seconds = response.headers["retry-after"].flatMap { Int64($0) }
            return .unavailable(
                after: seconds.map { .seconds(min(max($0, 0), 86_400)) }, reason: reason)
        default: return .failed(reason: reason)
        }
    }

    private var reason: String {
        let detail = problem?["detail"]?.stringValue ?? problem?["title"]?.stringValue
        return detail.map { "status \(response.status): \($0)" } ?? "status \(response.status)"
    }

    /// The media type without parameters, in lower case.
    private static func type(of response: ClientResponse) -> String {
        let type = response.headers["content-type"]?.split(separator: ";").first ?? ""
        return type.filter { !$0.isWhitespace }.lowercased()
    }
}
