import Foundation
import GRDB

/// GRDB, used as the documentation of version 7.10 recommends.
///
/// - A `DatabasePool`, whose reads run in parallel with its one writer: "Database Connections".
/// - Records are structs with columns, and `updateChanges` writes their changes: "Recommended
///   Practices for Designing Record Types", and "Record Comparison" in the README.
/// - Related writes are in one `write`, which is one transaction: "Transactions and Savepoints".
/// - Tasks use `async` accesses: "Swift Concurrency and GRDB".
/// - Records prepare their statements once for each connection.
/// - `init(row:)` is written by hand for fast reads, because `Codable` records cost more: "Codable
///   Records" in the README.
struct WithGRDB: Contender {
    enum Synchronous: Int, Sendable {
        /// GRDB's setting for WAL: a commit is not flushed, and a power cut undoes the last
        /// commits.
        case normal = 1
        /// A commit is flushed.
        case full = 2
    }

    /// An entry of the outbox, with the value that a rollback restores.
    ///
    /// It has only the changed column, which is less to write than the whole row.
    struct OutboxEntry: Codable, FetchableRecord, MutablePersistableRecord, Sendable {
        static let databaseTableName = "outbox"
        var id: Int64?
        var messageId: Int64
        var change: Data
        var oldStars: Int64

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    private let pool: DatabasePool
    private let encoder = JSONEncoder()

    init(at path: String, _ synchronous: Synchronous) throws {
        pool = try DatabasePool(path: path)
        // Not in `Configuration.prepareDatabase`: that runs before the pool sets up WAL, which sets
        // NORMAL again (DatabasePool.init and Database.setUpWALMode, 7.10.0).
        try pool.writeWithoutTransaction { db in
            if synchronous == .full { try db.execute(sql: "PRAGMA synchronous = FULL") }
            let found = try Int.fetchOne(db, sql: "PRAGMA synchronous")
            precondition(found == synchronous.rawValue, "synchronous is \(found ?? -1)")
        }
        try migrate()
        try pool.write { db in
            for id in 0..<Message.count { try Message(id: id).insert(db) }
        }
        try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }

    /// Creates the tables as "Migrations" and "Database Schema Recommendations" describe.
    private func migrate() throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: Message.databaseTableName) { table in
                table.primaryKey("id", .integer)
                table.column("thread", .integer).notNull()
                table.column("sent", .integer).notNull()
                table.column("stars", .integer).notNull()
                table.column("isRead", .boolean).notNull()
                table.column("isSynced", .boolean).notNull().defaults(to: true)
                table.column("text", .text).notNull()
            }
            // Not partial: SQLite uses a partial index only if the query contains the same
            // constant, and the query interface binds arguments instead.
            try db.create(
                index: "message_on_isRead_sent", on: Message.databaseTableName,
                columns: ["isRead", "sent"])
            try db.create(table: OutboxEntry.databaseTableName) { table in
                table.autoIncrementedPrimaryKey("id")
                table.belongsTo("message", onDelete: .cascade).notNull()
                table.column("change", .blob).notNull()
                table.column("oldStars", .integer).notNull()
            }
        }
        try migrator.migrate(pool)
    }

    // MARK: Changes by the user

    func star(_ id: Int64) async throws -> OutboxEntry {
        let change = try encoder.encode(Change.starred(id))
        return try await pool.write { db in try Self.star(id, change, db) }
    }

    func starTogether(_ ids: [Int64]) async throws -> [OutboxEntry] {
        let changes = try ids.map { ($0, try encoder.encode(Change.starred($0))) }
        return try await pool.write { db in try changes.map { try Self.star($0, $1, db) } }
    }

    private static func star(_ id: Int64, _ change: Data, _ db: Database) throws -> OutboxEntry {
        var message = try Stored.find(db, key: id)
        var entry = OutboxEntry(
            id: nil, messageId: id, change: change, oldStars: message.message.stars)
        try entry.insert(db)
        try message.updateChanges(db) {
            $0.message.stars += 1
            $0.isSynced = false
        }
        return entry
    }

    // MARK: Answers by the server

    func acknowledge(_ entry: OutboxEntry) async throws {
        try await pool.write { db in try Self.acknowledge(entry, db) }
    }

    func acknowledgeTogether(_ entries: [OutboxEntry]) async throws {
        try await pool.write { db in for entry in entries { try Self.acknowledge(entry, db) } }
    }

    /// Does not look for other entries of the message. An app that allows several entries needs
    /// that.
    private static func acknowledge(_ entry: OutboxEntry, _ db: Database) throws {
        try entry.delete(db)
        try Message.filter(key: entry.messageId)
            .updateAll(db, Column("isSynced").set(to: true))
    }

    /// Correct only if the message has no later entry, whose change would be lost.
    func rollBack(_ entry: OutboxEntry) async throws {
        try await pool.write { db in
            try entry.delete(db)
            try Message.filter(key: entry.messageId).updateAll(
                db, Column("stars").set(to: entry.oldStars), Column("isSynced").set(to: true))
        }
    }

    // MARK: Reading

    func page(before sent: Int64) throws -> [Message] {
        try pool.read { db in
            try Message
                .filter(Column("isRead") == false && Column("sent") < sent)
                .order(Column("sent").desc)
                .limit(50)
                .fetchAll(db)
        }
    }

    func stars(of id: Int64) throws -> Int64? {
        try pool.read { db in try Message.fetchOne(db, key: id)?.stars }
    }

    func close() throws { try pool.close() }
}

extension Message: FetchableRecord, PersistableRecord {
    static let databaseTableName = "message"

    init(row: Row) {
        self.init(
            id: row["id"], thread: row["thread"], sent: row["sent"], stars: row["stars"],
            isRead: row["isRead"], text: row["text"])
    }

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["thread"] = thread
        container["sent"] = sent
        container["stars"] = stars
        container["isRead"] = isRead
        container["text"] = text
    }
}

/// A message with the column `isSynced`, which says whether the server has all changes.
private struct Stored: FetchableRecord, PersistableRecord {
    static let databaseTableName = Message.databaseTableName
    var message: Message
    var isSynced: Bool

    init(row: Row) {
        message = Message(row: row)
        isSynced = row["isSynced"]
    }

    func encode(to container: inout PersistenceContainer) {
        message.encode(to: &container)
        container["isSynced"] = isSynced
    }
}
