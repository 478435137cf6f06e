#if ReplayTool
    import FlyingFox
    import FlyingSocks
    import Foundation
    import Synchronization

    /// Ends connections whose client keeps the server waiting for too long, and those that are too
    /// many. FlyingFox itself would wait forever.
    ///
    /// Nothing here bounds the length of a request's head, which FlyingFox reads into memory.
    final class ImpatientSocketPool: AsyncSocketPool {
        private let pool: any AsyncSocketPool = HTTPServer.defaultPool()
        private let waiting = Mutex(0)

        /// All connections inherit this from the listening socket. FlyingFox writes the head and the
        /// body of an answer one after the other. With Nagle's algorithm, the body would wait until
        /// the browser acknowledges the head, after 40 ms.
        private static var sendsAtOnce: BoolSocketOption {
            BoolSocketOption(level: Int32(IPPROTO_TCP), name: TCP_NODELAY)
        }

        func prepare() async throws { try await pool.prepare() }

        func run() async throws { try await pool.run() }

        func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
            // Only a connection has a peer. The listening socket waits for as long as it takes.
            guard (try? socket.remotePeer()) != nil else {
                try socket.setValue(true, for: Self.sendsAtOnce)
                return try await pool.suspendSocket(socket, untilReadyFor: events)
            }
            let isPossible = waiting.withLock { waiting in
                guard waiting < InspectorLimits.connectionsMax else { return false }
                waiting += 1
                return true
            }
            guard isPossible else { throw SocketError.disconnected }
            defer { waiting.withLock { $0 -= 1 } }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await self.pool.suspendSocket(socket, untilReadyFor: events)
                }
                group.addTask {
                    try await Task.sleep(for: InspectorLimits.clientWaitMax)
                    throw SocketError.disconnected
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
#endif
