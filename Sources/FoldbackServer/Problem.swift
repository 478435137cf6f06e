import Foldback
import FoldbackSync

/// A failure as a problem document (RFC 9457).
struct Problem: Error {
    let status: Int
    let detail: String
    var headers: [String: String] = [:]
    /// The last shared position of a superseded device.
    var shared: Position?

    init(_ status: Int, _ detail: String, headers: [String: String] = [:]) {
        (self.status, self.detail, self.headers) = (status, detail, headers)
    }

    /// The statuses are those of the table in "Sync an app".
    init(_ failure: AuthorityFailure) {
        switch failure {
        case .unauthenticated(let reason): self.init(403, reason)
        case .unavailable(let after, _):
            // Rounded up: an earlier attempt would be in vain.
            let seconds = after.map { max(1, ($0 + .nanoseconds(999_999_999)).components.seconds) }
            self.init(
                503, Self.unavailable, headers: seconds.map { ["Retry-After": "\($0)"] } ?? [:])
        case .unreachable: self.init(503, Self.unavailable)
        case .invalidAnswer: self.init(502, Self.unavailable)
        case .failed: self.init(500, "the server failed on the request")
        case .superseded(let shared):
            self.init(409, "the device has data that this server does not have")
            self.shared = shared
        }
    }

    /// What a device shows behind "the server accepts no requests now".
    private static let unavailable = "try again later"
    private static let titles: [Int: String] = [
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict",
        413: "Content Too Large",
        500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
    ]

    var response: ServerResponse {
        var document: JSON.Object = [
            "title": .string(ExactString(Self.titles[status] ?? "")),
            "status": .integer(Int64(status)), "detail": .string(ExactString(detail)),
        ]
        // It tells a device whose only intent is too large that a server of this contract refused it.
        if status == 413 { document["code"] = "too-large" }
        if let shared {
            document["code"] = .string("superseded")
            document["shared"] = .of(shared)
        }
        var headers = headers
        headers["Content-Type"] = "application/problem+json"
        if status == 401 { headers["WWW-Authenticate"] = "Bearer" }
        return ServerResponse(
            status: status, headers: headers, body: JSON.object(document).encoded)
    }
}
