import Foundation

/// Calls of sockets on this computer. They block.
package enum Sockets {
    private static func make() -> Int32 {
        #if canImport(Glibc)
            Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func with<R>(
        _ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Returns a connection to a port.
    ///
    /// - Parameters:
    ///   - receiveBuffer: the bytes that the system keeps for a reader that does not read.
    ///   - delays: whether small parts may wait, so that the system sends them together.
    package static func connect(
        _ port: Int, receiveBuffer: Int32? = nil, delays: Bool = true
    ) throws(SocketError) -> Int32 {
        let socket = make()
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        if var receiveBuffer {
            setsockopt(
                socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer,
                socklen_t(MemoryLayout<Int32>.size))
        }
        if !delays {
            var isOn: Int32 = 1
            setsockopt(
                socket, Int32(IPPROTO_TCP), Int32(TCP_NODELAY), &isOn,
                socklen_t(MemoryLayout<Int32>.size))
        }
        guard with(port, { Foundation.connect(socket, $0, $1) }) == 0 else {
            close(socket)
            throw SocketError(call: "connect", code: errno)
        }
        return socket
    }

    /// Returns a socket that listens, and its port.
    package static func listen() throws(SocketError) -> (socket: Int32, port: Int) {
        let socket = make()
        guard with(0, { bind(socket, $0, $1) }) == 0, Foundation.listen(socket, 128) == 0 else {
            close(socket)
            throw SocketError(call: "listen", code: errno)
        }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(socket, $0, &size)
            }
        }
        return (socket, Int(in_port_t(bigEndian: address.sin_port)))
    }

    #if canImport(Glibc)
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #else
        private static let sendFlags: Int32 = 0
    #endif

    /// Sends all bytes. Returns false if the connection has ended.
    package static func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Bool {
        var sent = bytes.startIndex
        while sent < bytes.endIndex {
            let count = bytes[sent...].withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, sendFlags)
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}

/// A call of a socket failed.
package struct SocketError: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
