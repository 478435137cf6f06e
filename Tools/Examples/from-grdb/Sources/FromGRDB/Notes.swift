import Foldback
import Foundation
import GRDB

/// A note, as the app's SQLite table had it, and as the rows of its log have it.
public struct Note: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    public static let databaseTableName = "note"

    public var id: String
    public var text: String
    public var changed: Date

    public init(id: String, text: String, changed: Date) {
        self.id = id
        self.text = text
        self.changed = changed
    }
}

/// The notes as rows of a log, with an index for the list on the screen.
public struct Notes: StoredProjection {
    public enum Event: Codable, Sendable {
        case written(Note)
        case deleted(id: String)
    }

    public static let notes = RowTable("notes", key: String.self, row: Note.self)
    public static let byChange = notes.index("by change") { _, note in note.changed }
    public static let schema = RowSchema(notes, byChange)

    public static func apply(
        _ event: Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .written(let note): try rows.put(note, at: note.id, in: notes)
        case .deleted(let id): try rows.remove(id, from: notes)
        }
    }
}
