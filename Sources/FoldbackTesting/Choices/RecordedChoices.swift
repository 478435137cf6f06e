/// The choices that were drawn, and which of them belong together.
package struct RecordedChoices: Sendable, Hashable {
    /// The choices of one value, and of the values within it.
    package struct Span: Sendable, Hashable {
        package let lower: Int
        /// Behind the last one.
        package var upper: Int
        /// How many spans are around it.
        package let depth: Int

        package var range: Range<Int> { lower..<upper }
        package var count: Int { upper - lower }
    }

    package var values: [UInt64] = []
    /// The maximum of each choice.
    package var bounds: [UInt64] = []
    /// In order of their beginning, and those around others first. None is empty.
    package var spans: [Span] = []

    package init() {}

    /// Whether its choices are simpler: fewer, or as many and smaller at the first difference.
    package func isSimpler(than other: RecordedChoices) -> Bool {
        values.count == other.values.count
            ? values.lexicographicallyPrecedes(other.values)
            : values.count < other.values.count
    }

    /// The spans that lie side by side within one span, or within none, as ranges of choices; those
    /// within no span first.
    package var siblings: [[Range<Int>]] {
        var groups: [[Range<Int>]] = [[]]
        // The group that the spans of each depth, from here on, belong to.
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
