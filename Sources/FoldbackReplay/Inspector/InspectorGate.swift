#if ReplayTool
    import FlyingFox
    import Foundation
    import Synchronization

    /// A request that the server refuses, with the reason in words.
    struct Refusal: Error {
        let status: HTTPStatusCode
        let reason: String
        /// Whether the connection must end, because the rest of the body would be taken for the
        /// next request.
        var endsConnection = false
    }

    /// The secret of one run of the inspector, and the place where it listens.
    final class InspectorAccess: Sendable {
        /// 128 random bits as 32 hexadecimal digits.
        let token: String
        private let listening = Atomic<UInt16>(0)
        private let opened = Atomic(false)

        init() {
            var random = SystemRandomNumberGenerator()
            token = (0..<2).map { _ in
                let digits = String(random.next(), radix: 16)
                return String(repeating: "0", count: 16 - digits.count) + digits
            }.joined()
        }

        func listens(on port: UInt16) { listening.store(port, ordering: .releasing) }

        /// 0 until the server listens.
        var port: UInt16 { listening.load(ordering: .acquiring) }

        /// Whether a browser has opened the address with the token.
        var wasOpened: Bool { opened.load(ordering: .acquiring) }

        func opens() { opened.store(true, ordering: .releasing) }

        /// The cookie's name. Cookies do not know ports, so inspectors on several ports need
        /// several names.
        ///
        /// For the same reason, the browser sends this cookie to every server on 127.0.0.1 that its
        /// user opens. Such a server can then read the log until the inspector ends.
        var cookieName: String { "foldback-\(port)" }

        var cookie: String { "\(cookieName)=\(token); Path=/; HttpOnly; SameSite=Strict" }

        /// Whether a text is the token. The time does not depend on where the two differ.
        func isToken(_ text: String) -> Bool {
            let given = Array(text.utf8)
            let own = Array(token.utf8)
            var difference = given.count ^ own.count
            for index in own.indices {
                difference |= Int(own[index] ^ (index < given.count ? given[index] : 0))
            }
            return difference == 0
        }

        /// Whether a header `Cookie` has the token under this server's name.
        func isAdmitted(_ cookies: String?) -> Bool {
            let wanted = cookieName + "="
            return (cookies ?? "").split(separator: ";")
                .map { $0.trimmingCharacters(in: .whitespaces) }
                .contains { $0.hasPrefix(wanted) && isToken(String($0.dropFirst(wanted.count))) }
        }

        /// Checks who sent a request and what it carries, before anything is looked up.
        ///
        /// Any page in a browser can send requests to 127.0.0.1. A page whose name was pointed
        /// there (DNS rebinding) sends its own name as the host. A page of another origin names its
        /// origin, and has no cookie. Other users of this machine do not know the token.
        func check(_ request: HTTPRequest) throws(Refusal) {
            let hosts = ["127.0.0.1", "localhost"].flatMap {
                // Browsers leave out the default port.
                port == 80 ? ["\($0):80", $0] : ["\($0):\(port)"]
            }
            guard let host = request.headers[.host], hosts.contains(host) else {
                throw Refusal(status: .forbidden, reason: "the host must be one of \(hosts)")
            }
            if let origin = request.headers[HTTPHeader("Origin")] {
                guard hosts.contains(where: { origin == "http://\($0)" }) else {
                    throw Refusal(status: .forbidden, reason: "another origin sent the request")
                }
            }
            // A link in another page may lead to this page, but only to it.
            if let site = request.headers[HTTPHeader("Sec-Fetch-Site")],
                request.target.path() != "/", site != "same-origin", site != "none"
            {
                throw Refusal(status: .forbidden, reason: "another site sent the request")
            }
            guard request.method == .GET || request.method == .POST else {
                throw Refusal(
                    status: .methodNotAllowed, reason: "only GET and POST are possible here")
            }
        }

        /// Checks that a request may see the log.
        func requireAdmitted(_ request: HTTPRequest) throws(Refusal) {
            guard isAdmitted(request.headers[.cookie]) else {
                throw Refusal(
                    status: .unauthorized,
                    reason: "open the address that the command printed; it has a token")
            }
            guard request.method == .POST else { return }
            let type = request.headers[.contentType]?.split(separator: ";").first
            guard type?.trimmingCharacters(in: .whitespaces).lowercased() == "application/json"
            else {
                throw Refusal(
                    status: .unsupportedMediaType,
                    reason: "the content type must be application/json"
                )
            }
        }
    }

    extension HTTPRequest {
        /// Whether FlyingFox reads the rest of the body by itself, before it sends the answer. The
        /// rest of other bodies would be taken for the next request.
        var isBodyDrained: Bool {
            bodySequence.count.map { $0 <= InspectorLimits.drainedBytesMax } ?? false
        }

        /// Reads the whole body.
        func bytesOfBody() async throws -> [UInt8] {
            var body: [UInt8] = []
            var count = 0
            let reason = "a body has at most \(InspectorLimits.bodyBytesMax) bytes"
            for try await part in bodySequence {
                count += part.count
                guard count <= InspectorLimits.bytesReadMax else {
                    throw Refusal(
                        status: .payloadTooLarge, reason: reason, endsConnection: true)
                }
                if count <= InspectorLimits.bodyBytesMax { body += part }
            }
            guard count <= InspectorLimits.bodyBytesMax else {
                throw Refusal(status: .payloadTooLarge, reason: reason)
            }
            return body
        }
    }
#endif
