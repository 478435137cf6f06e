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
}
