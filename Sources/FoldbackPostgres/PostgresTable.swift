#if Postgres
    import Foldback
    import FoldbackServer
    import FoldbackSync

    /// The decisions of spaces in PostgreSQL, in the table that `foldback.sql` makes.
    ///
    /// ```swift
    /// let table = PostgresTable("host=db1,db2 dbname=app user=foldback_server")
    /// let spaces = Spaces(in: cache, rules: FeedRules(), over: table)
    /// ```
    /// A group is durable when its commit is, so what a commit waits for decides what a failure can lose:
    /// with a synchronous standby, no failure of one machine loses an answered intent. The article "Growing"
    /// says how to set it.
    ///
    /// It connects when it is used. After a failure it connects again, and asks another host of the
    /// connection string first.
    public final class PostgresTable: DecisionTable {
        private let pool: ConnectionPool
        private let information: String
        private let notifier: Notifier
        private let turns = Turns()

        /// - Parameters:
        ///   - information: a connection string of libpq: `host=… dbname=… user=…` or `postgresql://…`. It may
        ///     name several hosts; only the one that can be written to is used.
        ///   - connections: the most connections for statements, from 1. One more listens.
        /// - Throws: a failure if the connection string is not one. Whether it is right shows when it is used.
        public init(_ information: String, connections: Int = 4) throws(TableFailure) {
            _ = try PostgresConnection.settings(information, 0)
            self.information = information
            pool = ConnectionPool(information, connections: connections)
            notifier = Notifier(pool)
        }

        public func append(
            _ group: TableGroup, after head: TableGroup?, in space: SpaceName
        ) async throws(TableFailure) -> TableGroup? {
            await turns.wait(in: space)
            var stamp: Int64?
            do {
                stamp = try await pool.use { connection throws(PostgresFailure) in
                    try connection.append(group, after: head, in: space)
                }
            } catch {
                // Another server has the position, or has decided one of the intents.
                guard error.state == "23505" else { throw error.failure }
                stamp = nil
            }
            turns.note(space, won: stamp != nil)
            await notifier.note(stamp == nil ? .wanted(space) : .appended(space))
            guard let stamp else { return nil }
            return TableGroup(position: group.position, rows: group.rows, stamp: stamp)
        }

        public func groups(
            from position: Position, in space: SpaceName
        ) async throws(TableFailure) -> TablePage {
            do {
                return try await pool.use { connection throws(PostgresFailure) in
                    try connection.page(from: position, in: space)
                }
            } catch { throw error.failure }
        }

        public func barrier() async throws(TableFailure) -> UInt32 {
            do {
                return try await pool.use { connection throws(PostgresFailure) in
                    try connection.barrier()
                }
            } catch { throw error.failure }
        }

        public func hints(
            past heads: @escaping @Sendable () async -> [SpaceName: Position]
        ) -> AsyncStream<SpaceName?> {
            Hints(information, pool, turns).stream(past: heads)
        }
    }

    extension PostgresConnection {
        /// A small commit. It returns when a standby has everything that was committed before; a statement that
        /// writes nothing would not wait.
        ///
        /// - Returns: the timeline of the machine that wrote it.
        func barrier() throws(PostgresFailure) -> UInt32 {
            let rows = try run(
                "SELECT \(Self.timeline), pg_logical_emit_message(true, 'foldback', '')")
            return try timeline(rows)
        }

        private static let timeline = "left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"

        private func timeline(_ rows: PostgresRows) throws(PostgresFailure) -> UInt32 {
            guard let timeline = rows.text(0, 0).flatMap({ UInt32($0, radix: 16) }) else {
                throw PostgresFailure(TableFailure("PostgreSQL does not name its timeline"))
            }
            return timeline
        }

        // MARK: Appending

        /// - Returns: the stamp of the group; nil if the group before it is not `head`.
        func append(
            _ group: TableGroup, after head: TableGroup?, in space: SpaceName
        ) throws(PostgresFailure) -> Int64? {
            do {
                return try insert(RowColumns(group.rows, withJSON: true), group, head, space)
            } catch {
                // PostgreSQL refuses some JSON that devices may send: nested too deeply, for example.
                guard let state = error.state, state.hasPrefix("22") || state.hasPrefix("54") else {
                    throw error
                }
                return try insert(RowColumns(group.rows, withJSON: false), group, head, space)
            }
        }

        private func insert(
            _ columns: RowColumns, _ group: TableGroup, _ head: TableGroup?, _ space: SpaceName
        ) throws(PostgresFailure) -> Int64? {
            let first = head?.rows.first?.intent
            let inserted = try run(
                Self.insertion,
                [
                    Parameter(space.description), Parameter(Int64(group.position.value)),
                    .texts(columns.outcomes), .texts(columns.replicas), .numbers(columns.numbers),
                    .texts(columns.accounts), .numbers(columns.digests), .numbers(columns.versions),
                    .numbers(columns.codecs), .numbers(columns.codecVersions),
                    .json(columns.effects), .bytes(columns.bytes), .json(columns.rejections),
                    .json(columns.foundings), Parameter(head?.stamp),
                    Parameter(first?.replica.name.string),
                    Parameter(first.map { Int64(bitPattern: $0.number.value) }),
                ])
            guard inserted.count > 0 else { return nil }
            return inserted.number(0, 0)
        }

        /// A group without the group before it must not get in: the table may have lost that one. A stamp is
        /// the time of the transaction, in microseconds.
        private static let insertion = """
            INSERT INTO foldback.decision (space, position, ordinal, outcome, replica, number, account, \
            digest, version, format, effect, bytes, rejection, founded)
            SELECT $1, $2, place - 1, outcome, replica, number, account, digest, version, \
            CASE WHEN codec IS NOT NULL THEN ARRAY[codec, codec_version]::int[] END, \
            effect, bytes, rejection, founded
            FROM unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[], \
            $9::bigint[], $10::bigint[], $11::json[], $12::bytea[], $13::json[], $14::json[]) WITH ORDINALITY \
            AS one (outcome, replica, number, account, digest, version, codec, codec_version, effect, \
            bytes, rejection, founded, place)
            WHERE $2 = 1 OR EXISTS (SELECT FROM foldback.decision WHERE space = $1 AND position = $2 - 1 \
            AND ordinal = 0 AND \(stamp) = $15 AND replica IS NOT DISTINCT FROM $16 \
            AND number IS NOT DISTINCT FROM $17)
            RETURNING \(stamp)
            """
        private static let stamp = "(extract(epoch FROM decided_at) * 1000000)::bigint"

        // MARK: Reading

        /// The most rows of a page, groups, and bytes of effects. A group has at most 256 rows, so a page has at
        /// least one whole group.
        private static let (rowsMax, groupsMax, bytesMax) = (1_024, 64, 8 << 20)

        func page(
            from position: Position, in space: SpaceName
        ) throws(PostgresFailure) -> TablePage {
            let rows = try run(
                Self.reading, [Parameter(space.description), Parameter(Int64(position.value))])
            var groups: [TableGroup] = []
            var group: [TableRow] = []
            for row in 0..<rows.count {
                guard let number = rows.number(row, 3) else { break }
                group.append(try rows.row(row))
                let isLast = row + 1 == rows.count
                guard isLast || rows.number(row + 1, 3) != number else { continue }
                // The last group of a full page may not be whole.
                if !isLast || rows.count < Self.rowsMax {
                    groups.append(
                        TableGroup(
                            position: Position(UInt64(number)), rows: group,
                            stamp: rows.number(row, 4)))
                }
                group = []
            }
            return TablePage(
                groups: groups, head: Position(UInt64(rows.number(0, 2) ?? 0)),
                founding: try rows.bytes(0, 1).map { json throws(PostgresFailure) in
                    try Founding(json: json)
                }, timeline: try timeline(rows))
        }

        /// One statement sees one moment. The facts of the space are in the first row alone. `upto` counts the
        /// bytes up to the end of the row's group.
        private static let reading = """
            SELECT CASE WHEN place = 1 THEN \(timeline) END, \
            CASE WHEN place = 1 THEN (SELECT founded FROM foldback.decision \
            WHERE space = $1 AND founded IS NOT NULL ORDER BY position DESC LIMIT 1) END, \
            CASE WHEN place = 1 THEN (SELECT max(position) FROM foldback.decision WHERE space = $1) END, \
            position, \(stamp), replica, number, account, digest, version, outcome, format[1], \
            format[2], coalesce(convert_to(effect::text, 'UTF8'), bytes), rejection, founded
            FROM (SELECT summed.*, row_number() OVER (ORDER BY position, ordinal) AS place \
            FROM (SELECT) AS facts LEFT JOIN LATERAL (SELECT *, \
            sum(coalesce(octet_length(effect::text), octet_length(bytes), 0)) OVER (ORDER BY position) AS upto \
            FROM (SELECT * FROM foldback.decision WHERE space = $1 AND position >= $2 \
            AND position < $2 + \(groupsMax) ORDER BY position, ordinal LIMIT \(rowsMax)) AS part) AS summed \
            ON upto <= \(bytesMax) OR position = $2) AS page ORDER BY position, ordinal
            """

        // MARK: Hints

        /// Returns the spaces whose heads in the table differ from these.
        func moved(
            past heads: [SpaceName: Position]
        ) throws(PostgresFailure) -> [SpaceName] {
            let known = Array(heads)
            let rows = try run(
                Self.comparing,
                [
                    .texts(known.map(\.key.description)),
                    .numbers(known.map { Int64($0.value.value) }),
                ])
            return (0..<rows.count).compactMap { rows.text($0, 0).flatMap { SpaceName($0) } }
        }

        private static let comparing = """
            SELECT name FROM unnest($1::text[], $2::bigint[]) AS known (name, head) \
            WHERE EXISTS (SELECT FROM foldback.decision WHERE space = name AND position = head + 1) \
            OR head > 0 AND NOT EXISTS (SELECT FROM foldback.decision WHERE space = name \
            AND position = head)
            """
    }
#endif
