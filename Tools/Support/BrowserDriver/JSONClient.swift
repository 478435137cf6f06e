import Foldback
import Foundation
import Processes

/// Sends JSON over HTTP/1.1 to a server on this machine, with a connection for each request.
///
/// `URLSession` of Swift 6.3 on Linux cannot talk to chromedriver: it refuses a header line without
/// a space after the colon, such as `Content-Length:12`.
package struct JSONClient: Sendable {
    /// An answer with any status.
    package struct Answer: Sendable {
        package let status: Int
        /// Where a redirection leads; nil for other answers.
        package let location: String?
        package let body: JSON
    }

    /// The port on 127.0.0.1.
    package let port: UInt16

    /// The longest pause of an answer. A server that hangs ends a test with an error. It is longer
    /// than ``WebDriver/scriptSecondsMax``.
    package static let pauseSecondsMax = 150

    package init(port: UInt16) { self.port = port }

    /// - Parameter path: starts with `/`, and may have a query.
    /// - Throws: ``ConnectionError`` if there was no whole answer.
    package func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> Answer
    {
        let content = body?.encoded ?? []
        let head = """
            \(method) \(path) HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Connection: close\r
            Content-Type: application/json\r
            Content-Length: \(content.count)\r
            \r\n
            """
        let received = try await onThread { try exchange(Array(head.utf8) + content) }
        return try Self.answer(received)
    }

    private func exchange(_ request: [UInt8]) throws -> [UInt8] {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw ConnectionError("socket", errno) }
        defer { close(socket) }
        Self.limitPauses(of: socket)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        guard connected == 0 else { throw ConnectionError("connect", errno) }
        var sentCount = 0
        while sentCount < request.count {
            let count = request[sentCount...].withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw ConnectionError("send", errno) }
            sentCount += count
        }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while Self.missingByteCount(received) != 0 {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count >= 0 else { throw ConnectionError("recv", errno) }
            if count == 0 { break }
            received += buffer[..<count]
        }
        return received
    }

    private static func limitPauses(of socket: Int32) {
        var limit = timeval(tv_sec: pauseSecondsMax, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(
                socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Returns how many bytes of the answer are still to come; nil if only the end of the
    /// connection tells.
    private static func missingByteCount(_ received: [UInt8]) -> Int? {
        guard let (head, body) = parts(of: received),
            let length = head.firstMatch(of: /(?i)\r\ncontent-length:\s*(\d+)/)?.1
        else { return nil }
        return Int(length).map { max(0, $0 - body.count) }
    }

    private static func parts(of received: [UInt8]) -> (head: String, body: ArraySlice<UInt8>)? {
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self)
        return (head, received[end.upperBound...])
    }

    private static func answer(_ received: [UInt8]) throws -> Answer {
        guard let (head, body) = parts(of: received),
            let status = head.firstMatch(of: /^HTTP\/1\.\d (\d+)/).flatMap({ Int($0.1) }),
            missingByteCount(received) ?? 0 == 0
        else { throw ConnectionError("incomplete answer", 0) }
        let location = head.firstMatch(of: /(?i)\r\nlocation:\s*(\S+)/).map { String($0.1) }
        return Answer(
            status: status, location: location,
            body: body.isEmpty ? .null : try JSON(parsing: Array(body)))
    }
}

/// A server did not answer, for example because its process was killed.
package struct ConnectionError: Error, CustomStringConvertible {
    package let call: String
    package let code: Int32

    package init(_ call: String, _ code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
