/// The contents of a list at one moment: its sections, with rows that are items, placeholders and
/// ghosts.
///
/// ```swift
/// let list = try ListSnapshot<FeedSection, Post> { list in
///     list.section(.pinned)
///     list.items(feed.pinned)
///     list.section(.posts)
///     list.items(feed.posts, status: { model.status(of: $0.id) })
///     list.placeholders(count: 3)
/// }
/// ```
/// A view draws one cell for each row, and keeps the cell as long as the row's id exists. All ids
/// are distinct (U19), so the rows can be used in `ForEach` and in diffable data sources.
/// ``difference(from:)`` says what has changed since another snapshot.
///
/// Only ids are hashed. The content of items is compared, and does not need to be `Hashable`.
///
/// A snapshot is an immutable value, and copying it takes constant time. It is `Equatable`: two
/// snapshots are equal if they have equal sections with equal rows in the same order.
public struct ListSnapshot<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
>: Sendable where Item.ID: Sendable {
    @usableFromInline let storage: Storage

    @inlinable init(_ storage: Storage) { self.storage = storage }

    /// Makes a snapshot without sections.
    public init() { storage = .empty }

    /// The identity of a row. It stays the same while the row's content, status and place change.
    public enum RowID: Sendable {
        /// The row of an item, also before the content of the item is known (U20).
        case item(Item.ID)
        /// The row of a placeholder. Slots count outward from the section's content, from 0 up, so a
        /// placeholder has the same id in each snapshot (U20).
        case placeholder(SectionID, ListEdge, slot: Int)
    }

    /// One row of a list.
    public struct Row: Identifiable, Sendable {
        public let id: RowID
        /// The item to show; nil for a placeholder, and for an item whose id is known before its
        /// content (U20). Hide a row without content from assistive technology.
        public let content: Item?
        /// The intents about the item.
        public let status: ItemStatus
        /// Whether the row shows the event of an intent that is not in the view (U32).
        public let isGhost: Bool

        @inlinable init(id: RowID, content: Item?, status: ItemStatus, isGhost: Bool) {
            self.id = id
            self.content = content
            self.status = status
            self.isGhost = isGhost
        }
    }

    /// One section of a list, with its rows.
    public struct Section: Identifiable, Sendable {
        public let id: SectionID
        /// From the top down, including placeholders.
        public let rows: [Row]

        @inlinable init(id: SectionID, rows: [Row]) {
            self.id = id
            self.rows = rows
        }
    }

    /// The sections, from the top down.
    @inlinable public var sections: [Section] { storage.sections }

    /// The number of rows in all sections, including placeholders.
    @inlinable public var rowCount: Int { storage.rows.count }

    /// Whether there is a row without content. The list of a busy snapshot is announced as busy
    /// (`aria-busy`), because its rows without content are not announced (U20).
    @inlinable public var isBusy: Bool { storage.isBusy }

    /// The row at a place of this snapshot. Traps if the place has none.
    @inlinable public subscript(place: RowPlace) -> Row {
        storage.sections[place.section].rows[place.row]
    }

    /// Returns the place of a row; nil if no row has the id. It takes constant time.
    @inlinable public func place(of id: RowID) -> RowPlace? { storage.rows[id] }

    /// Returns the place of an item's row; nil if the item has no row. It takes constant time.
    @inlinable public func place(ofItem id: Item.ID) -> RowPlace? { storage.rows[.item(id)] }

    /// Returns the index of a section; nil if no section has the id. It takes constant time.
    @inlinable public func index(ofSection id: SectionID) -> Int? { storage.indexes[id] }
}

extension ListSnapshot {
    /// The sections, and the indexes that prove that ids are distinct.
    @usableFromInline final class Storage: Sendable {
        @usableFromInline let sections: [Section]
        /// The index of each section.
        @usableFromInline let indexes: [SectionID: Int]
        /// The place of each row. Differences look rows up here, so a list is indexed only once.
        @usableFromInline let rows: [RowID: RowPlace]
        @usableFromInline let isBusy: Bool
        @usableFromInline let functions = ListFunctions<SectionID, Item>()

        static var empty: Storage { Storage() }

        private init() { (sections, indexes, rows, isBusy) = ([], [:], [:], false) }

        /// - Throws: `.duplicateSection` or `.duplicateItem`, for the first row or section that
        ///   repeats an id.
        /// - Complexity: O(n) in rows.
        @inlinable init(_ sections: [Section]) throws(ListError) {
            var indexes: [SectionID: Int] = [:]
            for (index, section) in sections.enumerated() {
                if let first = indexes.updateValue(index, forKey: section.id) {
                    throw .duplicateSection("\(section.id)", first: first, second: index)
                }
            }
            var rows: [RowID: RowPlace] = [:]
            rows.reserveCapacity(sections.reduce(0) { $0 + $1.rows.count })
            var isBusy = false
            for section in sections.indices {
                // A pointer, because the array would retain all parts of a row to read its id.
                let error = sections[section].rows.withUnsafeBufferPointer { list -> ListError? in
                    for index in list.indices {
                        let place = RowPlace(section: section, row: index)
                        if let first = rows.updateValue(place, forKey: list[index].id) {
                            return .duplicateItem(
                                "\(list[index].id)", first: first, second: place)
                        }
                        if case .none = list[index].content { isBusy = true }
                    }
                    return nil
                }
                if let error { throw error }  // mutant: list-duplicate-item
            }
            self.sections = sections
            self.indexes = indexes
            self.rows = rows
            self.isBusy = isBusy
        }
    }
}

extension ListSnapshot.RowID: CustomStringConvertible {
    /// The item's id, or the placeholder's section, edge and slot.
    public var description: String {
        switch self {
        case .item(let id): "\(id)"
        case .placeholder(let section, let edge, let slot): "\(section) \(edge) \(slot)"
        }
    }
}
