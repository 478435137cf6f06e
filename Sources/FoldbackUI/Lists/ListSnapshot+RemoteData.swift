extension ListSnapshot.Builder {
    /// Adds the rows of remote data: placeholders until there is an answer, and then the items. A
    /// failure has no rows, because it is not shown as a row.
    ///
    /// - Parameters:
    ///   - data: the items. An empty success adds nothing (#74).
    ///   - placeholders: their number, at the section's end; from 0 up.
    ///   - status: returns the status of an item, by default without marks.
    @inlinable public mutating func items<Failure: Error>(
        _ data: RemoteData<some Sequence<Item>, Failure>, placeholders: Int,
        status: (Item) -> ItemStatus = { _ in .settled }
    ) {
        switch data {
        case .notAsked, .loading: self.placeholders(count: placeholders)
        case .failure: break
        case .success(let items): self.items(items, status: status)
        }
    }
}

extension RemoteData where Value: Sequence {
    /// Returns a list with one section: placeholders until there is an answer, and then the items. A
    /// failure has no rows.
    ///
    /// ```swift
    /// let list = try menu.list(in: "menu", placeholders: 8)
    /// ```
    ///
    /// - Throws: `.duplicateItem` if two items have the same id (U19).
    /// - Complexity: O(n) in rows.
    @inlinable public func list<SectionID: Hashable & Sendable>(
        in section: SectionID, placeholders: Int
    ) throws(ListError) -> ListSnapshot<SectionID, Value.Element>
    where Value.Element: Identifiable & Equatable & Sendable, Value.Element.ID: Sendable {
        try ListSnapshot { list throws(ListError) in
            list.section(section)
            list.items(self, placeholders: placeholders)
        }
    }
}
