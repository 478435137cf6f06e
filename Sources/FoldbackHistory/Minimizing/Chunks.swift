/// The ranges of a list that a minimizer tries to remove: halves, quarters, and so on down to
/// single elements. Each size goes from the end of the list to its start.
///
/// After a removal the next range is before the removed one. If k of n elements must stay, the
/// search takes about 4k log2(n) attempts.
struct Chunks {
    private var count: Int
    private var size: Int
    private var end: Int

    init(of count: Int) {
        self.count = count
        size = max(1, count / 2)
        end = count
    }

    /// Returns the next range to try, or nil after the last.
    mutating func next() -> Range<Int>? {
        while end == 0 {
            guard size > 1 else { return nil }
            size = max(1, min(size, count) / 2)
            end = count
        }
        let start = max(0, end - size)
        defer { end = start }
        return start..<end
    }

    /// Records that the last range was removed.
    ///
    /// - Parameter count: the number of elements that are left. Elements after the range may be
    ///   gone too.
    mutating func removed(leaving count: Int) {
        self.count = count
        end = min(end, count)
    }
}
