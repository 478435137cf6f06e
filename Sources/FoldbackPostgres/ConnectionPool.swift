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
            /// The connections that ended so far: the next one asks another host first.
            var failureCount = 0

            init(_ number: Int) { queue = DispatchQueue(label: "foldback.postgres.\(number)") }
        }

        private struct State {
            var free: [Place]
            var waiting: [UnsafeContinuation<Result<Place, PostgresFailure>, Never>] = []
            /// The server's processes of the connections.
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
        var failureCount: Int { state.withLock { $0.failureCount } }

        /// Calls `body` with a connection on the connection's thread.
        ///
        /// - Throws: the errors of `body`. If the database does not answer, all calls that wait for a connection
        ///   fail too: else each of them would wait for the same time limit, one after the other.
        func use<T: Sendable>(
            _ body: @escaping @Sendable (PostgresConnection) throws(PostgresFailure) -> T
        ) async throws(PostgresFailure) -> T {
            let place = try await take()
            defer { giveBack(place) }
            let result: Result<T, PostgresFailure> = await withUnsafeContinuation { waiting in
                place.queue.async { [self] in
                    waiting.resume(
                        returning: Result { () throws(PostgresFailure) in
                            do throws(PostgresFailure) {
                                return try body(try connection(of: place))
                            } catch {
                                if error.state == nil || place.connection?.isUsable != true {
                                    drop(place, error)
                                }
                                throw error
                            }
                        })
                }
            }
            return try result.get()
        }

        /// Returns the connection, which is made if there is none. A new one begins with a barrier, and fails
        /// soon: it may be one to a primary that was replaced, whose commits wait forever.
        private func connection(of place: Place) throws(PostgresFailure) -> PostgresConnection {
            if let connection = place.connection { return connection }
            let made: PostgresConnection
            do { made = try PostgresConnection(information, attempt: place.failureCount) } catch {
                throw PostgresFailure(error)
            }
            _ = try made.barrier()
            made.answerMax = Self.answerMax
            state.withLock { _ = $0.serverProcesses.insert(made.serverProcess) }
            place.connection = made
            return made
        }

        /// The most seconds that a statement may take. The server ends one after 8, but not its commit.
        private static var answerMax: Double { 10 }

        private func drop(_ place: Place, _ failure: PostgresFailure) {
            let process = place.connection?.serverProcess
            place.connection = nil
            place.failureCount += 1
            let waiting = state.withLock { state in
                state.failureCount += 1
                if let process { state.serverProcesses.remove(process) }
                defer { state.waiting = [] }
                return state.waiting
            }
            for call in waiting { call.resume(returning: .failure(failure)) }
        }

        private func take() async throws(PostgresFailure) -> Place {
            let result: Result<Place, PostgresFailure> = await withUnsafeContinuation { waiting in
                let place: Place? = state.withLock { state in
                    if let place = state.free.popLast() { return place }
                    state.waiting.append(waiting)
                    return nil
                }
                if let place { waiting.resume(returning: .success(place)) }
            }
            return try result.get()
        }

        private func giveBack(_ place: Place) {
            let next = state.withLock {
                state -> UnsafeContinuation<Result<Place, PostgresFailure>, Never>? in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.free.append(place)
                return nil
            }
            next?.resume(returning: .success(place))
        }
    }
#endif
