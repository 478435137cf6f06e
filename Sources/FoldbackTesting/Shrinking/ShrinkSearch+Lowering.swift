/// Passes that make choices smaller, and mostly leave their number as it is.
extension ShrinkSearch {
    /// Makes whole values the simplest ones.
    nonisolated(nonsending) mutating func zeroSpans() async throws(OutOfBudget) {
        var index = 0
        while index < best.spans.count {
            let span = best.spans[index]
            let zeros = [UInt64](repeating: 0, count: span.count)
            _ = try await tries(
                best.values.replacing(span.range, with: zeros[...]), changedWithin: index)
            index += 1
        }
    }

    nonisolated(nonsending) mutating func lowerChoices() async throws(OutOfBudget) {
        var place = 0
        while place < best.values.count {
            try await lowerChoice(at: place)
            place += 1
        }
    }

    /// Makes one choice 0, or else finds by halving the least that still fails.
    private nonisolated(nonsending) mutating func lowerChoice(
        at place: Int
    ) async throws(OutOfBudget) {
        guard best.values[place] > 0 else { return }
        var refused: UInt64 = 0
        var answer = try await lowersChoice(at: place, to: refused)
        if answer.isAccepted { return }
        while place < best.values.count, best.values[place] > refused + 1 {
            let middle = refused + (best.values[place] - refused) / 2
            let next = try await lowersChoice(at: place, to: middle)
            if !next.isAccepted { (refused, answer) = (middle, next) }
        }
        // Where numbers of either sign take turns, the halving jumps from one sign to the other.
        try await gallop(from: 2) { $0.values.lowering([place], by: $1) }
        if case .refused(let drawn) = answer, drawn.values.count < best.values.count {
            try await deleteSpansWhileLowering(place)
        }
    }

    private nonisolated(nonsending) mutating func lowersChoice(
        at place: Int, to value: UInt64
    ) async throws(OutOfBudget) -> Answer {
        var values = best.values
        values[place] = value
        let around = best.spans.lastIndex { $0.range.contains(place) }
        return try await tries(values, changedWithin: around)
    }

    /// Where a choice says how many values follow, deletes any of these.
    private nonisolated(nonsending) mutating func deleteSpansWhileLowering(
        _ place: Int
    ) async throws(OutOfBudget) {
        var index = 0
        while index < best.spans.count, let lowered = best.values.lowering([place], by: 1) {
            let span = best.spans[index]
            let isDeleted =
                span.lower > place
                ? try await tries(lowered.replacing(span.range, with: [])).isAccepted : false
            index += isDeleted ? 0 : 1
        }
    }

    /// Lowers all choices that are equal: names of the same thing.
    nonisolated(nonsending) mutating func lowerEqualChoices() async throws(OutOfBudget) {
        for value in Set(best.values).sorted() where value > 0 {
            let places = best.values.indices.filter {
                best.values[$0] == value && best.isNumber(at: $0)
            }
            guard places.count > 1 else { continue }
            if let zeros = best.values.lowering(places, by: value),
                try await tries(zeros).isAccepted
            {
                continue
            }
            try await gallop(from: 1) { $0.values.lowering(places, by: $1) }
            try await gallop(from: 2) { $0.values.lowering(places, by: $1) }
        }
    }

    /// Puts neighbours in order: those that follow each other at the same depth, the simpler first.
    nonisolated(nonsending) mutating func sortSpans() async throws(OutOfBudget) {
        var index = 0
        while index < best.spans.count {
            guard let values = best.swappingSpan(at: index) else {
                index += 1
                continue
            }
            index = try await tries(values).isAccepted ? 0 : index + 1
        }
    }

    /// Lowers one number and raises another, so that their sum stays, or lowers both, so that their
    /// difference stays.
    nonisolated(nonsending) mutating func moveBetweenChoices() async throws(OutOfBudget) {
        /// How many numbers behind one are tried with it.
        let distanceMax = 4
        var from = 0
        while from < best.values.count {
            let behind = best.values.indices.dropFirst(from + 1).filter(best.isNumber)
            for to in behind.prefix(distanceMax) where best.isNumber(at: from) {
                if let values = best.movingAll(from: from, to: to) { _ = try await tries(values) }
                for step in [1, 2] as [UInt64] {
                    try await gallop(from: step) { $0.moving($1, from: from, to: to) }
                    try await gallop(from: step) { $0.values.lowering([from, to], by: $1) }
                }
            }
            from += 1
        }
    }
}

extension Recording {
    /// Not only a decision between two.
    fileprivate func isNumber(at place: Int) -> Bool {
        bounds.indices.contains(place) && bounds[place] > 1
    }

    /// Nil where the next span at the same depth is no simpler.
    fileprivate func swappingSpan(at index: Int) -> [UInt64]? {
        let span = spans[index]
        guard
            let next = spans[(index + 1)...].first(where: {
                $0.depth == span.depth && $0.lower >= span.upper
            })
        else { return nil }
        let swapped = Array(
            values[..<span.lower] + values[next.range] + values[span.upper..<next.lower]
                + values[span.range] + values[next.upper...])
        return swapped.lexicographicallyPrecedes(values) ? swapped : nil
    }

    fileprivate func moving(_ amount: UInt64, from: Int, to: Int) -> [UInt64]? {
        guard to < values.count, bounds[to] - values[to] >= amount else { return nil }
        var moved = values.lowering([from], by: amount)
        moved?[to] += amount
        return moved
    }

    /// As much as goes.
    fileprivate func movingAll(from: Int, to: Int) -> [UInt64]? {
        guard to < values.count else { return nil }
        return moving(min(values[from], bounds[to] - values[to]), from: from, to: to)
    }
}
