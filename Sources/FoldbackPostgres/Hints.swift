#if Postgres
    import Foldback
    import FoldbackServer
    import FoldbackSync
    import Foundation

    /// What servers tell each other.
    enum Notice: Hashable {
        /// The space has another group.
        case appended(SpaceName)
        /// A server has lost a race for the space, and wants to win the next one.
        case wanted(SpaceName)

        init?(_ text: String) {
            let isWanted = text.hasSuffix("?")
            guard let space = SpaceName(isWanted ? String(text.dropLast()) : text) else {
                return nil
            }
            self = isWanted ? .wanted(space) : .appended(space)
        }

        var text: String {
            switch self {
            case .appended(let space): "\(space)"
            case .wanted(let space): "\(space)?"
            }
        }
    }

    /// Tells other servers what they should know: at most every 20 ms, and never in an append, because a
    /// commit with a notification takes a lock of the whole database.
    actor Notifier {
        private let pool: ConnectionPool
        private var notices: Set<Notice> = []
        private var isRunning = false

        init(_ pool: ConnectionPool) { self.pool = pool }

        func note(_ notice: Notice) {
            notices.insert(notice)
            guard !isRunning else { return }
            isRunning = true
            Task { await run() }
        }

        private func run() async {
            while !notices.isEmpty {
                let texts = notices.map { Optional($0.text) }
                notices = []
                // Those who miss a hint compare their heads after some seconds.
                _ = try? await pool.use { connection throws(PostgresFailure) in
                    _ = try connection.run(
                        "SELECT pg_notify('foldback', name) FROM unnest($1::text[]) AS name",
                        [.texts(texts)])
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
        private let turns: Turns

        init(_ information: String, _ pool: ConnectionPool, _ turns: Turns) {
            self.information = information
            self.pool = pool
            self.turns = turns
        }

        func stream(
            past heads: @escaping @Sendable () async -> [SpaceName: Position]
        ) -> AsyncStream<SpaceName?> {
            AsyncStream { [self] hints in
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
                hints.onTermination = { _ in comparing.cancel() }
                Thread.detachNewThread {
                    var attempt = 0
                    while !comparing.isCancelled {
                        do throws(TableFailure) {
                            try listen(attempt, hints, until: comparing)
                        } catch {
                            attempt += 1
                            Thread.sleep(forTimeInterval: 0.2)
                        }
                    }
                }
            }
        }

        /// Passes on notifications until the stream ends, and with it the task.
        ///
        /// - Throws: a failure if the connection ends, or if one of the pool's does: the database may be another
        ///   one now.
        private func listen(
            _ attempt: Int, _ hints: AsyncStream<SpaceName?>.Continuation,
            until end: Task<Void, Never>
        ) throws(TableFailure) {
            let failureCount = pool.failureCount
            let connection = try PostgresConnection(information, attempt: attempt)
            do { _ = try connection.run("LISTEN foldback") } catch { throw error.failure }
            // What was sent before is not received.
            hints.yield(nil)
            while !end.isCancelled {
                let own = pool.serverProcesses
                for (payload, sender) in try connection.notifications(within: 1)
                where !own.contains(sender) {
                    switch Notice(payload) {
                    case .appended(let space)?: hints.yield(space)
                    case .wanted(let space)?: turns.yield(space)
                    case nil: break
                    }
                }
                if pool.failureCount != failureCount { throw TableFailure("connection lost") }
            }
        }
    }
#endif
