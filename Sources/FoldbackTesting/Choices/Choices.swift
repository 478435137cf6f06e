/// The source that a ``Generator`` draws from: a recorded sequence of bounded numbers.
///
/// Every decision of a generator is a number between 0 and a maximum, and 0 is the simplest. So a
/// generated value is a list of numbers. The same list leads to the same value, any other list
/// leads to a value too, and a smaller list leads to a simpler value. Therefore mapped, filtered
/// and dependent generators shrink without a shrinking function (after Hypothesis: MacIver and
/// Donaldson, "Test-Case Reduction via Test-Case Generation", 2020).
///
/// A copy draws and records independently of the original.
public struct Choices: Sendable {
    /// The distribution of random choices. Replayed choices ignore it, and it is not recorded.
    public enum Bias: Sendable, Hashable {
        /// All numbers are equally likely.
        case uniform
        /// Small numbers, the maximum, and numbers near these edges. An edge above the maximum
        /// counts as the maximum.
        case edges([UInt64])
        /// Each number by its weight; a number without a weight never. For small maxima.
        case weights([UInt64])
    }

    private enum Source: Sendable {
        case seeded(SplitMix64)
        case replayed([UInt64])
    }

    private var source: Source
    /// The choices so far. A span has its upper bound once it has ended.
    package private(set) var recording = RecordedChoices()
    private var depth = 0

    /// Draws at random: the same numbers for the same seed, anywhere.
    package init(seed: UInt64) { source = .seeded(SplitMix64(seed: seed)) }

    /// Draws the given numbers. A number above its maximum counts as the maximum; after the end it
    /// draws 0.
    package init(replaying values: [UInt64]) { source = .replayed(values) }

    /// Draws a number between 0 and `max`, and records it. A smaller number is simpler.
    public mutating func draw(upTo max: UInt64, _ bias: Bias) -> UInt64 {
        let value: UInt64
        switch source {
        case .seeded(var random):
            value = min(random.next(upTo: max, bias), max)
            source = .seeded(random)
        case .replayed(let values):
            let place = recording.values.count
            value = place < values.count ? min(values[place], max) : 0
        }
        recording.values.append(value)
        recording.bounds.append(max)
        return value
    }

    /// Marks the choices of `body` as the choices of one value. Shrinking may delete them, set them
    /// to zero, sort them among their neighbors, or put them in the place of an outer value.
    ///
    /// A span does not change the choices. Spans nest; a span without choices is not kept.
    public mutating func span<R>(_ body: (inout Choices) throws -> R) rethrows -> R {
        let lower = recording.values.count
        let index = recording.spans.count
        recording.spans.append(RecordedChoices.Span(lower: lower, upper: lower, depth: depth))
        depth += 1
        defer {
            depth -= 1
            if recording.values.count == lower {
                recording.spans.removeSubrange(index...)
            } else {
                recording.spans[index].upper = recording.values.count
            }
        }
        return try body(&self)
    }
}

extension Choices {
    /// How often an unusable value is drawn again.
    package static var triesMax: Int { 32 }

    /// Calls `body` for each element of a list whose length is drawn as well.
    ///
    /// Before each optional element it draws whether the element exists, within the element's span.
    /// So deleting the span deletes the element. The choices of the element are a span of their
    /// own, so elements can be sorted.
    ///
    /// - Parameters:
    ///   - count: how many elements. The average is the middle of the range, but at most five more
    ///     than its lower bound.
    ///   - body: draws an element; false if the element cannot be used and does not count.
    /// - Throws: ``Discarded`` if too many required elements cannot be used; errors of `body`.
    package mutating func repeating(
        _ count: ClosedRange<Int>, _ body: (inout Choices) throws -> Bool
    ) throws {
        precondition(count.lowerBound >= 0, "a list of \(count) elements")
        let spare = UInt64(count.upperBound - count.lowerBound)
        let continues = Bias.weights([1, max(1, min(5, spare / 2))])
        var length = 0
        var triesLeft = Self.triesMax
        while length < count.upperBound {
            let isCounted: Bool? = try span { choices in
                if length >= count.lowerBound, choices.draw(upTo: 1, continues) == 0 { return nil }
                return try choices.span(body)
            }
            switch isCounted {
            case nil: return
            case true?: length += 1
            case false?:
                triesLeft -= 1
                guard triesLeft > 0 else {
                    if length < count.lowerBound { throw Discarded() }
                    return
                }
            }
        }
    }
}
