#if Postgres
    import Foldback
    import FoldbackServer
    import FoldbackSync
    import Foundation
    import Synchronization

    /// Tells other servers which spaces have more decisions: at most every 20 ms, and never in an append,
    /// because a commit with a notification takes a lock of the whole database.
    actor Notifier {
        private let pool: ConnectionPool
        private var names: Set<SpaceName> = []
        private var isRunning = false

        init(_ pool: ConnectionPool) { self.pool = pool }

        func note(_ space: SpaceName) {
            names.insert(space)
            guard !isRunning else { return }
            isRunning = true
            Task { await run() }
        }

        private func run() async {
            while !names.isEmpty {
                let spaces = names.map { Optional($0.description) }
                names = []
                // Those who miss a hint compare their heads after some seconds.
                _ = try? await pool.use { connection throws(PostgresFailure) in
                    _ = try connection.run(
                        "SELECT pg_notify('foldback', name) FROM unnest($1::text[]) AS name",
                        [.texts(spaces)])
                }
                await SyncSources.system.sleep(.milliseconds(20))
            }
            isRunning = false
        }
    }

    /// What other servers have appended: their notifications, and every few seconds a comparison, because a
    /// notification can be lost.
    struct Hints {
        private let information: String
        private let pool: ConnectionPool

        init(_ information: String, _ pool: ConnectionPool) {
            self.information = information
            self.pool = pool
        }

        func stream(
            past heads: @escaping @Sendable () async -> [SpaceName: Position]
        ) -> AsyncStream<SpaceName?> {
            AsyncStream { [information, pool] hints in
                let comparing = Task {
                    while !Task.isCancelled {
                        await SyncSources.system.sleep(.seconds(5))
                        let known = await heads()
                        let moved = try? await pool.use { connection throws(PostgresFailure) in
                            try connection.moved(past: known)
                        }
                        for space in moved ?? [] { hints.yield(space) }
                    }
                }
                let isOver = Over()
                hints.onTermination = { _ in
                    comparing.cancel()
                    isOver.value.withLock { $0 = true }
                }
                Thread.detachNewThread {
                    var attempt = 0
                    while !isOver.value.withLock({ $0 }) {
                        do throws(TableFailure) {
                            try Self.listen(information, attempt, pool, hints, isOver)
                        } catch {
                            attempt += 1
                            Thread.sleep(forTimeInterval: 0.2)
                        }
                    }
                }
            }
        }

        private final class Over: Sendable {
            let value = Mutex(false)
        }

        /// Passes on notifications until the stream ends.
        ///
        /// - Throws: a failure if the connection ends, or if one of the pool's does: the database may be another
        ///   one now.
        private static func listen(
            _ information: String, _ attempt: Int, _ pool: ConnectionPool,
            _ hints: AsyncStream<SpaceName?>.Continuation, _ isOver: Over
        ) throws(TableFailure) {
            let failureCount = pool.failureCount
            let connection = try PostgresConnection(information, attempt: attempt)
            do { _ = try connection.run("LISTEN foldback") } catch { throw error.failure }
            // What was sent before is not received.
            hints.yield(nil)
            while !isOver.value.withLock({ $0 }) {
                let own = pool.serverProcesses
                for (payload, sender) in try connection.notifications(within: 1)
                where !own.contains(sender) {
                    if let space = SpaceName(payload) { hints.yield(space) }
                }
                if pool.failureCount != failureCount { throw TableFailure("connection lost") }
            }
        }
    }
#endif
