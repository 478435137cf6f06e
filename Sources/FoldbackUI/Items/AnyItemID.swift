/// The id of an item, whatever its type.
///
/// `AnyHashable` would do, but it is not `Sendable`.
struct AnyItemID: Hashable, Sendable {
    private let id: any Hashable & Sendable

    init(_ id: some Hashable & Sendable) { self.id = id }

    /// Returns the id if it has this type.
    func value<ID>(as _: ID.Type) -> ID? { id as? ID }

    static func == (first: AnyItemID, second: AnyItemID) -> Bool {
        func isSame<ID: Hashable>(_ id: ID) -> Bool { second.id as? ID == id }
        return isSame(first.id)
    }

    func hash(into hasher: inout Hasher) { id.hash(into: &hasher) }
}
