#if Postgres
    import CPostgres
    import FoldbackServer
    import Foundation
    import Synchronization

    #if canImport(Glibc)
        import Glibc
    #else
        import Darwin
    #endif

    /// One connection, for one thread at a time.
    ///
    /// It waits no longer than it says for an answer, also if the server is frozen.
    final class PostgresConnection {
        private let connection: OpaquePointer
        /// What the server warned of since the statement began. A commit that was canceled while it waited for
        /// a standby ends with success and a warning (SyncRepWaitForLSN in PostgreSQL's syncrep.c).
        private var warning: String?
        /// The most seconds that a statement may take.
        var answerMax: Double
        /// The names of prepared statements.
        private var names: [String: String] = [:]
        /// The process of the server that serves this connection.
        var serverProcess: Int32 { PQbackendPID(connection) }

        /// Connects to a server that can be written to.
        ///
        /// - Parameters:
        ///   - information: what libpq calls a connection string. It may name several hosts.
        ///   - attempt: which of them is tried first.
        init(_ information: String, attempt: Int = 0) throws(TableFailure) {
            answerMax = 3
            let settings =
                [
                    ("connect_timeout", "3"), ("tcp_user_timeout", "10000"),
                    ("keepalives_idle", "5"), ("keepalives_interval", "2"),
                    ("keepalives_count", "3"), ("application_name", "foldback"),
                ] + (try Self.settings(information, attempt))
                // A standby lacks what was not replayed yet. Events are bytes of UTF-8.
                + [("target_session_attrs", "read-write"), ("client_encoding", "UTF8")]
            let made = withCStrings(settings.map(\.0)) { names in
                withCStrings(settings.map(\.1)) { PQconnectdbParams(names, $0, 0) }
            }
            guard let made else { throw TableFailure("libpq has no memory") }
            connection = made
            guard PQstatus(made) == CONNECTION_OK else { throw failure() }
            PQsetNoticeReceiver(
                made,
                { pointer, result in
                    func field(_ name: Character) -> String? {
                        PQresultErrorField(result, Int32(name.asciiValue ?? 0)).map {
                            String(cString: $0)
                        }
                    }
                    guard field("V") == "WARNING", let pointer else { return }
                    Unmanaged<PostgresConnection>.fromOpaque(pointer).takeUnretainedValue()
                        .warning = field("M") ?? "?"
                }, Unmanaged.passUnretained(self).toOpaque())
            PQsetnonblocking(made, 1)
            do { try prepareSession() } catch { throw error.failure }
        }

        /// The settings of the role and of the database must not decide what a commit promises.
        private func prepareSession() throws(PostgresFailure) {
            let settings = [
                "synchronous_commit": "on", "client_min_messages": "warning",
                "default_transaction_isolation": "read committed", "search_path": "",
                // An append waits for another one whose transaction is open, but not for long.
                "lock_timeout": "5s", "statement_timeout": "8s",
                // No plan of a table that was empty, and none for each group.
                "enable_seqscan": "off", "plan_cache_mode": "force_generic_plan",
            ]
            let calls = settings.sorted { $0.key < $1.key }
                .map { "pg_catalog.set_config('\($0.key)', '\($0.value)', false)" }
            let rows = try run(
                "SELECT pg_catalog.current_setting('server_encoding'), "
                    + calls.joined(separator: ", "))
            guard rows.text(0, 0) == "UTF8" else {
                throw PostgresFailure(
                    TableFailure(
                        "the database has the encoding \(rows.text(0, 0) ?? "?"), not UTF8"))
            }
        }

        deinit { PQfinish(connection) }

        var isUsable: Bool { PQstatus(connection) == CONNECTION_OK }

        /// Returns the settings with the hosts in another order: if the first one is a primary that was
        /// replaced, the next attempt asks another.
        static func settings(
            _ information: String, _ attempt: Int
        ) throws(TableFailure) -> [(String, String)] {
            var message: UnsafeMutablePointer<CChar>?
            guard let options = PQconninfoParse(information, &message) else {
                defer { PQfreemem(message) }
                let words = message.map { Self.words(String(cString: $0)) }
                throw TableFailure(words ?? "no connection string")
            }
            defer { PQconninfoFree(options) }
            var settings: [(String, String)] = []
            var next = options
            while let keyword = next.pointee.keyword {
                defer { next += 1 }
                guard let value = next.pointee.val else { continue }
                settings.append((String(cString: keyword), String(cString: value)))
            }
            for (place, setting) in settings.enumerated()
            where ["host", "hostaddr", "port"].contains(setting.0) {
                let items = setting.1.split(separator: ",", omittingEmptySubsequences: false)
                let first = attempt % items.count
                settings[place].1 = (items[first...] + items[..<first]).joined(separator: ",")
            }
            return settings
        }

        // MARK: Statements

        /// Runs a statement, and returns its rows.
        ///
        /// - Throws: a failure after which it is not known whether the statement was carried out, unless its
        ///   `state` says so.
        func run(
            _ statement: String, _ parameters: [Parameter] = []
        ) throws(PostgresFailure) -> PostgresRows {
            let name = try prepared(statement, parameters)
            warning = nil
            let sent = parameters.withPointers { values, lengths, formats in
                PQsendQueryPrepared(
                    connection, name, Int32(parameters.count), values, lengths, formats, 1)
            }
            guard sent == 1 else { throw PostgresFailure(failure()) }
            return try answer()
        }

        /// Returns the name of a statement, which the server parses and plans once for each connection.
        private func prepared(
            _ statement: String, _ parameters: [Parameter]
        ) throws(PostgresFailure) -> String {
            if let name = names[statement] { return name }
            let name = "foldback_\(names.count)"
            let types = parameters.map(\.type)
            guard PQsendPrepare(connection, name, statement, Int32(types.count), types) == 1 else {
                throw PostgresFailure(failure())
            }
            _ = try answer()
            names[statement] = name
            return name
        }

        private func answer() throws(PostgresFailure) -> PostgresRows {
            let end = ContinuousClock.now.advanced(by: .seconds(answerMax))
            guard let result = try result(until: end) else { throw PostgresFailure(failure()) }
            let rows = PostgresRows(result)
            while let other = try self.result(until: end) { PQclear(other) }
            guard let error = rows.error else {
                if let warning { throw PostgresFailure(TableFailure(Self.words(warning))) }
                return rows
            }
            throw PostgresFailure(
                TableFailure(Self.words(error.message) + Self.help(with: error.state)),
                state: error.state)
        }

        /// Returns the next result; nil after the last one.
        private func result(
            until end: ContinuousClock.Instant
        ) throws(PostgresFailure) -> OpaquePointer? {
            try awaitAnswer(until: end)
            return PQgetResult(connection)
        }

        /// What an operator can do about an error with this code.
        private static func help(with state: String?) -> String {
            switch state {
            case "42P01", "3F000": "; run foldback.sql in this database"
            case "42501": "; grant the rights that the end of foldback.sql names"
            default: ""
            }
        }

        /// Waits until the whole answer is there.
        private func awaitAnswer(
            until end: ContinuousClock.Instant
        ) throws(PostgresFailure) {
            while PQflush(connection) == 1 || PQisBusy(connection) == 1 {
                let events = PQflush(connection) == 1 ? POLLIN | POLLOUT : POLLIN
                var wait = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
                let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
                guard left > 0 else {
                    cancel()
                    throw PostgresFailure(TableFailure("no answer within \(Int(answerMax)) s"))
                }
                guard poll(&wait, 1, Int32(left) + 1) >= 0 || errno == EINTR,
                    PQconsumeInput(connection) == 1
                else { throw PostgresFailure(failure()) }
            }
        }

        /// Ends the statement at the server too. A commit that waits for a standby waits without end otherwise,
        /// and keeps one of the server's connections: `statement_timeout` ends before the commit.
        ///
        /// On a thread of its own, because a frozen server does not answer that either.
        private func cancel() {
            guard let request = PQgetCancel(connection) else { return }
            let hasRoom = Self.cancels.withLock { count in
                defer { count += count < 8 ? 1 : 0 }
                return count < 8
            }
            guard hasRoom else { return PQfreeCancel(request) }
            // Only the new thread uses it from here on.
            nonisolated(unsafe) let held = request
            Thread.detachNewThread {
                var message = [CChar](repeating: 0, count: 256)
                _ = PQcancel(held, &message, 256)
                PQfreeCancel(held)
                Self.cancels.withLock { $0 -= 1 }
            }
        }

        /// The cancels that wait for a server.
        private static let cancels = Mutex(0)

        /// Returns the payloads of notifications, with the process that sent each, after at most `seconds`.
        func notifications(
            within seconds: Double
        ) throws(TableFailure) -> [(payload: String, sender: Int32)] {
            var wait = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
            _ = poll(&wait, 1, Int32(seconds * 1_000))
            guard PQconsumeInput(connection) == 1 else { throw failure() }
            var found: [(String, Int32)] = []
            while let notice = PQnotifies(connection) {
                found.append((String(cString: notice.pointee.extra), notice.pointee.be_pid))
                PQfreemem(notice)
            }
            return found
        }

        private func failure() -> TableFailure {
            TableFailure(Self.words(PQerrorMessage(connection).map { String(cString: $0) } ?? ""))
        }

        private static func words(_ text: String) -> String {
            text.split(whereSeparator: \.isNewline).joined(separator: " ")
        }
    }

    /// A statement that failed.
    struct PostgresFailure: Error {
        let failure: TableFailure
        /// PostgreSQL's code of five characters; nil if the server gave none. With a code, the statement had
        /// no effect.
        let state: String?

        init(_ failure: TableFailure, state: String? = nil) {
            self.failure = failure
            self.state = state
        }
    }

    private func withCStrings<T>(
        _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> T
    ) -> T {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies.map { UnsafePointer($0) } + [nil])
    }
#endif
