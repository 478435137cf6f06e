import FlyingFox
import Foundation

/// The process with the server. The supervisor starts it again when it ends.
struct Child {
    let port: UInt16
    let data: URL
    let clock: ClockKind
    let replicas: [String]
    let seedPosts: Int
    let restarts: Int

    /// Printed when the server listens.
    static let readyLine = "ready\n"

    /// The longest time of a request in seconds. It must not end while a body is read.
    private static let requestSecondsMax: TimeInterval = 86_400

    func run() async throws {
        endWithSupervisor()
        let world = try await World(
            at: data, clock: clock, replicas: replicas, seedPosts: seedPosts, restarts: restarts)
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: port), timeout: Self.requestSecondsMax,
            logger: .disabled, handler: Server(world: world, gate: Gate(port: port)))
        async let serving: Void = server.run()
        try await server.waitUntilListening()
        sendAtOnce()
        write(Self.readyLine)
        try await serving
    }

    /// Ends this process when the supervisor ends, in whatever way: the input is a pipe of the
    /// supervisor. Nothing needs to be saved, because the logs are durable at any moment.
    private func endWithSupervisor() {
        Thread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            exit(0)
        }.start()
    }

    /// Switches off Nagle's algorithm for all connections, which inherit this from the listening
    /// socket.
    ///
    /// FlyingFox writes the head and the body of an answer one after the other, and cannot switch it
    /// off. A browser acknowledges the head after 40 ms, and only then would the body be sent.
    private func sendAtOnce() {
        var isOn: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        for file in 3..<Self.filesMax {
            var (isListening, length) = (Int32(0), size)
            getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
            if isListening == 1 {
                setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, size)
            }
        }
    }

    /// The listening socket is one of the first files that the process opens.
    private static let filesMax: Int32 = 256
}
