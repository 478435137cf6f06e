import Foldback
import Foundation
import FromGRDB
import GRDB
import Testing

/// Question: does an app that moves from a SQLite table to a log keep every row, also if moving is cut off?
@Suite struct MovingTests {
    private let directory = URL.temporaryDirectory.appending(
        path: "from-grdb-\(UUID())", directoryHint: .isDirectory)
    private let notes = (1...2_000).map { number in
        Note(
            id: "note \(number)", text: "text \(number)",
            changed: Date(timeIntervalSince1970: Double(number * 7_919 % 100_000)))
    }

    private func makeDatabase() throws -> DatabaseQueue {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: directory.appending(path: "notes.sqlite").path)
        try database.write { database in
            try database.create(table: "note", options: .ifNotExists) { table in
                table.primaryKey("id", .text)
                table.column("text", .text).notNull()
                table.column("changed", .datetime).notNull()
            }
            for note in notes { try note.insert(database) }
        }
        return database
    }

    private var log: URL { directory.appending(path: "notes", directoryHint: .isDirectory) }

    private func expectAll(_ store: Store<Notes>) throws {
        try store.read { rows in
            let all = try rows.page(of: Notes.notes, limit: notes.count + 1).map(\.row)
            let areAll = all == notes.sorted { $0.id < $1.id }
            #expect(areAll, "\(all.count) of \(notes.count) rows")
            let newest = try rows.page(of: Notes.byChange, order: .descending, limit: 10)
            #expect(
                newest.map(\.row.changed) == notes.map(\.changed).sorted().suffix(10).reversed())
        }
    }

    @Test func `the log begins with every row, and the table is gone`() async throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let database = try makeDatabase()
        let store = try await openNotes(at: log, movingFrom: database)
        try expectAll(store)
        #expect(try await database.read { try !$0.tableExists("note") })
        try await store.record(.deleted(id: "note 1"))
        await store.close()
        let again = try await openNotes(at: log, movingFrom: database)
        #expect(again.status.pendingCount == 1)
        #expect(try await again.verify().findings == [])
        await again.close()
    }

    @Test func `a move that was cut off before the table was dropped does not take old rows`()
        async throws
    {
        defer { try? FileManager.default.removeItem(at: directory) }
        let database = try makeDatabase()
        let store = try await openNotes(at: log, movingFrom: database)
        try await store.record(.written(Note(id: "new", text: "", changed: .now)))
        await store.close()
        // As if the process had ended before it dropped the table.
        let old = try makeDatabase()
        let again = try await openNotes(at: log, movingFrom: old)
        #expect(again.status.pendingCount == 1)
        #expect(try await old.read { try !$0.tableExists("note") })
        await again.close()
    }
}
