extension ListDifference {
    /// The same edits as single steps, one after another.
    ///
    /// ```
    /// delete rows ─▶ insert and move sections ─▶ insert and move rows ─▶ delete sections ─▶ change rows
    /// ```
    /// A section is deleted after its rows have left, and inserted before rows arrive.
    ///
    /// - Complexity: O(n log n) in edits, and O(n) in sections.
    public var steps: [ListStep<SectionID, Item>] {
        var steps: [ListStep<SectionID, Item>] = []
        for deletion in deletions.reversed() {
            steps.append(.deleteRow(deletion.id, at: deletion.place))
        }
        let meanwhile = SectionsMeanwhile(
            oldCount: oldSectionCount, newCount: newSectionCount,
            deletions: sectionDeletions.map(\.index), insertions: sectionInsertions.map(\.index),
            moves: sectionMoves.map { ($0.from, $0.to) })
        steps += sectionSteps(meanwhile)
        steps += rowSteps(meanwhile)
        for deletion in sectionDeletions.reversed() {
            steps.append(.deleteSection(deletion.id, at: meanwhile.ofOld[deletion.index]))
        }
        for change in changes {
            steps.append(.changeRow(change.row, at: change.place, change.kinds))
        }
        return steps
    }

    private func sectionSteps(_ meanwhile: SectionsMeanwhile) -> [ListStep<SectionID, Item>] {
        // The sections are the rows of a single section.
        let place = { RowPlace(section: 0, row: $0) }
        let edits =
            sectionInsertions.map { SingleEdit(from: nil, to: place(meanwhile.ofNew[$0.index])) }
            + sectionMoves.map {
                SingleEdit(from: place($0.from), to: place(meanwhile.ofNew[$0.to]))
            }
        var insertions = sectionInsertions.makeIterator()
        var moves = sectionMoves.makeIterator()
        return SingleEdit.oneByOne(edits).compactMap { edit in
            guard let from = edit.from else {
                return insertions.next().map { .insertSection($0.id, at: edit.to.row) }
            }
            return moves.next().map { .moveSection($0.id, from: from.row, to: edit.to.row) }
        }
    }

    private func rowSteps(_ meanwhile: SectionsMeanwhile) -> [ListStep<SectionID, Item>] {
        let deleted = deletions.map(\.place)
        let target = { (place: RowPlace) in
            RowPlace(section: meanwhile.ofNew[place.section], row: place.row)
        }
        let source = { (place: RowPlace) in
            let top = deleted.firstIndex(from: RowPlace(section: place.section, row: 0))
            return RowPlace(
                section: meanwhile.ofOld[place.section],
                row: place.row - (deleted.firstIndex(from: place) - top))
        }
        let edits =
            insertions.map { SingleEdit(from: nil, to: target($0.place)) }
            + moves.map { SingleEdit(from: source($0.from), to: target($0.to)) }
        var insertions = insertions.makeIterator()
        var moves = moves.makeIterator()
        return SingleEdit.oneByOne(edits).compactMap { edit in
            guard let from = edit.from else {
                return insertions.next().map { .insertRow($0.row, at: edit.to) }
            }
            return moves.next().map { .moveRow($0.id, from: from, to: edit.to) }
        }
    }
}

/// Where the sections are after sections were inserted and moved, and before any is deleted.
///
/// The deleted sections keep their order among the sections that stay. Where inserted, moved and
/// deleted sections meet, the deleted sections are last.
private struct SectionsMeanwhile {
    /// By index in the old snapshot.
    var ofOld: [Int]
    /// By index in the new snapshot.
    var ofNew: [Int]

    /// - Parameters:
    ///   - deletions: ascending indexes in the old snapshot.
    ///   - insertions: ascending indexes in the new snapshot.
    ///   - moves: indexes in the old and the new snapshot.
    init(
        oldCount: Int, newCount: Int, deletions: [Int], insertions: [Int],
        moves: [(from: Int, to: Int)]
    ) {
        ofOld = Array(repeating: -1, count: oldCount)
        ofNew = Array(repeating: -1, count: newCount)
        var isDeleted = Array(repeating: false, count: oldCount)
        for index in deletions { isDeleted[index] = true }
        var isMoved = Array(repeating: false, count: oldCount)
        for move in moves { isMoved[move.from] = true }
        var arrives = Array(repeating: false, count: newCount)
        for index in insertions + moves.map(\.to) { arrives[index] = true }

        var (old, count) = (0, 0)
        for new in 0..<newCount {
            if !arrives[new] {
                while isDeleted[old] || isMoved[old] {
                    if isDeleted[old] {
                        ofOld[old] = count
                        count += 1
                    }
                    old += 1
                }
                ofOld[old] = count
                old += 1
            }
            ofNew[new] = count
            count += 1
        }
        for old in old..<oldCount where isDeleted[old] {
            ofOld[old] = count
            count += 1
        }
        for move in moves { ofOld[move.from] = ofNew[move.to] }
    }
}
