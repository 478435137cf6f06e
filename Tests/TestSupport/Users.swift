import Foldback

/// Users by id, with unique names.
public struct Users: StoredProjection {
    public static let users = RowTable("users", key: Int.self, row: String.self)
    public static let byName = users.index("by name", isUnique: true) { _, name in name }
    public static let schema = RowSchema(users, byName)
    public static var codec: any EventCodec<Move> { MoveCodec() }

    public static func apply(
        _ move: Move, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch move {
        case .set(let name, let id): try rows.put(name, at: id, in: users)
        case .remove(let id): try rows.remove(Int(id) ?? 0, from: users)
        case .add, .claim, .replaceAll, .sweep: throw MoveConflict(reason: "unknown")
        }
    }
}
