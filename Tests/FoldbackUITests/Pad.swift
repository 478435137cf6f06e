import Foldback
import FoldbackUI
import TestSupport

/// A pad of notes. Each posted note has the id of its event.
struct Pad: Projection, Itemized, Codable, Equatable {
    enum Event: Codable, Sendable, Equatable {
        case posted(String)
        /// Throws if the note is absent.
        case edited(String, String)
        case removed(String)
    }

    private(set) var notes: [String: String] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .posted(let text): notes[context.id()] = text
        case .edited(let id, let text):
            guard notes[id] != nil else { throw MoveConflict(reason: "no note \(id)") }
            notes[id] = text
        case .removed(let id): notes[id] = nil
        }
    }

    static func items(of event: Event, _ context: EventContext) -> [ItemReference<String>] {
        switch event {
        case .posted: [ItemReference(context.id())]
        case .edited(let id, _), .removed(let id): [ItemReference(id, facet: "text")]
        }
    }

    /// The notes of a section: those whose text begins with its name.
    func notes(in section: String) -> [Note] {
        notes.filter { $0.value.hasPrefix(section) }.sorted { $0.key < $1.key }
            .map { Note(id: $0.key, text: $0.value) }
    }

    /// The note that a hidden intent would make or edit.
    static func ghost(_ event: Event, _ context: EventContext) -> Note? {
        switch event {
        case .posted(let text): Note(id: context.id(), text: text)
        case .edited(let id, let text): Note(id: id, text: text)
        case .removed: nil
        }
    }
}

extension Store where P == Pad {
    /// A store in memory, on an empty log of replica "me".
    static func pad(_ kind: LogKind = .acknowledgement) -> Store<Pad> {
        .inMemory(Pad.self, confirmedBy: kind, replica: ReplicaID("me"), sources: .counting())
    }

    /// The list of the notes as text, computed from the log alone.
    func naiveList() throws -> [String] {
        let view = view
        let statuses = try naiveStatuses()
        var ghosts: [Note] = []
        for intent in try naiveIntents() {
            let isHidden =
                switch intent.mark.state {
                case .rejected, .conflicted: true
                case .accepted, .pending: intent.isConfirmOnly
                }
            guard isHidden, let note = Pad.ghost(intent.event, intent.context) else { continue }
            // A newer ghost of a note replaces an older ghost.
            ghosts.removeAll { $0.id == note.id }
            if view.notes[note.id] == nil { ghosts.append(note) }
        }
        func words(_ note: Note, isGhost: Bool) -> String {
            (isGhost ? "!" : "") + "\(note.id)=\(note.text)"
                + (statuses[note.id]?.marks ?? []).map { " \($0.number) \($0.state.word)" }.joined()
        }
        return ["a", "b"].map { section in
            let rows =
                ghosts.filter { $0.text.hasPrefix(section) }.map { words($0, isGhost: true) }
                + view.notes(in: section).map { words($0, isGhost: false) }
            return "\(section): \(rows.joined(separator: ", "))"
        }
    }
}

/// A list of a pad's notes in two sections, of those that begin with "a" and with "b". Ghosts come
/// first in the section of their text.
@MainActor func noteList(_ model: OptimisticModel<Pad>) -> ListModel<String, Note> {
    ListModel<String, Note>(of: model) { list, pad in
        for section in ["a", "b"] {
            list.section(section)
            for ghost in list.ghosts where ghost.text.hasPrefix(section) { list.ghost(ghost) }
            list.items(pad.notes(in: section))
        }
    } ghost: { intent, _ in
        Pad.ghost(intent.event, intent.context)
    }
}

/// A list as text: for each section its rows, with the marks of each row. `!` is a ghost.
func text(_ list: NoteList) -> [String] {
    list.sections.map { section in
        let rows = section.rows.map { row in
            (row.isGhost ? "!" : "") + "\(row.id)=\(row.content?.text ?? "?")"
                + row.status.marks.map { " \($0.number) \($0.state.word)" }.joined()
        }
        return "\(section.id): \(rows.joined(separator: ", "))"
    }
}

extension MarkState {
    var word: String {
        switch self {
        case .accepted: "accepted"
        case .pending: "pending"
        case .conflicted: "conflicted"
        case .rejected: "rejected"
        }
    }
}
