#if ReplayTool
    import FlyingFox
    import FlyingSocks
    import Foldback
    import Foundation

    extension HTTPHeaders {
        /// The headers of every answer: nobody keeps it, frames it, or reads it from another origin.
        ///
        /// There are no CORS headers, so a browser shows an answer only to this origin.
        static func safe(policy: String = "default-src 'none'; frame-ancestors 'none'") -> Self {
            [
                .cacheControl: "no-store",
                HTTPHeader("Content-Security-Policy"): policy,
                HTTPHeader("X-Content-Type-Options"): "nosniff",
                HTTPHeader("Referrer-Policy"): "no-referrer",
                HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
                HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
            ]
        }

        func adding(_ header: HTTPHeader, _ value: String) -> HTTPHeaders {
            var headers = self
            headers[header] = value
            return headers
        }
    }

    extension HTTPResponse {
        static func json(_ value: JSON, _ status: HTTPStatusCode = .ok) -> HTTPResponse {
            HTTPResponse(
                statusCode: status,
                headers: .safe().adding(.contentType, "application/json"),
                body: Data(value.printed))
        }

        static func refusal(_ status: HTTPStatusCode, _ reason: String) -> HTTPResponse {
            json(["error": .string(reason)], status)
        }

        /// A refusal after which the connection ends.
        static func lastRefusal(_ status: HTTPStatusCode, _ reason: String) -> HTTPResponse {
            let bytes = (["error": .string(reason)] as JSON).printed
            return HTTPResponse(
                statusCode: status,
                headers: .safe().adding(.contentType, "application/json"),
                body: HTTPBodySequence(from: LastBytes(bytes: bytes), count: bytes.count))
        }

        /// Sends the browser to another path.
        ///
        /// - Parameter byPage: whether a page does it, and not a header. If another site or a file
        ///   led here, a browser that follows the header sends no cookie with SameSite=Strict. It
        ///   does send it if a page of this origin leads on.
        static func redirection(
            to path: String, settingCookie cookie: String, byPage: Bool
        ) -> HTTPResponse {
            guard byPage else {
                return HTTPResponse(
                    statusCode: .seeOther,
                    headers: .safe().adding(.location, path).adding(.setCookie, cookie))
            }
            let headers = HTTPHeaders.safe().adding(.setCookie, cookie)
                .adding(.contentType, "text/html; charset=utf-8")
            return HTTPResponse(
                statusCode: .ok, headers: headers, body: Data(Subprocess.page(leadingTo: path)))
        }

        static func page(_ html: [UInt8], policy: String) -> HTTPResponse {
            HTTPResponse(
                statusCode: .ok,
                headers: .safe(policy: policy).adding(.contentType, "text/html; charset=utf-8"),
                body: Data(html))
        }
    }

    /// The bytes of an answer, and then an error that makes FlyingFox close the connection.
    private struct LastBytes: AsyncBufferedSequence {
        typealias Element = UInt8

        let bytes: [UInt8]

        func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

        struct Iterator: AsyncBufferedIteratorProtocol {
            fileprivate var rest: ArraySlice<UInt8>

            mutating func nextBuffer(suggested count: Int) throws -> ArraySlice<UInt8>? {
                guard !rest.isEmpty else { throw SocketError.disconnected }
                defer { rest = [] }
                return rest
            }

            mutating func next() throws -> UInt8? {
                guard let byte = rest.popFirst() else { throw SocketError.disconnected }
                return byte
            }
        }
    }
#endif
