import Foldback
import FoldbackTesting
import FoldbackUI

/// A list before it is built, in random tests. Its description is the notation of ``list(_:)``.
struct DraftList: Sendable, Equatable, CustomStringConvertible {
    var sections: [Section] = []

    struct Section: Sendable, Equatable {
        var id: Int
        var rows: [Row] = []
        var start = 0
        var end = 0
    }

    struct Row: Sendable, Equatable {
        var id: Int
        /// Nil if only the id is known.
        var text: Int? = 0
        /// The intent of the row's mark; 0 for none.
        var mark: UInt64 = 0
        /// The intent that the mark's intent retries; 0 for none.
        var retries: UInt64 = 0
        var isGhost = false
    }

    var description: String {
        sections.map { section in
            let rows = section.rows.map { row in
                (row.text == nil ? "?" : row.isGhost ? "!" : "") + "i\(row.id)"
                    + (row.text.map { $0 == 0 ? "" : "=\($0)" } ?? "")
                    + (row.mark == 0 ? "" : "*\(row.mark)")
                    + (row.retries == 0 ? "" : "/\(row.retries)")
            }
            let placeholders = [
                section.start == 0 ? nil : "-\(section.start)",
                section.end == 0 ? nil : "+\(section.end)",
            ]
            return (["s\(section.id)"] + rows + placeholders.compactMap { $0 })
                .joined(separator: " ")
        }.joined(separator: " | ")
    }

    func built() throws -> NoteList { try list(description) }
}

// MARK: - Generating

/// An old list and a new list.
struct DraftPair: Sendable, CustomStringConvertible {
    var old: DraftList
    var new: DraftList

    var description: String { "old: \(old)\nnew: \(new)" }

    /// Half of the pairs are unrelated lists with common ids, and half are a list and its edits.
    static let generator = Generator<DraftPair> { choices in
        let isLarge = choices.draw(upTo: 3, .uniform) == 3
        let rowsMax = isLarge ? 200 : 12
        let old = try choices.span { try DraftList.drawn(from: &$0, rowsMax: rowsMax) }
        if choices.draw(upTo: 1, .uniform) == 1 {
            let new = try choices.span { try DraftList.drawn(from: &$0, rowsMax: rowsMax) }
            return DraftPair(old: old, new: new)
        }
        var new = old
        try choices.repeating(0...12) { choices in
            try new.edit(&choices)
            return true
        }
        return DraftPair(old: old, new: new)
    }
}

extension DraftList {
    /// Draws a list with up to six sections and `rowsMax` rows, whose ids are below 1.2 `rowsMax`.
    static func drawn(from choices: inout Choices, rowsMax: Int) throws -> DraftList {
        var list = DraftList()
        var sections = Array(0..<7)
        var rows = Array(0..<rowsMax * 6 / 5)
        var rowsLeft = rowsMax
        try choices.repeating(0...6) { choices in
            var section = Section(id: taken(from: &sections, &choices))
            section.start = placeholders(&choices)
            // Most sections of a large list are large.
            let least = rowsMax > 12 ? Int(choices.draw(upTo: UInt64(rowsLeft / 2), .uniform)) : 0
            try choices.repeating(least...min(rowsLeft, least + 10)) { choices in
                section.rows.append(row(taken(from: &rows, &choices), &choices))
                return true
            }
            rowsLeft -= section.rows.count
            section.end = placeholders(&choices)
            list.sections.append(section)
            return true
        }
        return list
    }

    mutating func edit(_ choices: inout Choices) throws {
        let kind = choices.draw(upTo: 9, .uniform)
        guard !sections.isEmpty, kind > 0 else {
            guard let id = (0..<7).first(where: { id in !sections.contains { $0.id == id } })
            else { return }
            sections.insert(Section(id: id), at: Self.index(upTo: sections.count, &choices))
            return
        }
        let place = Self.index(upTo: sections.count - 1, &choices)
        let rows = sections[place].rows
        let row = rows.isEmpty ? nil : Self.index(upTo: rows.count - 1, &choices)
        switch kind {
        case 1: sections.remove(at: place)
        case 2:
            let section = sections.remove(at: place)
            sections.insert(section, at: Self.index(upTo: sections.count, &choices))
        case 3: sections[place].start = Self.placeholders(&choices)
        case 4: sections[place].end = Self.placeholders(&choices)
        case 5:
            let id = 1 + (sections.flatMap(\.rows).map(\.id).max() ?? 0)
            let new = Self.row(id, &choices)
            sections[place].rows.insert(new, at: Self.index(upTo: rows.count, &choices))
        case 6: if let row { sections[place].rows.remove(at: row) }
        case 7, 8:
            guard let row else { return }
            let moved = sections[place].rows.remove(at: row)
            let target = kind == 7 ? place : Self.index(upTo: sections.count - 1, &choices)
            let end = sections[target].rows.count
            sections[target].rows.insert(moved, at: Self.index(upTo: end, &choices))
        default:
            if let row { sections[place].rows[row] = Self.row(rows[row].id, &choices) }
        }
    }

    private static func row(_ id: Int, _ choices: inout Choices) -> Row {
        var row = Row(id: id)
        switch choices.draw(upTo: 5, .uniform) {
        case 1: row.text = 1
        case 2: row.text = nil
        case 3: row.mark = 1 + choices.draw(upTo: 2, .uniform)
        case 4:
            row.mark = 1 + choices.draw(upTo: 2, .uniform)
            row.isGhost = true
        case 5:
            row.mark = 7
            row.retries = 1 + choices.draw(upTo: 2, .uniform)
        default: break
        }
        return row
    }

    private static func placeholders(_ choices: inout Choices) -> Int {
        Int(choices.draw(upTo: 3, .weights([4, 1, 1, 1])))
    }

    private static func index(upTo max: Int, _ choices: inout Choices) -> Int {
        Int(choices.draw(upTo: UInt64(max), .uniform))
    }

    private static func taken(from pool: inout [Int], _ choices: inout Choices) -> Int {
        pool.remove(at: index(upTo: pool.count - 1, &choices))
    }
}
