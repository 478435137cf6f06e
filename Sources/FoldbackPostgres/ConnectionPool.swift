#if Postgres
    import Dispatch
    import FoldbackServer
    import Synchronization

    /// A few connections, each with a thread of its own, so that a statement that waits blocks no task.
    final class ConnectionPool: Sendable {
        /// A connection, and the queue whose thread uses it.
        ///
        /// `@unchecked Sendable`: only blocks on the queue, one at a time, touch the connection.
        private final class Place: @unchecked Sendable {
            let queue: DispatchQueue
            var connection: PostgresConnection?

            init(_ number: Int) { queue = DispatchQueue(label: "foldback.postgres.\(number)") }
        }

        private struct State {
            var free: [Place]
            var waiting: [UnsafeContinuation<Place, Never>] = []
            /// The server's processes of all connections so far.
            var serverProcesses: Set<Int32> = []
            var failureCount = 0
        }

        private let information: String
        private let state: Mutex<State>

        init(_ information: String, connections: Int) {
            precondition(connections >= 1, "a table needs a connection")
            self.information = information
            state = Mutex(State(free: (0..<connections).map { Place($0) }))
        }

        var serverProcesses: Set<Int32> { state.withLock { $0.serverProcesses } }

        /// Calls `body` with a connection on the connection's thread.
        func use<T: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> T
        ) async throws(PostgresFailure) -> T {
            let place = await take()
            defer { giveBack(place) }
            let result: Result<T, PostgresFailure> = await withUnsafeContinuation { waiting in
                place.queue.async { [self] in
                    waiting.resume(
                        returning: Result { () throws(PostgresFailure) in
                            do throws(PostgresFailure) {
                                return try body(try connection(of: place))
                            } catch {
                                if error.state == nil || place.connection?.isUsable != true {
                                    place.connection = nil
                                    state.withLock { $0.failureCount += 1 }
                                }
                                throw error
                            }
                        })
                }
            }
            return try result.get()
        }

        /// Returns the connection, which is made if there is none. A new one begins with a barrier: it may
        /// be one to a primary that was replaced, whose commits wait forever.
        private func connection(of place: Place) throws(PostgresFailure) -> PostgresConnection {
            if let connection = place.connection { return connection }
            let attempt = state.withLock { $0.failureCount }
            let made: PostgresConnection
            do { made = try PostgresConnection(information, attempt: attempt) } catch {
                throw PostgresFailure(error)
            }
            _ = try made.barrier()
            state.withLock { _ = $0.serverProcesses.insert(made.serverProcess) }
            place.connection = made
            return made
        }

        private func take() async -> Place {
            await withUnsafeContinuation { waiting in
                let place: Place? = state.withLock { state in
                    if let place = state.free.popLast() { return place }
                    state.waiting.append(waiting)
                    return nil
                }
                if let place { waiting.resume(returning: place) }
            }
        }

        private func giveBack(_ place: Place) {
            let next: UnsafeContinuation<Place, Never>? = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.free.append(place)
                return nil
            }
            next?.resume(returning: place)
        }
    }
#endif
