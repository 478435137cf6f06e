/// The id of an item, whatever its type.
///
/// `AnyHashable` would do, but it is not `Sendable`.
struct AnyItemID: Hashable, Sendable {
    private let id: any Hashable & Sendable

    init(_ id: some Hashable & Sendable) { self.id = id }

    static func == (first: AnyItemID, second: AnyItemID) -> Bool {
        func isSame(_ id: some Hashable) -> Bool { second.id as? AnyHashable == AnyHashable(id) }
        return isSame(first.id)
    }

    func hash(into hasher: inout Hasher) { id.hash(into: &hasher) }
}
