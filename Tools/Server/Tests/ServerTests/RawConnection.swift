import FaultyNetwork
import Foundation

/// A connection that sends whatever bytes a test wants.
///
/// Its calls block for at most 30 seconds.
final class RawConnection: Sendable {
    private let socket: Int32

    /// - Parameter receiveBuffer: the bytes that the system keeps for a reader that does not read.
    init(_ port: Int, receiveBuffer: Int32? = nil) throws {
        socket = try Sockets.connect(port, receiveBuffer: receiveBuffer)
    }

    deinit { Foundation.close(socket) }

    /// Sends all bytes. Returns false if the server has closed the connection, or does not read.
    @discardableResult func send(_ bytes: some Sequence<UInt8>) -> Bool {
        Sockets.send(Array(bytes)[...], to: socket)
    }

    @discardableResult func send(_ text: String) -> Bool { send(text.utf8) }

    /// Ends this direction, and goes on reading.
    func endSending() { shutdown(socket, Int32(SHUT_WR)) }

    /// Returns the next bytes: none at the end, or after 30 seconds without any.
    func read() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(socket, &buffer, buffer.count, 0)
        return Array(buffer.prefix(max(0, count)))
    }

    /// Returns the next answer; nil if the connection ends before it.
    func answer() -> RawAnswer? {
        var bytes: [UInt8] = []
        while true {
            if let answer = RawAnswer(bytes) { return answer }
            let more = read()
            guard !more.isEmpty else { return nil }
            bytes += more
        }
    }
}

/// An answer as it came over the wire.
struct RawAnswer: Sendable {
    let status: Int
    /// The headers as text.
    let head: String
    let body: String

    init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        head = String(text[..<end.lowerBound])
        let words = head.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        self.status = status
        let length = head.lowercased().split(separator: "\r\n")
            .first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).drop { $0 == " " }) }
        let body = text[end.upperBound...]
        guard body.utf8.count >= length ?? 0 else { return nil }
        self.body = String(body)
    }
}

/// Sends a request on a connection of its own, and returns the answer; nil if the connection just ends.
func answer(of port: Int, _ text: String) async throws -> RawAnswer? {
    try await onOwnThread {
        let connection = try RawConnection(port)
        connection.send(text)
        return connection.answer()
    }
}

/// Calls a function that blocks for long. Many of them may run at once.
func onOwnThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// The text of a request.
func requestText(
    _ method: String, _ path: String, token: String? = nil, headers: [String] = [],
    body: String = ""
) -> String {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"] + headers
    if let token { lines.append("Authorization: Bearer \(token)") }
    if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
}
