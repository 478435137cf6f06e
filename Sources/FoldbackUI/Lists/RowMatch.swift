extension ListSnapshot {
    /// The rows of one section of a new snapshot, compared with the rows of the old snapshot.
    ///
    /// First the rows at both ends of the section whose ids are equal are cut. The rest, the
    /// *middle*, is looked up by id in the old snapshot's index:
    ///
    /// ```
    /// old   a b | c d e f | g h
    /// new   a b | e x c d | g h     middle: e, c and d were at 4, 2 and 3; x is new
    /// ```
    /// Only this part of a difference looks at every row. It is inlinable, so that it is specialized
    /// for the app's items. Unspecialized code takes four times as long.
    @usableFromInline struct RowMatch {
        @usableFromInline typealias Difference = ListDifference<SectionID, Item>

        /// The index of the section in the old snapshot; nil if the section is new.
        @usableFromInline let origin: Int?
        /// The middle of the section in the old snapshot.
        @usableFromInline let oldMiddle: Range<Int>
        /// For each row of the middle, its place in the old snapshot; nil if the row is new.
        @usableFromInline let places: [RowPlace?]
        @usableFromInline var insertions: [Difference.Insertion] = []
        @usableFromInline var moves: [Difference.Move] = []
        @usableFromInline var changes: [Difference.Change] = []

        /// Matches the rows of a section of `new`.
        @inlinable init(of section: Int, from old: ListSnapshot, to new: ListSnapshot) {
            let rows = new.storage.sections[section].rows
            origin = old.storage.indexes[new.storage.sections[section].id]
            let oldRows = origin.map { old.storage.sections[$0].rows } ?? []
            let ends = ListSnapshot.equalEnds(rows, oldRows)
            let middle = ends.head..<rows.count - ends.tail
            oldMiddle = ends.head..<oldRows.count - ends.tail
            places = old.places(of: rows[middle], likelyFrom: ends.head, in: origin)

            for row in 0..<ends.head { compare(rows, row, section, with: oldRows, row) }
            findEdits(rows, middle, section, old)
            let shift = oldRows.count - rows.count
            for row in middle.upperBound..<rows.count {
                compare(rows, row, section, with: oldRows, row + shift)
            }
        }

        /// Finds the insertions, moves and changes of the middle.
        @inlinable mutating func findEdits(
            _ rows: [Row], _ middle: Range<Int>, _ section: Int, _ old: ListSnapshot
        ) {
            // A row of another section is not in the run, so it always moves.
            let stays = LongestIncreasingRun(
                of: places.map { $0?.section == origin ? $0?.row : nil })
            for (row, oldPlace) in zip(middle, places) {
                let place = RowPlace(section: section, row: row)
                guard let oldPlace else {
                    insertions.append(Difference.Insertion(place: place, row: rows[row]))
                    continue
                }
                if !stays[row - middle.lowerBound] {
                    moves.append(Difference.Move(from: oldPlace, to: place, id: rows[row].id))
                }
                let oldRows = old.storage.sections[oldPlace.section].rows
                compare(rows, row, section, with: oldRows, oldPlace.row)
            }
        }

        @inlinable mutating func compare(
            _ rows: [Row], _ row: Int, _ section: Int, with oldRows: [Row], _ oldRow: Int
        ) {
            let kinds = ListSnapshot.changes(rows, row, since: oldRows, oldRow)
            guard !kinds.isEmpty else { return }
            let place = RowPlace(section: section, row: row)
            changes.append(Difference.Change(place: place, row: rows[row], kinds: kinds))
        }
    }

    /// Returns the places of another snapshot's rows in this snapshot; nil for rows that it lacks.
    ///
    /// - Parameters:
    ///   - first: the row of `section` that the first row is likely to be.
    ///   - section: nil if nothing is likely.
    @inlinable func places(
        of others: ArraySlice<Row>, likelyFrom first: Int, in section: Int?
    ) -> [RowPlace?] {
        var places: [RowPlace?] = []
        places.reserveCapacity(others.count)
        let rows = section.map { storage.sections[$0].rows } ?? []
        // Most rows follow the same row as before, and comparing two ids is cheaper than hashing.
        var next = first
        for other in others.indices {
            let id = others[other].id
            if let section, next < rows.count, rows[next].id == id {
                places.append(RowPlace(section: section, row: next))
                next += 1
            } else {
                let place = storage.rows[id]
                places.append(place)
                if let place, place.section == section { next = place.row + 1 }
            }
        }
        return places
    }
}
