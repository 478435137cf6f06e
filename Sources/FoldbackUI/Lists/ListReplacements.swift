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
        var arrivals: [ArrivalKey: [RowPlace]] = [:]
        for deletion in difference.deletions {
            guard case .placeholder(let id, let edge, let slot) = deletion.id,
                let section = new.index(ofSection: id)
            else { continue }
            let key = ArrivalKey(section: section, edge: edge)
            let arrived = arrivals[key] ?? self.arrived(at: edge, of: section)
            arrivals[key] = arrived
            guard slot < arrived.count, pairs[arrived[slot]] == nil else { continue }
            pairs[arrived[slot]] = deletion.place  // mutant: list-replaced-placeholder
        }
    }

    private struct ArrivalKey: Hashable {
        let section: Int
        let edge: ListEdge
    }

    /// Returns the places of the items that were inserted at an edge of a section of the new
    /// snapshot, outward from the items that it had before.
    private func arrived(at edge: ListEdge, of section: Int) -> [RowPlace] {
        let rows = new.sections[section].rows
        let inward =
            edge == .start
            ? stride(from: 0, to: rows.count, by: 1)
            : stride(from: rows.count - 1, to: -1, by: -1)
        var arrived: [RowPlace] = []
        for row in inward {
            guard case .item = rows[row].id else { continue }
            guard old.place(of: rows[row].id) == nil else { break }
            arrived.append(RowPlace(section: section, row: row))
        }
        return arrived.reversed()
    }
}
