#if Postgres
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
                // Those who miss a hint ask the table after some seconds.
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

    /// Waits for the notifications of other servers, on a thread of its own.
    enum Listener {
        /// The seconds after which every space may have more.
        private static var pause: Double { 5 }

        static func hints(
            _ information: String, ownProcesses: @escaping @Sendable () -> Set<Int32>
        ) -> AsyncStream<SpaceName?> {
            AsyncStream { hints in
                let over = Over()
                hints.onTermination = { _ in over.isOver.withLock { $0 = true } }
                Thread.detachNewThread {
                    var attempt = 0
                    while !over.isOver.withLock({ $0 }) {
                        do throws(TableFailure) {
                            let connection = try PostgresConnection(information, attempt: attempt)
                            try listen(on: connection, hints, over, ownProcesses)
                        } catch {
                            attempt += 1
                            Thread.sleep(forTimeInterval: 0.2)
                        }
                    }
                }
            }
        }

        private final class Over: Sendable {
            let isOver = Mutex(false)
        }

        private static func listen(
            on connection: PostgresConnection, _ hints: AsyncStream<SpaceName?>.Continuation,
            _ over: Over, _ ownProcesses: () -> Set<Int32>
        ) throws(TableFailure) {
            do { _ = try connection.run("LISTEN foldback") } catch { throw error.failure }
            var next = 0.0
            while !over.isOver.withLock({ $0 }) {
                // What was sent before is not received.
                if next <= 0 {
                    hints.yield(nil)
                    next = pause
                }
                let own = ownProcesses()
                for (payload, sender) in try connection.notifications(within: 1)
                where !own.contains(sender) {
                    if let space = SpaceName(payload) { hints.yield(space) }
                }
                next -= 1
            }
        }
    }
#endif
