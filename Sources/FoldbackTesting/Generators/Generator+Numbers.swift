#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Generator where Value: FixedWidthInteger & Sendable {
    /// All numbers of the type. The minimum, the maximum and small numbers are likely.
    ///
    /// Shrinks toward 0, and from -n to n.
    public static func integers() -> Generator { integers(in: .min ... .max) }

    /// Numbers in a range. Its bounds, and numbers near 0, are likely.
    ///
    /// Shrinks toward 0, or the bound nearest to 0, and from -n to n.
    ///
    /// - Precondition: the type has at most 64 bits.
    public static func integers(in range: ClosedRange<Value>) -> Generator {
        precondition(Value.bitWidth <= 64, "\(Value.self) has more than 64 bits")
        let line = NumberLine(range)
        let bias = Choices.Bias.edges([
            line.place(of: range.lowerBound), line.place(of: range.upperBound),
        ])
        return Generator { choices in line[choices.draw(upTo: line.last, bias)] }
    }
}

/// The numbers of a range in order of simplicity: 0, 1, -1, 2, -2, … as long as there are both,
/// then the rest. If 0 is not in the range, the bound nearest to 0 takes its place.
private struct NumberLine<Number: FixedWidthInteger & Sendable>: Sendable {
    private let origin: Number
    /// How many numbers there are above and below the origin.
    private let above: UInt64
    private let below: UInt64

    init(_ range: ClosedRange<Number>) {
        origin = min(max(0, range.lowerBound), range.upperBound)
        above = Self.distance(from: origin, to: range.upperBound)
        below = Self.distance(from: range.lowerBound, to: origin)
    }

    var last: UInt64 { above + below }
    private var both: UInt64 { min(above, below) }

    subscript(place: UInt64) -> Number {
        let isAbove = place > 2 * both ? above > below : !place.isMultiple(of: 2)
        let distance = place > 2 * both ? place - both : place / 2 + place % 2
        let start = UInt64(truncatingIfNeeded: origin)
        return Number(truncatingIfNeeded: isAbove ? start &+ distance : start &- distance)
    }

    func place(of number: Number) -> UInt64 {
        let isAbove = number > origin
        let distance =
            isAbove
            ? Self.distance(from: origin, to: number) : Self.distance(from: number, to: origin)
        return distance > both ? both + distance : isAbove ? 2 * distance - 1 : 2 * distance
    }

    /// Numbers of at most 64 bits are at most 2^64 - 1 apart.
    private static func distance(from lower: Number, to upper: Number) -> UInt64 {
        UInt64(truncatingIfNeeded: upper) &- UInt64(truncatingIfNeeded: lower)
    }
}

extension Generator where Value == Bool {
    /// False is simpler than true.
    public static var booleans: Generator { Generator { $0.draw(upTo: 1, .uniform) == 1 } }
}

extension Generator where Value == UUID {
    /// Valid random UUIDs (RFC 9562, version 4), drawn from choices.
    ///
    /// Shrinks toward `00000000-0000-4000-8000-000000000000`.
    public static var uuids: Generator {
        Generator { choices in
            choices.span { choices in
                let high = choices.draw(upTo: .max, .uniform) & ~0xF000 | 0x4000
                let low = choices.draw(upTo: .max >> 2, .uniform) | 1 << 63
                func byte(_ index: Int) -> UInt8 {
                    UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> (56 - index % 8 * 8))
                }
                return UUID(
                    uuid: (
                        byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7),
                        byte(8), byte(9), byte(10), byte(11), byte(12), byte(13), byte(14),
                        byte(15)
                    ))
            }
        }
    }
}
