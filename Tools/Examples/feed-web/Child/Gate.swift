import FlyingFox
import Foundation

/// A request that is not carried out, with the reason in words. The status of a command that the
/// present state does not allow is `.conflict`.
struct Refusal: Error {
    let status: HTTPStatusCode
    let reason: String
    /// Whether the connection must end, because the rest of the body would be taken for the next
    /// request.
    let endsConnection: Bool

    init(_ status: HTTPStatusCode, _ reason: String, endsConnection: Bool = false) {
        (self.status, self.reason, self.endsConnection) = (status, reason, endsConnection)
    }
}

/// Refuses requests of other web pages.
///
/// The server listens only on 127.0.0.1, but any page in a browser can send requests there. A page of
/// another origin cannot send JSON without asking first, and is refused then. What it may send without
/// asking, such as a request for an image, says that it comes from another site. A page whose name was
/// pointed to 127.0.0.1 (DNS rebinding) sends its own name as the host.
struct Gate: Sendable {
    let port: UInt16

    static let bodyBytesMax = 65_536
    /// Longer bodies are not even read.
    static let bytesReadMax = 2 << 20

    /// Browsers leave out the default port.
    private var hosts: [String] {
        let names = ["127.0.0.1", "localhost"]
        return names.map { "\($0):\(port)" } + (port == 80 ? names : [])
    }

    /// Reads and checks a request, and returns its body.
    func body(of request: HTTPRequest) async throws -> Data {
        var body = Data()
        var count = 0
        for try await part in request.bodySequence {
            count += part.count
            guard count <= Self.bytesReadMax else {
                throw Refusal(.payloadTooLarge, Self.tooLarge, endsConnection: true)
            }
            if count <= Self.bodyBytesMax { body.append(part) }
        }
        try check(request)
        guard count <= Self.bodyBytesMax else { throw Refusal(.payloadTooLarge, Self.tooLarge) }
        return body
    }

    private static let tooLarge = "this is too long: a request has at most \(bodyBytesMax) bytes"

    private func check(_ request: HTTPRequest) throws(Refusal) {
        guard let host = request.headers[.host], hosts.contains(host) else {
            throw Refusal(.forbidden, "the host must be one of \(hosts)")
        }
        if let origin = request.headers[HTTPHeader("Origin")] {
            guard hosts.contains(where: { origin == "http://\($0)" }) else {
                throw Refusal(.forbidden, "\(origin) is another origin")
            }
        }
        // A link of another site may lead to the page.
        if request.path != "/", let site = request.headers[HTTPHeader("Sec-Fetch-Site")] {
            guard ["same-origin", "none"].contains(site) else {
                throw Refusal(.forbidden, "the request comes from another site")
            }
        }
        guard request.method == .POST else { return }
        let type = request.headers[.contentType]?.split(separator: ";").first
        guard type?.trimmingCharacters(in: .whitespaces).lowercased() == "application/json" else {
            throw Refusal(.unsupportedMediaType, "the content type must be application/json")
        }
    }
}
