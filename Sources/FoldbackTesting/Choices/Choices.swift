/// A recorded sequence of bounded choices: what a ``Generator`` draws from.
///
/// All that a generator decides is a number between 0 and some maximum, and 0 is the simplest. So a
/// generated value is a list of numbers: the same list gives the same value, any other list of numbers
/// gives a value too, and a smaller list gives a simpler one. That is why generators made by mapping,
/// filtering or drawing one value by another shrink without being told how
/// (after Hypothesis: MacIver and Donaldson, "Test-Case Reduction via Test-Case Generation", 2020).
///
/// A copy goes its own way: it draws and records apart from the original.
public struct Choices: Sendable {
    /// What the random source likes. It means nothing where choices are replayed, and is not recorded.
    public enum Bias: Sendable, Hashable {
        /// All alike.
        case uniform
        /// Small numbers, the maximum, and what is near these edges. Those above the maximum count as
        /// the maximum.
        case edges([UInt64])
        /// Each number by its weight; those without one never. For maxima that have few numbers below
        /// them.
        case weights([UInt64])
    }

    private enum Source: Sendable {
        case seeded(SplitMix64)
        case replayed([UInt64])
    }

    private var source: Source
    /// What was drawn so far. A span is in it once it has ended.
    package private(set) var recording = RecordedChoices()
    private var depth = 0

    /// Draws at random: the same numbers for the same seed, anywhere.
    package init(seed: UInt64) { source = .seeded(SplitMix64(seed: seed)) }

    /// Draws what is given: a number above its maximum counts as the maximum, and 0 is drawn behind
    /// the end.
    package init(replaying values: [UInt64]) { source = .replayed(values) }

    /// Draws a number between 0 and `max`, and records it. The smaller, the simpler.
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

    /// Marks what `body` draws as the choices of one value, which shrinking may delete, make trivial,
    /// put in order or put into the place of a value around it.
    ///
    /// It changes nothing of what is drawn. Spans nest; one without choices is not kept.
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
    /// How often something is drawn again that cannot be used.
    package static var triesMax: Int { 32 }

    /// Calls `body` for each element of a list whose length is a choice, too.
    ///
    /// Before each element that need not be there is drawn whether it is there, within the element's
    /// span: deleting the span deletes the element. The element's own choices are a span in it, so
    /// elements can be put in order.
    ///
    /// - Parameters:
    ///   - count: how many elements. Half of the way from its lower to its upper bound on average, five
    ///     more than the lower bound at most.
    ///   - body: false where what it drew cannot be an element; it is not counted then.
    /// - Throws: ``Discarded`` if too many elements that must be there cannot be; what `body` throws.
    package mutating func repeating(
        _ count: ClosedRange<Int>, _ body: (inout Choices) throws -> Bool
    ) throws {
        precondition(count.lowerBound >= 0, "a list of \(count) elements")
        let spare = UInt64(count.upperBound - count.lowerBound)
        let goesOn = Bias.weights([1, max(1, min(5, spare / 2))])
        var length = 0
        var triesLeft = Self.triesMax
        while length < count.upperBound {
            let isCounted: Bool? = try span { choices in
                if length >= count.lowerBound, choices.draw(upTo: 1, goesOn) == 0 { return nil }
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
