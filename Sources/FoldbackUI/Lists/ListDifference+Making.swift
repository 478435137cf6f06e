extension ListSnapshot {
    /// Returns what has changed since another snapshot.
    ///
    /// - Complexity: O(n) in the rows of both snapshots, and O(k log k) in the rows of the parts
    ///   whose order differs; constant for copies of one snapshot.
    @inlinable public func difference(
        from old: ListSnapshot
    ) -> ListDifference<SectionID, Item> {
        guard old.storage !== storage else { return ListDifference() }
        let matches = storage.sections.indices.map { RowMatch(of: $0, from: old, to: self) }
        return ListDifference(
            from: old, to: self, matches, insertions: matches.flatMap(\.insertions),
            moves: matches.flatMap(\.moves), changes: matches.flatMap(\.changes))
    }
}

extension ListDifference {
    /// - Parameter matches: the matches of all sections of `new`. Their edits are passed apart,
    ///   because specialized code can collect them faster.
    @usableFromInline init(
        from old: Snapshot, to new: Snapshot, _ matches: [Snapshot.RowMatch],
        insertions: [Insertion], moves: [Move], changes: [Change]
    ) {
        (self.insertions, self.moves, self.changes) = (insertions, moves, changes)
        oldSectionCount = old.sections.count
        newSectionCount = new.sections.count
        compareSections(old, new, origins: matches.map(\.origin))
        findDeletions(old, matches)
        replacements = ListReplacements(from: old, to: new, self).found
        // All empty differences are equal.
        if isEmpty { (oldSectionCount, newSectionCount) = (0, 0) }
    }

    /// - Parameter origins: for each new section, the index of this section in the old snapshot.
    private mutating func compareSections(_ old: Snapshot, _ new: Snapshot, origins: [Int?]) {
        let stays = LongestIncreasingRun(of: origins)
        for (index, section) in new.sections.enumerated() where !stays[index] {
            if let origin = origins[index] {
                sectionMoves.append(SectionMove(from: origin, to: index, id: section.id))
            } else {
                sectionInsertions.append(SectionEdit(index: index, id: section.id))
            }
        }
        var isDeleted = Array(repeating: true, count: old.sections.count)
        for case let origin? in origins { isDeleted[origin] = false }
        for (index, section) in old.sections.enumerated() where isDeleted[index] {
            sectionDeletions.append(SectionEdit(index: index, id: section.id))
        }
    }

    /// Finds the rows of the old snapshot that no row of the new snapshot was matched with.
    private mutating func findDeletions(_ old: Snapshot, _ matches: [Snapshot.RowMatch]) {
        var remains = old.sections.map { Array(repeating: true, count: $0.rows.count) }
        for match in matches {
            for case let place? in match.places { remains[place.section][place.row] = false }
        }
        var middles = old.sections.map { $0.rows.indices }
        for match in matches {
            guard let origin = match.origin else { continue }
            middles[origin] = match.oldMiddle  // mutant: list-equal-ends
        }
        for (section, middle) in middles.enumerated() {
            for row in middle where remains[section][row] {
                let place = RowPlace(section: section, row: row)
                deletions.append(Deletion(place: place, id: old[place].id))
            }
        }
    }
}
