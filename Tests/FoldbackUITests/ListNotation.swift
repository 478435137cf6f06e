import Foldback
import FoldbackUI

/// An item of the tests' lists. It is not `Hashable`: a list hashes only ids (U19).
struct Note: Identifiable, Equatable, Sendable {
    let id: String
    var text = ""
}

typealias NoteList = ListSnapshot<String, Note>
typealias NoteDifference = ListDifference<String, Note>

/// Makes a list from text: sections separated by `|`, each with its id and its rows.
///
/// | row | meaning |
/// |---|---|
/// | `a`, `a=new` | an item, with a text |
/// | `?a` | an item whose id is known before its content |
/// | `a*3` | an item with the mark of the pending intent 3 |
/// | `a*3/1` | an item with the mark of intent 3, which retries intent 1 |
/// | `!a*1` | a ghost with the mark of the rejected intent 1 |
/// | `+2`, `-2` | two placeholders at the end or the start of the section |
func list(_ notation: String) throws(ListError) -> NoteList {
    try NoteList { builder in
        for section in notation.split(separator: "|") {
            let words = section.split(separator: " ").map(String.init)
            guard let id = words.first else { continue }
            builder.section(id)
            for word in words.dropFirst() { add(word, to: &builder) }
        }
    }
}

private func add(_ word: String, to list: inout NoteList.Builder) {
    let parts = word.split(separator: "*")
    let kind = word.first
    let name = kind == "?" || kind == "!" ? parts[0].dropFirst() : parts[0]
    let item = name.split(separator: "=").map(String.init)
    let note = Note(id: item[0], text: item.count > 1 ? item[1] : "")
    var status = ItemStatus.settled
    if parts.count > 1 {
        let numbers = parts[1].split(separator: "/").compactMap { UInt64($0) }.map(
            IntentNumber.init)
        let state = kind == "!" ? MarkState.rejected(Rejection(message: "no")) : .pending
        let retried = numbers.count > 1 ? numbers[1] : nil
        status = ItemStatus(marks: [IntentMark(number: numbers[0], state: state, retries: retried)])
    }
    switch kind {
    case "+": list.placeholders(count: Int(word.dropFirst()) ?? 0)
    case "-": list.placeholders(count: Int(word.dropFirst()) ?? 0, at: .start)
    case "?": list.known(ids: [note.id], status: { _ in status })
    case "!": list.ghost(note, status: status)
    default: list.items([note], status: { _ in status })
    }
}

/// The difference between two lists, one line for each edit.
func edits(from old: String, to new: String) throws -> [String] {
    edits(of: try list(new).difference(from: try list(old)))
}

func edits(of difference: NoteDifference) -> [String] {
    difference.sectionDeletions.map { "delete section \($0.id) at \($0.index)" }
        + difference.sectionInsertions.map { "insert section \($0.id) at \($0.index)" }
        + difference.sectionMoves.map { "move section \($0.id) from \($0.from) to \($0.to)" }
        + difference.deletions.map { "delete \($0.id) at \(text($0.place))" }
        + difference.insertions.map { "insert \($0.row.id) at \(text($0.place))" }
        + difference.moves.map { "move \($0.id) from \(text($0.from)) to \(text($0.to))" }
        + difference.changes.map { "change \($0.row.id) at \(text($0.place)): \(text($0.kinds))" }
        + difference.replacements.map { "replace \(text($0.deletion)) by \(text($0.insertion))" }
}

func text(_ place: RowPlace) -> String { "\(place.section).\(place.row)" }

func text(_ kinds: ListChangeKinds) -> String {
    [kinds.contains(.content) ? "content" : nil, kinds.contains(.status) ? "status" : nil]
        .compactMap { $0 }.joined(separator: " and ")
}
