// FoundationEssentials has no percent encoding.
import Foundation

/// A request to a server, as any HTTP library has it.
public struct ServerRequest: Sendable {
    /// The method in upper case: "GET".
    public var method: String
    /// The path as it came, without the query and not decoded: "/v1/spaces/main/changes".
    public var path: String
    /// The query as it came, without the question mark: "after=90&wait=25".
    public var query: String
    /// The token after "Bearer" in the header "Authorization"; nil without it.
    public var bearer: String?
    public var body: [UInt8]

    public init(
        method: String, path: String, query: String = "", bearer: String? = nil,
        body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.bearer = bearer
        self.body = body
    }
}

/// A server's answer to a request.
public struct ServerResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The headers by name, with the content type.
    public let headers: [String: String]
    /// JSON in UTF-8.
    public let body: [UInt8]
}

extension ServerResponse {
    /// Returns a problem document (RFC 9457), for what a server refuses before it calls a handler.
    ///
    /// - Parameters:
    ///   - status: the HTTP status, from 400.
    ///   - detail: what is wrong with the request, for the client's developer.
    ///   - retryAfter: when the client may ask again, in seconds; nil if it is not known.
    public static func problem(
        _ status: Int, _ detail: String, retryAfter: Int? = nil
    ) -> ServerResponse {
        Problem(status, detail, headers: retryAfter.map { ["Retry-After": "\($0)"] } ?? [:])
            .response
    }
}

/// The members of a query, each name once.
struct Query {
    private var values: [String: String] = [:]

    /// Reads names and values as HTML forms encode them: `+` is a space.
    init(_ text: String) throws(Problem) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String($0).replacing("+", with: " ").removingPercentEncoding }
            guard let name = parts[0], let value = parts.count == 1 ? "" : parts[1] else {
                throw Problem(400, "the query is not encoded well")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw Problem(400, "\(name) is there twice")
            }
        }
    }

    func number(_ name: String) throws(Problem) -> UInt64? {
        // UInt64 alone would read "+1".
        try value(name) { text in text.first == "+" ? nil : UInt64(text) }
    }

    func value<T>(_ name: String, _ read: (String) -> T?) throws(Problem) -> T? {
        guard let text = values[name] else { return nil }
        guard let value = read(text) else {
            throw Problem(400, "\(name) cannot be \"\(text.prefix(80))\"")
        }
        return value
    }
}
