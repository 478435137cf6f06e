/// Passes that give fewer choices.
extension ShrinkSearch {
    /// Deletes whole values: of those side by side all, half, a quarter, … one; from the back, for what
    /// comes later depends on what comes before.
    nonisolated(nonsending) mutating func deleteSpans() async throws(OutOfBudget) {
        var siblings = best.siblings
        var group = 0
        while group < siblings.count {
            var size = siblings[group].count
            while size > 0 {
                try await deleteSpans(in: group, size, &siblings)
                size /= 2
            }
            group += 1
        }
    }

    /// Deletes so many at once.
    ///
    /// - Parameter siblings: of the best.
    private nonisolated(nonsending) mutating func deleteSpans(
        in group: Int, _ size: Int, _ siblings: inout [[Range<Int>]]
    ) async throws(OutOfBudget) {
        var end = Int.max
        // A group whose last value was deleted is gone.
        while group < siblings.count, end > 0 {
            let spans = siblings[group]
            end = min(end, spans.count)
            let start = max(0, end - size)
            let range = spans[start].lowerBound..<spans[end - 1].upperBound
            if try await tries(best.values.replacing(range, with: [])).isAccepted {
                siblings = best.siblings
            }
            end = start
        }
    }

    /// Deletes choices whatever they belong to.
    nonisolated(nonsending) mutating func deleteRuns() async throws(OutOfBudget) {
        for size in [8, 4, 2, 1] {
            var end = best.values.count
            while end > 0 {
                let range = max(0, end - size)..<end
                let isDeleted = try await tries(best.values.replacing(range, with: [])).isAccepted
                end = min(isDeleted ? range.lowerBound : end - 1, best.values.count)
            }
        }
    }

    /// Puts a value in the place of one around it: a subtree for the tree.
    nonisolated(nonsending) mutating func replaceSpansByInnerOnes() async throws(OutOfBudget) {
        var outer = 0
        while outer < best.spans.count {
            var inner = outer + 1
            while inner < best.spans.count, best.spans[inner].upper <= best.spans[outer].upper {
                let values = best.values.replacing(
                    best.spans[outer].range, with: best.values[best.spans[inner].range])
                inner = try await tries(values).isAccepted ? outer + 1 : inner + 1
            }
            outer += 1
        }
    }
}

extension [UInt64] {
    func replacing(_ range: Range<Int>, with choices: ArraySlice<UInt64>) -> [UInt64] {
        Array(self[..<range.lowerBound] + choices + self[range.upperBound...])
    }

    /// With some of its choices less; nil where one would be less than 0, or is not there.
    func lowering(_ places: [Int], by amount: UInt64) -> [UInt64]? {
        guard places.allSatisfy({ $0 < count && self[$0] >= amount }) else { return nil }
        var lowered = self
        for place in places { lowered[place] -= amount }
        return lowered
    }
}
