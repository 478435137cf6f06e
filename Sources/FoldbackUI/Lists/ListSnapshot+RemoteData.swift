extension ListSnapshot {
    /// Returns a list with one section of placeholders, for data without an answer. `count` is from
    /// 0 up.
    public static func placeholders(count: Int, in section: SectionID) -> ListSnapshot {
        do throws(ListError) {
            return try ListSnapshot { list throws(ListError) in
                list.section(section)
                list.placeholders(count: count)
            }
        } catch {
            preconditionFailure("placeholders have distinct ids, but \(error)")
        }
    }
}

extension ListSnapshot.Builder {
    /// Adds the rows of remote data: placeholders until there is an answer, and then the items, as
    /// ``items(_:)`` does. A failure has no rows, because it is not shown as a row.
    ///
    /// An empty success adds nothing. The placeholders are at the section's end, and their number is
    /// from 0 up.
    @inlinable public mutating func items<Failure: Error>(
        _ data: RemoteData<some Sequence<Item>, Failure>, placeholders: Int
    ) {
        switch data {
        case .notAsked, .loading: self.placeholders(count: placeholders)
        case .failure: break
        case .success(let items): self.items(items)
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
