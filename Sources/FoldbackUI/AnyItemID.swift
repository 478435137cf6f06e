/// The id of an item, whatever its type.
///
/// `AnyHashable` would do, but it is not `Sendable`.
struct AnyItemID: Hashable, Sendable {
    private let id: any Hashable & Sendable
    /// Known, because a table compares an id with several others, and most of them differ.
    private let hash: Int

    init(_ id: some Hashable & Sendable) {
        self.id = id
        hash = id.hashValue
    }

    /// Returns the id if it has this type.
    func value<ID>(as _: ID.Type) -> ID? { id as? ID }

    static func == (first: AnyItemID, second: AnyItemID) -> Bool {
        func isSame<ID: Hashable>(_ id: ID) -> Bool { second.id as? ID == id }
        return first.hash == second.hash && isSame(first.id)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
