import Foldback

/// The ghosts that a list has to show, and the statuses of its items (U32).
struct ListMarks<Item: Identifiable> where Item.ID: Sendable {
    /// The items of the ghosts, each with an id of its own.
    private(set) var ghosts: [Item] = []
    /// The marks of the intents that became a ghost's item.
    fileprivate private(set) var marks: [Item.ID: [IntentMark]] = [:]

    /// Adds a ghost. A newer intent about the same item replaces the item of an older intent.
    mutating func add(_ item: Item, _ mark: IntentMark) {
        if marks[item.id] != nil { ghosts.removeAll { $0.id == item.id } }
        ghosts.append(item)
        marks[item.id, default: []].append(mark)
    }
}

extension ListSnapshot {
    /// Makes a snapshot with ghosts.
    ///
    /// - Parameters:
    ///   - statuses: returns the status of an item; nil if no item has marks.
    ///   - build: places ghosts. Those that it does not place are added at the end.
    /// - Throws: as ``init(_:)``; `.missingSection` if there are ghosts and `build` adds no
    ///   section.
    init(
        _ marks: ListMarks<Item>, statuses: ((Item.ID) -> ItemStatus)?,
        _ build: (inout Builder) throws(ListError) -> Void
    ) throws(ListError) {
        var builder = Builder()
        builder.statuses = statuses
        builder.ghosts = marks.ghosts
        builder.ghostMarks = marks.marks
        try build(&builder)
        try builder.finishGhosts()
        storage = try (builder.functions ?? ListFunctions()).storage(builder.sections)
    }
}

extension ListSnapshot.Builder {
    /// Gives the marks of ghosts to the items that have rows, instead of ghosts, and adds the
    /// ghosts that were not placed.
    fileprivate mutating func finishGhosts() throws(ListError) {
        guard let first = ghosts.first else { return }
        guard !parts.isEmpty else { throw .missingSection(for: "the ghost \(first.id)") }
        var known: Set<Item.ID> = []
        var placed: Set<Item.ID> = []
        for part in parts.indices {
            for row in parts[part].rows.indices {
                guard case .item(let id) = parts[part].rows[row].id, let marks = ghostMarks[id]
                else { continue }
                let old = parts[part].rows[row]
                guard !old.isGhost else {
                    placed.insert(id)
                    continue
                }
                known.insert(id)
                parts[part].rows[row] = ListSnapshot.Row(
                    id: old.id, content: old.content, status: old.status.adding(marks),
                    isGhost: false)
            }
        }
        for part in parts.indices where !known.isEmpty {
            parts[part].rows.removeAll { row in
                guard row.isGhost, case .item(let id) = row.id else { return false }
                return known.contains(id)
            }
        }
        for item in ghosts where !known.contains(item.id) && !placed.contains(item.id) {
            ghost(item)  // mutant: list-lost-ghost
        }
    }
}

extension ItemStatus {
    /// Returns the status with the marks of more intents.
    func adding(_ more: [IntentMark]) -> ItemStatus {
        let known = Set(marks.map(\.number))
        return ItemStatus(marks: marks + more.filter { !known.contains($0.number) })
    }
}
