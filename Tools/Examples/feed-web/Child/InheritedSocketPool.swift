import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// Lets FlyingFox accept the connections of a socket that another process has opened.
///
/// FlyingFox opens its socket itself. The first socket that waits for anything is the listening
/// socket, before the system's queue of events knows it. The inherited socket then takes its number.
final class InheritedSocketPool<Pool: AsyncSocketPool>: AsyncSocketPool {
    private let pool: Pool
    private let socket: Int32
    private let isListening: @Sendable () -> Void
    private let isReplaced = Atomic(false)

    /// - Parameters:
    ///   - pool: waits for the events.
    ///   - socket: listens, and does not block.
    ///   - isListening: called once, when the server waits for connections.
    init(_ pool: Pool, socket: Int32, isListening: @escaping @Sendable () -> Void) {
        (self.pool, self.socket, self.isListening) = (pool, socket, isListening)
    }

    func prepare() async throws { try await pool.prepare() }

    func run() async throws { try await pool.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        if !isReplaced.exchange(true, ordering: .acquiringAndReleasing) {
            guard dup2(self.socket, socket.file.rawValue) >= 0 else {
                throw StartError("the socket cannot be used: \(String(cString: strerror(errno)))")
            }
            isListening()
        }
        try await pool.suspendSocket(socket, untilReadyFor: events)
    }
}
