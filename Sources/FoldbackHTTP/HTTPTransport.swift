import FoldbackSync

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Carries requests to a server: ``URLSessionTransport``, or another HTTP library.
public protocol HTTPTransport: Sendable {
    /// Sends a request and returns the answer, whatever its status.
    ///
    /// It must follow no redirect, because the request has the user's token, and must end soon after the
    /// task is canceled.
    ///
    /// - Throws: `.unreachable` if the request was not sent, if there was no answer within its limit, or if
    ///   the task is canceled; `.failed` if the connection ended after the request was sent, because the
    ///   request may be the cause (S3); `.invalidAnswer` if the answer has more bytes than the request
    ///   allows.
    func send(_ request: ClientRequest) async throws(AuthorityFailure) -> ClientResponse
}

/// A request to a server, as any HTTP library can send it.
public struct ClientRequest: Sendable {
    /// The method in upper case: "POST".
    public var method: String
    public var url: URL
    public var headers: [String: String]
    public var body: [UInt8]
    /// The longest time until the whole answer is there.
    public var limit: Duration
    /// The most bytes of an answer's body, after decompression.
    public var answerBytesMax: Int

    public init(
        method: String, url: URL, headers: [String: String] = [:], body: [UInt8] = [],
        limit: Duration, answerBytesMax: Int
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.limit = limit
        self.answerBytesMax = answerBytesMax
    }
}

/// A server's answer to a request.
public struct ClientResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The headers by name in lower case.
    public let headers: [String: String]
    public let body: [UInt8]

    public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = [String: String](
            headers.map { ($0.lowercased(), $1) }, uniquingKeysWith: { $1 })
        self.body = body
    }
}

/// The time limits and sizes of calls.
public struct ClientLimits: Hashable, Sendable {
    /// The longest wait that a server grants to a long poll.
    static let waitMax: Duration = .seconds(55)

    /// The longest time of a call. A long poll may take its wait more.
    public var call: Duration
    /// The most bytes of an answer. A page has at most 128 KiB of events, but one event may have 16 MiB, or
    /// 22 in base64, and events of one position come together.
    public var answerBytesMax: Int

    public init(call: Duration = .seconds(60), answerBytesMax: Int = 64 << 20) {
        precondition(call > .zero, "the limit of a call must be positive: \(call)")
        precondition(answerBytesMax > 0, "an answer must have a byte: \(answerBytesMax)")
        self.call = call
        self.answerBytesMax = answerBytesMax
    }
}
