/// Which elements of a list to try to take out: half of them, quarters, … single ones, each size
/// from the back. Behind what was taken out it goes on where it was, so a list of n elements of which k
/// must stay takes about 4k log2(n) attempts.
package struct Chunks {
    private var count: Int
    private var size: Int
    private var end: Int

    package init(of count: Int) {
        self.count = count
        size = max(1, count / 2)
        end = count
    }

    package mutating func next() -> Range<Int>? {
        while end == 0 {
            guard size > 1 else { return nil }
            size = max(1, min(size, count) / 2)
            end = count
        }
        let start = max(0, end - size)
        defer { end = start }
        return start..<end
    }

    /// To be called when the last range was taken out, with the elements that are left: others behind it
    /// may be gone as well.
    package mutating func removed(leaving count: Int) {
        self.count = count
        end = min(end, count)
    }
}
