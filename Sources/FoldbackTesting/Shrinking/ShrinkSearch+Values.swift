/// Passes that make choices smaller, and rarely change their count.
extension ShrinkSearch {
    /// Replaces whole values by their simplest values.
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

    /// Sets one choice to 0, or finds the least number that still fails by halving.
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
        // Halving misses numbers if not all numbers in between fail: if positive and negative
        // numbers alternate, or a filter accepts only every third number.
        for step in 2...8 as ClosedRange<UInt64> {
            try await gallop(from: step) { $0.values.lowering([place], by: $1) }
        }
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

    /// If a choice is the count of following values, lowers it and deletes one of them.
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

    /// Lowers all equal choices together: they may name the same thing.
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

    /// Sets two equal choices to 0 at once: they may name the same thing. Only in short recordings,
    /// because there are many pairs.
    nonisolated(nonsending) mutating func lowerPairs() async throws(OutOfBudget) {
        let countMax = 64
        var first = 0
        while first < best.values.count, best.values.count <= countMax {
            var second = first + 1
            while second < best.values.count {
                if best.values[first] > 0, best.values[first] == best.values[second],
                    best.bounds[first] == best.bounds[second],
                    let values = best.values.lowering([first, second], by: best.values[first])
                {
                    _ = try await tries(values)
                }
                second += 1
            }
            first += 1
        }
    }

    /// Sorts neighbors: consecutive spans of the same depth, the simpler first.
    nonisolated(nonsending) mutating func sortSpans() async throws(OutOfBudget) {
        var isSorted: Bool
        repeat {
            isSorted = true
            var index = 0
            while index < best.spans.count {
                if let values = best.swappingSpan(at: index),
                    try await tries(values).isAccepted
                {
                    isSorted = false
                }
                index += 1
            }
        } while !isSorted
    }

    /// Lowers one number and raises another, which keeps their sum, or lowers both, which keeps
    /// their difference.
    nonisolated(nonsending) mutating func moveBetweenChoices() async throws(OutOfBudget) {
        /// How many of the following numbers are tried with a number.
        let distanceMax = 4
        var from = 0
        while from < best.values.count {
            let following = best.values.indices.dropFirst(from + 1).filter(best.isNumber)
            for to in following.prefix(distanceMax) where best.isNumber(at: from) {
                try await moveAll(from: from, to: to)
                for step in [1, 2] as [UInt64] {
                    try await gallop(from: step) { $0.moving($1, from: from, to: to) }
                    try await gallop(from: step) { $0.values.lowering([from, to], by: $1) }
                }
            }
            from += 1
        }
    }

    /// Moves as much as possible. If positive and negative numbers alternate (0, 1, -1, 2), a
    /// number may need one choice more than another number loses, so that is tried as well.
    private nonisolated(nonsending) mutating func moveAll(
        from: Int, to: Int
    ) async throws(OutOfBudget) {
        for more in [0, 1] as [UInt64] {
            guard from < best.values.count, to < best.values.count else { return }
            let room = best.bounds[to] - best.values[to]
            let amount = min(best.values[from], room)
            guard amount > 0, room - amount >= more,
                var values = best.moving(amount, from: from, to: to)
            else { continue }
            values[to] += more
            if try await tries(values).isAccepted { return }
        }
    }
}

extension RecordedChoices {
    /// Whether a choice has more than two values.
    fileprivate func isNumber(at place: Int) -> Bool {
        bounds.indices.contains(place) && bounds[place] > 1
    }

    /// With this span and the next span of the same depth swapped; nil if that is not simpler.
    fileprivate func swappingSpan(at index: Int) -> [UInt64]? {
        let span = spans[index]
        guard
            let next = spans[(index + 1)...].first(where: {
                $0.depth == span.depth && $0.lower >= span.upper
            })
        else { return nil }
        let both = span.lower..<next.upper
        let swapped =
            values[next.range] + values[span.upper..<next.lower] + values[span.range]
        return swapped.lexicographicallyPrecedes(values[both])
            ? values.replacing(both, with: swapped) : nil
    }

    fileprivate func moving(_ amount: UInt64, from: Int, to: Int) -> [UInt64]? {
        guard to < values.count, bounds[to] - values[to] >= amount else { return nil }
        var moved = values.lowering([from], by: amount)
        moved?[to] += amount
        return moved
    }
}
