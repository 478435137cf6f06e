/// Drawn choices, and the spans of those that belong together.
package struct RecordedChoices: Sendable, Hashable {
    /// The choices of one value, with the values in it.
    package struct Span: Sendable, Hashable {
        package let lower: Int
        /// One more than the last index.
        package var upper: Int
        /// How many spans contain this span.
        package let depth: Int

        package var range: Range<Int> { lower..<upper }
        package var count: Int { upper - lower }
    }

    package var values: [UInt64] = []
    /// The maximum of each choice.
    package var bounds: [UInt64] = []
    /// In order of their lower bounds, outer spans first. None is empty.
    package var spans: [Span] = []

    package init() {}

    /// Whether the choices are simpler: fewer, or equally many and smaller at the first difference.
    package func isSimpler(than other: RecordedChoices) -> Bool {
        values.count == other.values.count
            ? values.lexicographicallyPrecedes(other.values)
            : values.count < other.values.count
    }

    /// The spans with the same parent, as groups of ranges of choices. The group without a parent
    /// is first.
    package var siblings: [[Range<Int>]] {
        var groups: [[Range<Int>]] = [[]]
        // For each depth, the group of the next span.
        var open = [0]
        for span in spans {
            open.removeSubrange((span.depth + 1)...)
            groups[open[span.depth]].append(span.range)
            open.append(groups.count)
            groups.append([])
        }
        return groups.filter { !$0.isEmpty }
    }
}
