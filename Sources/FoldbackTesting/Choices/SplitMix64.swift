/// Random numbers from a seed: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014).
///
/// A seed leads to the same numbers on every machine. The standard library may change how it draws
/// bounded numbers, so use ``next(upTo:)`` if the seed of an old report must lead to the same values.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number between 0 and `max`, all equally likely except for a difference of at most `max` /
    /// 2^64.
    public mutating func next(upTo max: UInt64) -> UInt64 {
        max == .max ? next() : next().multipliedFullWidth(by: max + 1).high
    }

    /// A number from 0 up to, but not including, 1.
    package mutating func nextFraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func next(upTo max: UInt64, _ bias: Choices.Bias) -> UInt64 {
        switch bias {
        case .uniform: next(upTo: max)
        case .edges(let edges): next(upTo: max, edges: edges)
        case .weights(let weights): next(weights: weights)
        }
    }

    /// In a quarter of cases an edge or one of the three numbers below it; in a quarter any number;
    /// else a small number, with every count of binary digits equally likely.
    private mutating func next(upTo max: UInt64, edges: [UInt64]) -> UInt64 {
        switch next(upTo: 3) {
        case 0:
            let place = Int(next(upTo: UInt64(edges.count + 1)))
            let edge = place < edges.count ? min(edges[place], max) : place == edges.count ? 0 : max
            let inside = next(upTo: 3)
            return edge - min(inside, edge)
        case 1: return next(upTo: max)
        default:
            let digits = next(upTo: UInt64(UInt64.bitWidth - max.leadingZeroBitCount))
            return next(upTo: digits == 64 ? max : min(max, (1 << digits) - 1))
        }
    }

    private mutating func next(weights: [UInt64]) -> UInt64 {
        let sum = weights.reduce(0, +)
        precondition(sum > 0, "weights \(weights)")
        var rest = next(upTo: sum - 1)
        for (index, weight) in weights.enumerated() {
            if rest < weight { return UInt64(index) }
            rest -= weight
        }
        preconditionFailure("weights \(weights) have a rest of \(rest)")
    }
}
