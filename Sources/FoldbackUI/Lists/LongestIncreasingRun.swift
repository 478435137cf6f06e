/// The elements of a sequence of numbers that can stay while all others move: a longest increasing
/// run, which may skip elements.
///
/// It is found by patience sorting (Fredman, "On computing the length of longest increasing
/// subsequences", 1975).
@usableFromInline struct LongestIncreasingRun {
    private var isMember: [Bool]

    /// - Parameter values: distinct numbers. A nil is never in the run.
    /// - Complexity: O(n log n) in values; O(n) if they ascend.
    @usableFromInline init(of values: [Int?]) {
        isMember = Array(repeating: false, count: values.count)
        /// At index k, the least last value of the increasing runs of k + 1 values so far.
        var ends: [Int] = []
        /// The indexes of ``ends`` in ``values``.
        var places: [Int] = []
        /// For each value, the index of the value before it in its run.
        var previous = Array(repeating: -1, count: values.count)
        for (place, value) in values.enumerated() {
            guard let value else { continue }
            let length = Self.count(of: ends, below: value)
            if length > 0 { previous[place] = places[length - 1] }  // mutant: list-fewest-moves
            if length == ends.count {
                ends.append(value)
                places.append(place)
            } else {
                ends[length] = value
                places[length] = place
            }
        }
        var place = places.last ?? -1
        while place >= 0 {
            isMember[place] = true
            place = previous[place]
        }
    }

    /// Whether the value at an index is in the run.
    @usableFromInline subscript(index: Int) -> Bool { isMember[index] }

    private static func count(of ascending: [Int], below value: Int) -> Int {
        guard let last = ascending.last, last >= value else { return ascending.count }
        var (low, high) = (0, ascending.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ascending[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
