import FoldbackUI

/// The edits of a list since the last message.
struct WireEdits: Sendable {
    var steps: [WireStep] = []
    var replacements: [WireReplacement] = []
}

/// The rows of a list as a page has them, and the edits that keep the page up to date: the difference
/// of each snapshot from the snapshot before.
///
/// The list has one section, so a place is the number of a row.
struct WireList: Sendable {
    private(set) var rows: [WireRow] = []
    /// The snapshot that the rows are of.
    private var snapshot = FeedSnapshot()
    private var edits = WireEdits()

    /// Makes the rows those of another snapshot.
    mutating func show(_ next: FeedSnapshot, _ writer: RowWriter) {
        let difference = next.difference(from: snapshot)
        snapshot = next
        let replaced = difference.replacements.map { rows[$0.deletion.row].id }
        for step in difference.steps {
            switch step {
            case .insertRow(let row, let place):
                let row = writer.row(row)
                rows.insert(row, at: place.row)
                edits.steps.append(WireStep(insert: place.row, row: row))
            case .deleteRow(_, let place):
                rows.remove(at: place.row)
                edits.steps.append(WireStep(delete: place.row))
            case .moveRow(_, let from, let to):
                rows.insert(rows.remove(at: from.row), at: to.row)
                edits.steps.append(WireStep(move: from.row, to: to.row))
            case .changeRow(let row, let place, _): change(place.row, to: writer.row(row))
            case .insertSection, .moveSection, .deleteSection: break
            }
        }
        for (old, pair) in zip(replaced, difference.replacements) {
            edits.replacements.append(
                WireReplacement(old: old, new: rows[pair.insertion.row].id))
        }
    }

    /// Writes the rows with marks again, because the text of a mark also depends on the network.
    mutating func rewriteMarks(_ writer: RowWriter) {
        for (place, row) in snapshot.sections.flatMap(\.rows).enumerated()
        where !row.status.marks.isEmpty {
            change(place, to: writer.row(row))
        }
    }

    private mutating func change(_ place: Int, to row: WireRow) {
        guard rows[place] != row else { return }
        rows[place] = row
        edits.steps.append(WireStep(change: place, row: row))
    }

    /// Returns and forgets the edits.
    mutating func takeEdits() -> WireEdits {
        defer { edits = WireEdits() }
        return edits
    }
}

typealias FeedSnapshot = ListSnapshot<String, FeedItem>

extension FeedSnapshot.RowID {
    /// The id of the row in messages.
    var wireID: String {
        switch self {
        case .item(let id): id
        case .placeholder(_, let edge, let slot): "placeholder-\(edge)-\(slot)"
        }
    }
}
