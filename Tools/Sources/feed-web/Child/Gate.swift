import FlyingFox
import Foundation

/// A request that the server does not look at any further, with the reason in words.
struct Refusal: Error {
    let status: HTTPStatusCode
    let reason: String

    init(_ status: HTTPStatusCode, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

/// Refuses requests of other web pages.
///
/// The server listens only on 127.0.0.1, but any page in a browser can send requests there. A page of
/// another origin cannot send JSON without asking first, and is refused then. A page whose name was
/// pointed to 127.0.0.1 (DNS rebinding) sends its own name as the host.
struct Gate: Sendable {
    let port: UInt16

    static let bodyBytesMax = 65_536

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// Reads and checks a request, and returns its body.
    func body(of request: HTTPRequest) async throws -> Data {
        var body = Data()
        var isTooLarge = false
        for try await part in request.bodySequence {
            isTooLarge = isTooLarge || body.count + part.count > Self.bodyBytesMax
            if !isTooLarge { body.append(part) }
        }
        try check(request)
        guard !isTooLarge else {
            throw Refusal(
                .payloadTooLarge, "a body has at most \(Self.bodyBytesMax) bytes")
        }
        return body
    }

    private func check(_ request: HTTPRequest) throws(Refusal) {
        guard let host = request.headers[.host], hosts.contains(host) else {
            throw Refusal(.forbidden, "the host must be one of \(hosts)")
        }
        if let origin = request.headers[HTTPHeader("Origin")] {
            guard hosts.contains(where: { origin == "http://\($0)" }) else {
                throw Refusal(.forbidden, "\(origin) is another origin")
            }
        }
        guard request.method == .POST else { return }
        let type = request.headers[.contentType]?.split(separator: ";").first
        guard type?.trimmingCharacters(in: .whitespaces).lowercased() == "application/json" else {
            throw Refusal(.unsupportedMediaType, "the content type must be application/json")
        }
    }
}
