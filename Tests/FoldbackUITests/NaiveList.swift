import Foldback
import FoldbackUI

/// A list as plain arrays, which performs one step after another.
struct NaiveList: Equatable {
    struct Section: Equatable {
        var id: String
        var rows: [NoteList.Row]
    }

    var sections: [Section]
    /// The steps that were not possible.
    var complaints: [String] = []

    init(_ list: NoteList) {
        sections = list.sections.map { Section(id: $0.id, rows: $0.rows) }
    }

    mutating func perform(_ step: ListStep<String, Note>) {
        let isPossible =
            switch step {
            case .insertSection(let id, let index):
                insert(Section(id: id, rows: []), at: index)
            case .moveSection(let id, let from, let to):
                removedSection(id, at: from).map { insert($0, at: to) } ?? false
            case .deleteSection(let id, let index):
                removedSection(id, at: index)?.rows.isEmpty ?? false
            case .insertRow(let row, let place): insert(row, at: place)
            case .moveRow(let id, let from, let to):
                removedRow(id, at: from).map { insert($0, at: to) } ?? false
            case .deleteRow(let id, let place): removedRow(id, at: place) != nil
            case .changeRow(let row, let place, _):
                removedRow(row.id, at: place).map { _ in insert(row, at: place) } ?? false
            }
        if !isPossible { complaints.append("\(step)") }
    }

    private mutating func removedSection(_ id: String, at index: Int) -> Section? {
        guard sections.indices.contains(index), sections[index].id == id else { return nil }
        return sections.remove(at: index)
    }

    private mutating func removedRow(_ id: NoteList.RowID, at place: RowPlace) -> NoteList.Row? {
        guard sections.indices.contains(place.section),
            sections[place.section].rows.indices.contains(place.row),
            sections[place.section].rows[place.row].id == id
        else { return nil }
        return sections[place.section].rows.remove(at: place.row)
    }

    private mutating func insert(_ section: Section, at index: Int) -> Bool {
        guard 0...sections.count ~= index else { return false }
        sections.insert(section, at: index)
        return true
    }

    private mutating func insert(_ row: NoteList.Row, at place: RowPlace) -> Bool {
        guard sections.indices.contains(place.section),
            0...sections[place.section].rows.count ~= place.row
        else { return false }
        sections[place.section].rows.insert(row, at: place.row)
        return true
    }
}

/// The parts of a difference that are certain, computed by comparing each row with each other row.
/// The choice of the moves is not: there can be several smallest sets of moves.
struct NaiveDifference {
    struct Located {
        let place: RowPlace
        let section: String
        let row: NoteList.Row
    }

    let old: NoteList
    let new: NoteList
    let oldRows: [NoteList.RowID: Located]
    let newRows: [NoteList.RowID: Located]

    init(from old: NoteList, to new: NoteList) {
        (self.old, self.new) = (old, new)
        (oldRows, newRows) = (Self.rows(of: old), Self.rows(of: new))
    }

    private static func rows(of list: NoteList) -> [NoteList.RowID: Located] {
        var rows: [NoteList.RowID: Located] = [:]
        for (index, section) in list.sections.enumerated() {
            for (row, content) in section.rows.enumerated() {
                let place = RowPlace(section: index, row: row)
                rows[content.id] = Located(place: place, section: section.id, row: content)
            }
        }
        return rows
    }

    var deletions: [String] {
        oldRows.values.filter { newRows[$0.row.id] == nil }.sorted { $0.place < $1.place }
            .map { "\(text($0.place)) \($0.row.id)" }
    }

    var insertions: [String] {
        newRows.values.filter { oldRows[$0.row.id] == nil }.sorted { $0.place < $1.place }
            .map { "\(text($0.place)) \($0.row)" }
    }

    var changes: [String] {
        newRows.values.sorted { $0.place < $1.place }.compactMap { new in
            guard let old = oldRows[new.row.id], old.row != new.row else { return nil }
            var kinds: [String] = []
            if old.row.content != new.row.content { kinds.append("content") }
            if old.row.status != new.row.status || old.row.isGhost != new.row.isGhost {
                kinds.append("status")
            }
            return "\(text(new.place)) \(new.row) \(kinds.joined(separator: " and "))"
        }
    }

    /// The moves between sections.
    var sectionChanges: [String] {
        newRows.values.sorted { $0.place < $1.place }.compactMap { new in
            guard let old = oldRows[new.row.id], old.section != new.section else { return nil }
            return "\(text(old.place)) \(text(new.place)) \(new.row.id)"
        }
    }

    /// The least number of moves within each new section.
    var movesWithinSections: [Int] {
        new.sections.map { section in
            Self.leastMoves(
                section.rows.compactMap { row in
                    oldRows[row.id].flatMap { $0.section == section.id ? $0.place.row : nil }
                })
        }
    }

    var sectionMoves: Int {
        Self.leastMoves(
            new.sections.compactMap { section in old.sections.firstIndex { $0.id == section.id } })
    }

    /// The values without the longest increasing run that ends at some value.
    private static func leastMoves(_ values: [Int]) -> Int {
        var runs = Array(repeating: 1, count: values.count)
        for end in values.indices {
            for start in 0..<end where values[start] < values[end] && runs[start] >= runs[end] {
                runs[end] = runs[start] + 1
            }
        }
        return values.count - (runs.max() ?? 0)
    }

    /// The pairs by the rules U20 and U32: retries first, then placeholders from the top down.
    var replacements: [String] {
        var pairs: [(deletion: Located, insertion: Located)] = []
        func pair(_ deletion: Located?, _ insertion: Located) {
            guard let deletion, oldRows[insertion.row.id] == nil,
                !pairs.contains(where: {
                    $0.deletion.place == deletion.place || $0.insertion.place == insertion.place
                })
            else { return }
            pairs.append((deletion, insertion))
        }
        let deleted = oldRows.values.filter { newRows[$0.row.id] == nil }
            .sorted { $0.place < $1.place }
        let inserted = newRows.values.filter { oldRows[$0.row.id] == nil }
            .sorted { $0.place < $1.place }
        for insertion in inserted {
            for retried in insertion.row.status.marks.compactMap(\.retries) {
                let ghost = deleted.last { ghost in
                    ghost.row.isGhost && ghost.row.status.marks.contains { $0.number == retried }
                }
                pair(ghost, insertion)
            }
        }
        // From the top down, so those at the start come first.
        for placeholder in deleted {
            guard case .placeholder(let section, let edge, let slot) = placeholder.row.id else {
                continue
            }
            let items = newRows.values.filter { item in
                if case .item = item.row.id { item.section == section } else { false }
            }.sorted { edge == .start ? $0.place < $1.place : $1.place < $0.place }
            var arrived = Array(items.prefix { oldRows[$0.row.id] == nil })
            func slots(at wanted: ListEdge) -> [Int] {
                deleted.compactMap { row in
                    guard case .placeholder(section, wanted, let slot) = row.row.id else {
                        return nil
                    }
                    return slot
                }
            }
            if arrived.count == items.count, let last = slots(at: .start).max(),
                !slots(at: .end).isEmpty
            {
                let atStart = pairs.filter { pair in
                    if case .placeholder(section, .start, _) = pair.deletion.row.id {
                        true
                    } else {
                        false
                    }
                }.map(\.insertion.place).max()
                arrived =
                    edge == .start
                    ? Array(arrived.prefix(last + 1))
                    : arrived.filter { item in atStart.map { item.place > $0 } ?? true }
            }
            arrived.reverse()
            if slot < arrived.count { pair(placeholder, arrived[slot]) }
        }
        return pairs.sorted { $0.insertion.place < $1.insertion.place }
            .map { "\(text($0.deletion.place)) \(text($0.insertion.place))" }
    }
}
