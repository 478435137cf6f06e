import Foldback
import TestSupport

/// A table of texts by key without an index, as code of one age folds it. `Code` is ``OldCode``,
/// ``NewCode``, or ``LaterCode``.
struct Notes<Code>: StoredProjection {
    static var name: String { "notes" }
    static var notes: RowTable<String, String> { RowTable("notes", codec: JSONBytes()) }
    static var schema: RowSchema { RowSchema(notes) }
    static var codec: any EventCodec<Move> {
        NotesCodec(knowsClaims: Code.self != OldCode.self, isLater: Code.self == LaterCode.self)
    }

    static func apply(
        _ move: Move, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch move {
        case .set(let key, let count):
            try rows.put(String(repeating: "x", count: count), at: key, in: notes)
        case .claim(let key): try rows.put("claimed", at: key, in: notes)
        case .add(let key, _): try rows.update(key, in: notes) { $0 += "+" }
        case .remove(let key): try rows.remove(key, from: notes)
        case .replaceAll, .sweep: throw MoveConflict(reason: "unknown")
        }
    }
}

/// Code that cannot read claims.
enum OldCode {}
/// Code that reads all events.
enum NewCode {}
/// Code that reads all events, and writes a later format that the other code cannot read.
enum LaterCode {}

private struct NotesCodec: EventCodec {
    let knowsClaims: Bool
    var isLater = false
    var format: EventFormat {
        let format = MoveCodec().format
        return EventFormat(codec: format.codec, version: format.version + (isLater ? 1 : 0))
    }
    func encode(_ move: Move) throws -> [UInt8] { try MoveCodec().encode(move) }
    func decode(_ bytes: RawSpan, format: EventFormat) throws -> Move {
        guard format.version <= self.format.version else {
            throw MoveConflict(reason: "unknown format")
        }
        let move = try MoveCodec().decode(bytes, format: MoveCodec().format)
        if case .claim = move, !knowsClaims { throw MoveConflict(reason: "unknown event") }
        return move
    }
}
