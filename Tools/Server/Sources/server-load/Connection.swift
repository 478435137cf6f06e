import FaultyNetwork
import Foundation

/// A connection to a server on this machine, with one request at a time.
///
/// Calls block. It does as little as possible, because it shares the processor with the server.
final class Connection {
    private let socket: Int32
    private var buffer: [UInt8]
    /// The place of the last answer's body in the buffer.
    private var place = 0..<0

    /// - Throws: ``LoadError`` if nothing listens there.
    init(to port: Int, bufferBytes: Int = 64 << 10) throws(LoadError) {
        buffer = [UInt8](repeating: 0, count: bufferBytes)
        do { socket = try Sockets.connect(port, delays: false) } catch {
            throw LoadError("port \(port) does not answer: \(error)")
        }
    }

    deinit { close(socket) }

    /// Sends a request and returns the body of the answer.
    ///
    /// - Throws: ``LoadError`` if the connection ends, or the answer's status is not 200.
    @discardableResult
    func exchange(_ request: [UInt8]) throws(LoadError) -> ArraySlice<UInt8> {
        try send(request)
        return try receive()
    }

    func send(_ request: [UInt8]) throws(LoadError) {
        guard Sockets.send(request[...], to: socket) else {
            throw LoadError("a request cannot be sent: \(errno)")
        }
    }

    /// Waits for an answer and returns its body.
    func receive() throws(LoadError) -> ArraySlice<UInt8> {
        var end = 0
        var whole = Int.max
        while end < whole {
            if end == buffer.count { buffer += [UInt8](repeating: 0, count: buffer.count) }
            let count = buffer.withUnsafeMutableBytes {
                recv(socket, $0.baseAddress! + end, $0.count - end, 0)
            }
            guard count > 0 else { throw LoadError("the connection ended: \(errno)") }
            end += count
            guard whole == .max, let head = buffer[..<end].first("\r\n\r\n") else { continue }
            guard let length = buffer[..<head].number(after: "\r\nContent-Length: ") else {
                throw LoadError("an answer has no length")
            }
            place = head + 4..<head + 4 + length
            whole = place.upperBound
        }
        guard buffer[..<12].first("HTTP/1.1 200") == 0 else {
            throw LoadError("wrong answer: \(String(decoding: buffer[..<end], as: UTF8.self))")
        }
        return buffer[place]
    }
}

extension ArraySlice<UInt8> {
    /// Returns the place of a text.
    func first(_ text: StaticString) -> Int? {
        let count = text.utf8CodeUnitCount
        return withUnsafeBytes { bytes in
            guard var rest = bytes.baseAddress else { return nil }
            let end = rest + bytes.count
            while end - rest >= count,
                let found = memchr(rest, Int32(text.utf8Start[0]), end - rest - count + 1)
            {
                if memcmp(found, text.utf8Start, count) == 0 {
                    return startIndex + (UnsafeRawPointer(found) - bytes.baseAddress!)
                }
                rest = UnsafeRawPointer(found) + 1
            }
            return nil
        }
    }

    /// The number of times that a text is there.
    func count(of text: StaticString) -> Int {
        var (count, rest) = (0, self)
        while let found = rest.first(text) {
            count += 1
            rest = rest[(found + text.utf8CodeUnitCount)...]
        }
        return count
    }

    /// Returns the number after a text.
    func number(after text: StaticString) -> Int? {
        guard let found = first(text) else { return nil }
        let digits = self[(found + text.utf8CodeUnitCount)...].prefix { 48...57 ~= $0 }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1) - 48 }
    }
}

/// The reason why a run failed.
struct LoadError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
