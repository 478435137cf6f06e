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

    init() {}

    init(_ notes: [Note]) {
        for note in notes { self.notes[note.id] = note.text }
    }

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
        let snapshot = snapshot
        return snapshot.view.naiveList(try naiveIntents(of: SeenIntents(snapshot)))
    }
}

extension Pad {
    /// The list of the notes as text.
    ///
    /// - Parameter intents: the intents with marks.
    func naiveList(_ intents: [NaiveIntent<Event>]) -> [String] {
        let statuses = Self.naiveStatuses(of: intents)
        let ghosts = intents.ghosts(besides: Set(notes.keys), Self.ghost)
        return ["a", "b"].map { section in
            let rows =
                ghosts.filter { $0.text.hasPrefix(section) }
                .map { text($0, statuses[$0.id], isGhost: true) }
                + notes(in: section).map { text($0, statuses[$0.id], isGhost: false) }
            return "\(section): \(rows.joined(separator: ", "))"
        }
    }
}

extension Array {
    /// The ghosts of hidden intents, for which there are no rows.
    func ghosts<Event: Sendable>(
        besides ids: Set<String>, _ ghost: (Event, EventContext) -> Note?
    ) -> [Note] where Element == NaiveIntent<Event> {
        var ghosts: [Note] = []
        for intent in self where intent.isHidden {
            guard let note = ghost(intent.event, intent.context) else { continue }
            // A newer ghost of a note replaces an older ghost.
            ghosts.removeAll { $0.id == note.id }
            if !ids.contains(note.id) { ghosts.append(note) }
        }
        return ghosts
    }
}

/// A row as text, with its marks.
func text(_ note: Note, _ status: ItemStatus?, isGhost: Bool) -> String {
    (isGhost ? "!" : "") + "\(note.id)=\(note.text)"
        + (status?.marks ?? []).map { " \($0.number) \($0.state.word)" }.joined()
}

/// A list of a pad's notes in two sections, of those that begin with "a" and with "b". Ghosts come
/// first in the section of their text.
@MainActor func noteList(_ model: OptimisticModel<Pad>) -> ListModel<String, Note> {
    noteList(model, of: { $0 })
}

/// The same list of any projection with a pad.
@MainActor func noteList<P: Projection & Itemized>(
    _ model: OptimisticModel<P>, of pad: @escaping @Sendable (P) -> Pad
) -> ListModel<String, Note> where P.Event == Pad.Event, P.ItemID == String {
    ListModel<String, Note>(of: model) { list, view in
        list.add(pad(view))
    } ghost: { intent, _ in
        Pad.ghost(intent.event, intent.context)
    }
}

extension NoteList.Builder {
    /// Adds the sections of ``noteList(_:)``.
    mutating func add(_ pad: Pad) {
        for section in ["a", "b"] {
            self.section(section)
            for ghost in ghosts where ghost.text.hasPrefix(section) { self.ghost(ghost) }
            items(pad.notes(in: section))
        }
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
