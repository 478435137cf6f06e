extension ListDifference {
    /// Returns the snapshot that this difference leads to.
    ///
    /// - Parameter old: the snapshot that the difference was made from, or an equal snapshot.
    /// - Throws: `.doesNotFit` if the difference names a section or row that `old` does not have
    ///   there, or if the result would not be a list (U19). A row that the difference does not name
    ///   is not compared.
    /// - Complexity: O(n) in rows; constant if the difference is empty.
    @inlinable public func applied(to old: Snapshot) throws(ListError) -> Snapshot {
        guard !isEmpty else { return old }
        var application = try ListApplication(of: self, to: old)
        var sections: [Snapshot.Section] = []
        for (index, id) in try application.sectionIDs().enumerated() {
            sections.append(Snapshot.Section(id: id, rows: try application.rows(of: index, id)))
        }
        try application.checkEnd()
        do throws(ListError) {
            return Snapshot(try Snapshot.Storage(sections))
        } catch {
            throw switch error {
            case .duplicateItem(_, _, let second): .doesNotFit(second)
            case .duplicateSection(_, _, let second): .doesNotFit(RowPlace(section: second, row: 0))
            case .doesNotFit, .missingSection: error
            }
        }
    }
}

/// The application of a difference that is under way.
///
/// It removes deleted and moved rows from their old sections. Then it fills each new section from
/// the top: with an inserted or moved row if one has the place, or else with the next row that
/// stayed. It is inlinable, so that it is specialized for the app's items.
@usableFromInline
struct ListApplication<
    SectionID: Hashable & Sendable, Item: Identifiable & Equatable & Sendable
> where Item.ID: Sendable {
    @usableFromInline typealias Snapshot = ListSnapshot<SectionID, Item>
    @usableFromInline typealias Row = Snapshot.Row

    @usableFromInline let difference: ListDifference<SectionID, Item>
    @usableFromInline let old: Snapshot
    /// The rows that stay in each old section.
    @usableFromInline var stays: [[Row]] = []
    /// The numbers of inserted rows, moves and changes that the new sections have so far.
    @usableFromInline var insertions = 0
    @usableFromInline var moves = 0
    @usableFromInline var changes = 0

    @inlinable init(
        of difference: ListDifference<SectionID, Item>, to old: Snapshot
    ) throws(ListError) {
        self.difference = difference
        self.old = old
        var leaves = old.sections.map { Array(repeating: false, count: $0.rows.count) }
        let sources =
            difference.deletions.map { ($0.place, $0.id) }
            + difference.moves.map { ($0.from, $0.id) }
        for (place, id) in sources {
            guard old.hasRow(id, at: place) else { throw .doesNotFit(place) }
            leaves[place.section][place.row] = true
        }
        for (section, leaves) in zip(old.sections, leaves) {
            stays.append(zip(section.rows, leaves).filter { !$0.1 }.map(\.0))
        }
    }

    /// Returns the ids of the new sections in order.
    @inlinable func sectionIDs() throws(ListError) -> [SectionID] {
        var leaves = Array(repeating: false, count: old.sections.count)
        let sources =
            difference.sectionDeletions.map { ($0.index, $0.id) }
            + difference.sectionMoves.map { ($0.from, $0.id) }
        for (index, id) in sources {
            guard old.index(ofSection: id) == index else {
                throw .doesNotFit(RowPlace(section: index, row: 0))
            }
            leaves[index] = true
        }
        var stays = zip(old.sections, leaves).lazy.filter { !$0.1 }.map(\.0.id).makeIterator()
        var insertions = difference.sectionInsertions.makeIterator()
        var moves = difference.sectionMoves.makeIterator()
        var (insertion, move) = (insertions.next(), moves.next())
        var ids: [SectionID] = []
        for index in 0..<difference.newSectionCount {
            if let next = insertion, next.index == index {
                ids.append(next.id)
                insertion = insertions.next()
            } else if let next = move, next.to == index {
                ids.append(next.id)
                move = moves.next()
            } else if let next = stays.next() {
                ids.append(next)
            } else {
                throw .doesNotFit(RowPlace(section: index, row: 0))
            }
        }
        guard stays.next() == nil else {
            throw .doesNotFit(RowPlace(section: difference.newSectionCount, row: 0))
        }
        return ids
    }

    /// Returns the rows of a new section. Call it for each section in order.
    @inlinable mutating func rows(of section: Int, _ id: SectionID) throws(ListError) -> [Row] {
        let stays = old.index(ofSection: id).map { self.stays[$0] } ?? []
        var rest = stays[...]
        var rows: [Row] = []
        while true {
            let place = RowPlace(section: section, row: rows.count)
            if insertions < difference.insertions.count,
                difference.insertions[insertions].place == place
            {
                rows.append(difference.insertions[insertions].row)
                insertions += 1
            } else if moves < difference.moves.count, difference.moves[moves].to == place {
                rows.append(old[difference.moves[moves].from])
                moves += 1
            } else if let next = rest.popFirst() {
                rows.append(next)
            } else {
                break
            }
        }
        while changes < difference.changes.count {
            let change = difference.changes[changes]
            guard change.place.section == section else { break }
            guard change.place.row < rows.count, rows[change.place.row].id == change.row.id else {
                throw .doesNotFit(change.place)
            }
            rows[change.place.row] = change.row
            changes += 1
        }
        return rows
    }

    /// Checks that every row of the difference and every staying row has a place.
    @inlinable func checkEnd() throws(ListError) {
        if insertions < difference.insertions.count {
            throw .doesNotFit(difference.insertions[insertions].place)
        }
        if moves < difference.moves.count { throw .doesNotFit(difference.moves[moves].to) }
        if changes < difference.changes.count {
            throw .doesNotFit(difference.changes[changes].place)
        }
        // A row stays in a section that the difference deletes.
        for deletion in difference.sectionDeletions where !stays[deletion.index].isEmpty {
            throw .doesNotFit(RowPlace(section: deletion.index, row: 0))
        }
    }
}

extension ListSnapshot {
    @inlinable func hasRow(_ id: RowID, at place: RowPlace) -> Bool {
        let sections = storage.sections
        return sections.indices.contains(place.section)
            && sections[place.section].rows.indices.contains(place.row)
            && sections[place.section].rows[place.row].id == id
    }
}
