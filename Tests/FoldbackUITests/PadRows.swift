import Foldback
import FoldbackTesting
import FoldbackUI
import TestSupport

/// A ``Pad`` as rows.
struct PadRows: StoredProjection, Itemized {
    static let notes = RowTable("notes", key: String.self, row: String.self)
    static let schema = RowSchema(notes)

    static func apply(
        _ event: Pad.Event, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event {
        case .posted(let text): try rows.put(text, at: context.id(), in: notes)
        case .edited(let id, let text):
            guard try rows.get(id, in: notes) != nil else {
                throw MoveConflict(reason: "no note \(id)")
            }
            try rows.put(text, at: id, in: notes)
        case .removed(let id): try rows.remove(id, from: notes)
        }
    }

    static func items(of event: Pad.Event, _ context: EventContext) -> [ItemReference<String>] {
        Pad.items(of: event, context)
    }

    static func pad(_ rows: borrowing RowReader<PadRows>) throws -> Pad {
        let notes = try rows.page(of: notes, limit: .max)
        return Pad(notes.map { Note(id: $0.key, text: $0.row) })
    }
}

/// A list of a pad's rows, as ``noteList(_:)`` of a pad.
@MainActor func noteList(_ model: RowsModel<PadRows>) -> ListModel<String, Note> {
    ListModel<String, Note>(of: model) { reader in
        try PadRows.pad(reader)
    } rows: { list, pad in
        list.add(pad)
    } ghost: { intent, _ in
        Pad.ghost(intent.event, intent.context)
    }
}

extension Sharing: Itemized where P: Itemized {
    public static func items(
        of event: P.Event, _ context: EventContext
    ) -> [ItemReference<P.ItemID>] { P.items(of: event, context) }
}
