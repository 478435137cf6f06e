import Foldback

/// Finds the pairs of a deleted and an inserted row that show the same thing.
struct ListReplacements<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
> where Item.ID: Sendable {
    typealias Difference = ListDifference<SectionID, Item>
    typealias Snapshot = ListSnapshot<SectionID, Item>

    /// Ascending by insertion.
    var found: [Difference.Replacement] {
        pairs.map { Difference.Replacement(deletion: $0.value, insertion: $0.key) }
            .sorted { $0.insertion < $1.insertion }
    }

    private let old: Snapshot
    private let new: Snapshot
    private let difference: Difference
    /// The deletion of each paired insertion.
    private var pairs: [RowPlace: RowPlace] = [:]

    /// - Parameter difference: with everything except the replacements.
    init(from old: Snapshot, to new: Snapshot, _ difference: Difference) {
        (self.old, self.new, self.difference) = (old, new, difference)
        guard !difference.deletions.isEmpty, !difference.insertions.isEmpty else { return }
        pairRetries()
        pairPlaceholders()
    }

    /// Pairs ghosts with the rows of the intents that retry theirs (U32).
    private mutating func pairRetries() {
        var ghosts: [IntentNumber: RowPlace] = [:]
        for deletion in difference.deletions where old[deletion.place].isGhost {
            for mark in old[deletion.place].status.marks { ghosts[mark.number] = deletion.place }
        }
        guard !ghosts.isEmpty else { return }
        var paired: Set<RowPlace> = []
        for insertion in difference.insertions {
            let retried = insertion.row.status.marks.lazy.compactMap(\.retries)
            guard
                let ghost = retried.compactMap({ ghosts[$0] }).first(where: { !paired.contains($0) }
                )
            else { continue }
            paired.insert(ghost)
            pairs[insertion.place] = ghost
        }
    }

    /// Pairs each deleted placeholder with the item that was inserted in its slot (U20).
    private mutating func pairPlaceholders() {
        var slots: [Int: EdgePair<[(slot: Int, place: RowPlace)]>] = [:]
        for deletion in difference.deletions {
            guard case .placeholder(let id, let edge, let slot) = deletion.id,
                let section = new.index(ofSection: id)
            else { continue }
            slots[section, default: EdgePair(start: [], end: [])][edge]
                .append((slot, deletion.place))
        }
        for (section, slots) in slots { pair(slots, in: section) }
    }

    /// Pairs the deleted placeholders of a section. Items arrive outward from the items that it had
    /// before.
    ///
    /// If it had none, and both edges had placeholders, the upper items belong to the start.
    private mutating func pair(
        _ slots: EdgePair<[(slot: Int, place: RowPlace)]>, in section: Int
    ) {
        let rows = new.sections[section].rows
        var top = slots.start.isEmpty ? [] : arrived(in: section, rows.indices)
        var bottom = slots.end.isEmpty ? [] : arrived(in: section, rows.indices.reversed())
        if let first = top.first, let last = bottom.last, first == last {
            top = Array(top.prefix(1 + (slots.start.map(\.slot).max() ?? 0)))
        }
        let last = pair(slots.start, with: top.reversed())
        if let last { bottom.removeAll { $0 <= last } }
        pair(slots.end, with: bottom.reversed())
    }

    /// Pairs placeholders with the items in their slots, and returns the last place that was paired.
    @discardableResult private mutating func pair(
        _ slots: [(slot: Int, place: RowPlace)], with arrived: [RowPlace]
    ) -> RowPlace? {
        var last: RowPlace?
        for (slot, place) in slots where slot < arrived.count && pairs[arrived[slot]] == nil {
            last = max(last ?? arrived[slot], arrived[slot])
            pairs[arrived[slot]] = place  // mutant: list-replaced-placeholder
        }
        return last
    }

    /// Returns the places of the items at the beginning of `rows` that were inserted.
    private func arrived(in section: Int, _ rows: some Sequence<Int>) -> [RowPlace] {
        var arrived: [RowPlace] = []
        for row in rows {
            let place = RowPlace(section: section, row: row)
            guard case .item = new[place].id else { continue }
            guard old.place(of: new[place].id) == nil else { break }
            arrived.append(place)
        }
        return arrived
    }
}
