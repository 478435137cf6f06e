extension ListSnapshot {
    /// Returns what has changed since another snapshot.
    ///
    /// - Complexity: O(n) in the rows of both snapshots, and O(k log k) in the rows of the parts
    ///   whose order differs; constant for copies of one snapshot.
    public func difference(from old: ListSnapshot) -> ListDifference<SectionID, Item> {
        guard old.storage !== storage else { return ListDifference() }
        var comparison = ListComparison(from: old.storage, to: storage)
        comparison.compareSections()
        for section in storage.sections.indices { comparison.compareRows(of: section) }
        comparison.findDeletions()
        var difference = comparison.difference
        difference.replacements = ListReplacements(from: old, to: self, difference).found
        return difference
    }
}

/// A comparison of two snapshots that is under way.
///
/// For each section that is in both snapshots, it first cuts the rows at both ends whose ids are
/// equal. It looks the rest up by id in the old snapshot's index:
///
/// ```
/// old   a b | c d e f | g h
/// new   a b | e x c d | g h     e, c, d are at 4, 2, 3; x is nowhere
///                               the longest increasing run is c d, so e has moved
/// ```
private struct ListComparison<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
> where Item.ID: Sendable {
    typealias Snapshot = ListSnapshot<SectionID, Item>

    let old: Snapshot.Storage
    let new: Snapshot.Storage
    var difference = ListDifference<SectionID, Item>()
    /// For each new section, the index of the same section in the old snapshot.
    private var origins: [Int?] = []
    /// For each old section, the rows that are not yet matched with a row of the new snapshot as a
    /// whole range. All other rows are at equal ends.
    private var middles: [Range<Int>]
    /// For each old row, whether the new snapshot has it. Rows at equal ends do not count.
    private var isFound: [Bool]
    /// For each old section, the index of its first row in ``isFound``.
    private var offsets: [Int] = []

    init(from old: Snapshot.Storage, to new: Snapshot.Storage) {
        (self.old, self.new) = (old, new)
        middles = old.sections.map { $0.rows.indices }
        var count = 0
        for section in old.sections {
            offsets.append(count)
            count += section.rows.count
        }
        isFound = Array(repeating: false, count: count)
        difference.oldSectionCount = old.sections.count
        difference.newSectionCount = new.sections.count
    }

    mutating func compareSections() {
        origins = new.sections.enumerated().map { index, section in
            let isInPlace = index < old.sections.count && old.sections[index].id == section.id
            return isInPlace ? index : old.indexes[section.id]
        }
        let stays = LongestIncreasingRun(of: origins)
        for (index, section) in new.sections.enumerated() where !stays[index] {
            if let origin = origins[index] {
                difference.sectionMoves.append(.init(from: origin, to: index, id: section.id))
            } else {
                difference.sectionInsertions.append(.init(index: index, id: section.id))
            }
        }
        for (index, section) in old.sections.enumerated() where new.indexes[section.id] == nil {
            difference.sectionDeletions.append(.init(index: index, id: section.id))
        }
    }

    mutating func compareRows(of section: Int) {
        let rows = new.sections[section].rows
        guard let origin = origins[section] else {
            return compareRows(rows, rows.indices, of: section, with: [], of: nil)
        }
        let oldRows = old.sections[origin].rows
        let shorter = min(rows.count, oldRows.count)
        var head = 0
        while head < shorter, rows[head].id == oldRows[head].id {
            compare(rows[head], at: RowPlace(section: section, row: head), with: oldRows[head])
            head += 1
        }
        var tail = 0
        while tail < shorter - head,
            rows[rows.count - 1 - tail].id == oldRows[oldRows.count - 1 - tail].id
        {
            tail += 1
        }
        middles[origin] = head..<oldRows.count - tail
        compareRows(rows, head..<rows.count - tail, of: section, with: oldRows, of: origin)
        let shift = oldRows.count - rows.count
        for row in rows.count - tail..<rows.count {
            compare(
                rows[row], at: RowPlace(section: section, row: row), with: oldRows[row + shift])
        }
    }

    /// Compares a range of rows of a new section by looking them up.
    ///
    /// - Parameters:
    ///   - oldRows: all rows of the same section in the old snapshot.
    ///   - origin: the index of that section; nil if the section is new.
    private mutating func compareRows(
        _ rows: [Snapshot.Row], _ range: Range<Int>, of section: Int,
        with oldRows: [Snapshot.Row], of origin: Int?
    ) {
        guard !range.isEmpty else { return }
        let places = lookUp(rows, range, oldRows, of: origin)
        let stays = LongestIncreasingRun(
            of: places.map { place in place?.section == origin ? place?.row : nil })
        for (row, oldPlace) in zip(range, places) {
            let place = RowPlace(section: section, row: row)
            guard let oldPlace else {
                difference.insertions.append(.init(place: place, row: rows[row]))
                continue
            }
            if !stays[row - range.lowerBound] {
                difference.moves.append(.init(from: oldPlace, to: place, id: rows[row].id))
            }
            compare(
                rows[row], at: place, with: old.sections[oldPlace.section].rows[oldPlace.row])
        }
    }

    /// Returns the old places of a range of rows, and marks these places as found.
    private mutating func lookUp(
        _ rows: [Snapshot.Row], _ range: Range<Int>, _ oldRows: [Snapshot.Row], of origin: Int?
    ) -> [RowPlace?] {
        var places: [RowPlace?] = []
        places.reserveCapacity(range.count)
        // Most rows follow the same row as before, and comparing two ids is cheaper than hashing.
        var next = range.lowerBound
        for row in range {
            let id = rows[row].id
            let place: RowPlace? =
                if let origin, next < oldRows.count, oldRows[next].id == id {
                    RowPlace(section: origin, row: next)
                } else {
                    old.rows[id]
                }
            places.append(place)
            guard let place else { continue }
            isFound[offsets[place.section] + place.row] = true
            if place.section == origin { next = place.row + 1 }
        }
        return places
    }

    private mutating func compare(
        _ row: Snapshot.Row, at place: RowPlace, with oldRow: Snapshot.Row
    ) {
        var kinds: ListChangeKinds = []
        if row.content != oldRow.content { kinds.insert(.content) }
        if row.status != oldRow.status || row.isGhost != oldRow.isGhost { kinds.insert(.status) }
        guard !kinds.isEmpty else { return }
        difference.changes.append(.init(place: place, row: row, kinds: kinds))
    }

    mutating func findDeletions() {
        for (section, middle) in middles.enumerated() {
            let rows = old.sections[section].rows
            for row in middle where !isFound[offsets[section] + row] {
                difference.deletions.append(
                    .init(place: RowPlace(section: section, row: row), id: rows[row].id))
            }
        }
    }
}
