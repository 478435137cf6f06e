import Foldback
import Foundation
import GRDB

/// Opens the log of notes. The first time, the log begins from the app's SQLite table.
///
/// ```
/// table note ─▶ begin: the log with all notes, or none ─▶ drop the table
/// ```
/// Call it at each start. If it was cut off, the next call finishes: a log that is there is complete, and has
/// newer notes than the table, so the table is only dropped then.
///
/// - Parameters:
///   - log: the directory of the log.
///   - database: the database that the app used before.
/// - Throws: the errors of the database and of the log. Nothing is lost: the table is dropped only when
///   the log has its notes.
public func openNotes(
    at log: URL, movingFrom database: DatabaseQueue
) async throws -> Store<Notes> {
    if try await database.read({ try $0.tableExists(Note.databaseTableName) }) {
        if !FileManager.default.fileExists(atPath: log.path) {
            let rows = try await database.read { database in
                try BaseState.rows(of: Notes.self) { rows in
                    let notes = try Note.fetchCursor(database)
                    while let note = try notes.next() {
                        try rows.insert(note, at: note.id, in: Notes.notes)
                    }
                }
            }
            // The app has no server. With a server, it is the variant with `through` and `of`.
            try await Store<Notes>.begin(at: log, from: [rows])
        }
        try await database.write { try $0.drop(table: Note.databaseTableName) }
    }
    return try await Store.open(
        at: log, Notes.self, confirmedBy: .acknowledgement, durability: .durable)
}
