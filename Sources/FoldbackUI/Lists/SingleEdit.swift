/// An insertion or a move of a row, without its id.
struct SingleEdit {
    /// Nil for an insertion.
    var from: RowPlace?
    var to: RowPlace

    /// Returns the edits in order of their targets, with the places that they have if they are
    /// performed in this order, one by one.
    ///
    /// A row that stays in its section is an *anchor*. For each section, the anchors have the same
    /// order before and after all edits. So a place is known by the number of anchors before it, and
    /// by the rows between the same two anchors. These are, in this order, the rows that have
    /// arrived, and the rows that still wait to be moved away:
    ///
    /// ```
    /// wait 1  A  arrived 1  arrived 2  wait 2  wait 3  B  arrived 3
    /// ```
    ///
    /// - Parameter edits: in any order. The sources are places before all edits, and the targets are
    ///   places after all edits.
    /// - Complexity: O(n log n) in edits.
    static func oneByOne(_ edits: [SingleEdit]) -> [SingleEdit] {
        var edits = edits.sorted { $0.to < $1.to }
        let sources = edits.compactMap(\.from).sorted()
        let leaving = anchored(sources)
        let arriving = anchored(edits.map(\.to))
        var waiting = WaitingRows(count: sources.count)
        for index in edits.indices {
            let top = RowPlace(section: edits[index].to.section, row: 0)
            if let from = edits[index].from {
                let source = sources.firstIndex(from: from)
                let (section, anchors) = (from.section, leaving[source].row)
                let top = RowPlace(section: section, row: 0)
                let next = RowPlace(section: section, row: anchors + 1)
                let arrived =
                    min(index, arriving.firstIndex(from: next)) - arriving.firstIndex(from: top)
                waiting.remove(source)  // mutant: list-single-steps
                let before = waiting.count(in: leaving.firstIndex(from: top)..<source)
                edits[index].from = RowPlace(
                    section: section, row: anchors + max(0, arrived) + before)
            }
            edits[index].to = RowPlace(
                section: top.section,
                row: edits[index].to.row
                    + waiting.count(
                        in: leaving.firstIndex(
                            from: top)..<leaving.firstIndex(
                                from: arriving[index])))
        }
        return edits
    }

    /// Returns, for each place, the number of anchors before it in its section, as a row number.
    ///
    /// - Parameter places: ascending, with all rows of their sections that are not anchors.
    private static func anchored(_ places: [RowPlace]) -> [RowPlace] {
        var top = 0
        return places.enumerated().map { index, place in
            if place.section != places[top].section { top = index }
            return RowPlace(section: place.section, row: place.row - (index - top))
        }
    }
}

/// The rows that wait to be moved away, as a Fenwick tree: a row is removed, and rows are counted,
/// in O(log n).
private struct WaitingRows {
    /// At index i, the number of waiting rows among the last `i & -i` of the first i rows.
    private var sums: [Int]

    init(count: Int) { sums = (0...count).map { $0 & -$0 } }

    mutating func remove(_ row: Int) {
        var index = row + 1
        while index < sums.count {
            sums[index] -= 1
            index += index & -index
        }
    }

    func count(in range: Range<Int>) -> Int {
        count(before: range.upperBound) - count(before: range.lowerBound)
    }

    private func count(before row: Int) -> Int {
        var (index, count) = (row, 0)
        while index > 0 {
            count += sums[index]
            index -= index & -index
        }
        return count
    }
}

extension [RowPlace] {
    /// Returns the index of the first place that is not before another place, in an ascending array.
    func firstIndex(from place: RowPlace) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
