/// The part of an app that something is about: everything, or some items.
///
/// ```swift
/// let draft = Scope.items("post 7", "post 8")
/// let isSendDisabled = states.blocking.intersects(draft)
/// ```
///
/// Items are named by any ids, also of different types. An id stands for one item in the whole app. Ids
/// of different types are of different items: `7` is not `Int64(7)`.
public struct Scope: Hashable, Sendable {
    private enum Extent: Hashable {
        case all
        case items(Set<AnyItemID>)
    }

    private let extent: Extent

    /// Everything.
    public static let all = Scope(extent: .all)
    /// The scope without items.
    public static let nothing = Scope(extent: .items([]))

    /// Returns the scope of the items with these ids.
    public static func items<ID: Hashable & Sendable>(_ ids: ID...) -> Scope { items(in: ids) }

    /// Returns the scope of the items with these ids.
    ///
    /// The argument has a label because a `String` is a sequence too, and may be an id.
    public static func items<ID: Hashable & Sendable>(in ids: some Sequence<ID>) -> Scope {
        Scope(extent: .items(Set(ids.map { AnyItemID($0) })))
    }

    /// Whether the scope has no items.
    public var isEmpty: Bool { self == .nothing }

    /// Returns whether an item is in both scopes. A scope of everything intersects each scope that
    /// is not empty.
    ///
    /// - Complexity: O(n) in the items of the smaller scope.
    public func intersects(_ other: Scope) -> Bool {
        switch (extent, other.extent) {
        case (.all, .all): true
        case (.all, .items(let items)), (.items(let items), .all): !items.isEmpty
        case (.items(let first), .items(let second)): !first.isDisjoint(with: second)
        }
    }

    /// Returns the scope of what is in either scope.
    ///
    /// - Complexity: O(n) in the items.
    public func union(_ other: Scope) -> Scope {
        guard case .items(let first) = extent, case .items(let second) = other.extent else {
            return .all
        }
        return Scope(extent: .items(first.union(second)))
    }
}
