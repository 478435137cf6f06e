/// Passes that lead to fewer choices.
extension ShrinkSearch {
    /// Deletes whole values: all neighbors of one parent, then half, a quarter, … one of them. It
    /// starts at the end, because later values depend on earlier values.
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

    /// Deletes `size` neighbors at once.
    ///
    /// - Parameter siblings: the groups of the best recording.
    private nonisolated(nonsending) mutating func deleteSpans(
        in group: Int, _ size: Int, _ siblings: inout [[Range<Int>]]
    ) async throws(OutOfBudget) {
        var end = Int.max
        // A group disappears with its last value.
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

    /// Deletes choices across values.
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

    /// Replaces a value by a value in it: a tree by its subtree.
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

    /// With some choices lowered; nil if one would be below 0, or does not exist.
    func lowering(_ places: [Int], by amount: UInt64) -> [UInt64]? {
        guard places.allSatisfy({ $0 < count && self[$0] >= amount }) else { return nil }
        var lowered = self
        for place in places { lowered[place] -= amount }
        return lowered
    }
}
