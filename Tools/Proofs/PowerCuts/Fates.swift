/// What a power cut makes of one operation that was not flushed.
public enum Fate: Hashable, Sendable {
    /// The disk has all of it.
    case kept
    /// The disk has nothing of it.
    case lost
    /// Only for a write: the file has the size, and zeros or the old bytes in place of the data.
    case sizeOnly
    /// Only for a write: the disk has some sectors of 512 bytes.
    case torn
}

/// What a power cut makes of a mapped file. Its pages may have reached the disk at any moment.
public enum MappedContent: CaseIterable, Hashable, Sendable {
    /// As the calls wrote it.
    case written
    /// As the file was when the recording ended.
    case last
    case zeros
    case garbage
    case empty
}

/// The choices of one power cut, all drawn from one seed.
///
/// Half of all cuts lose whole operations only. The other half tears writes, too. Half of all cuts
/// keep all names, as if the file system's journal had been written just before.
public struct Fates: Sendable {
    private enum Pattern {
        case nothing, everything
        /// The first operations reached the disk, in order.
        case first(Int)
        case allBut(Int)
        case only(Int)
        /// Each operation is kept in so many of four cases.
        case quarters(UInt64)
    }

    private var numbers: SeededNumbers
    private let pattern: Pattern
    private let tears: Bool
    private let keepsNames: Bool

    /// - Parameters:
    ///   - seed: decides everything.
    ///   - count: the number of operations that are not flushed.
    public init(seed: UInt64, count: Int) {
        numbers = SeededNumbers(seed: seed)
        tears = numbers.next(below: 2) == 0
        keepsNames = numbers.next(below: 2) == 0
        let place = Int(numbers.next(below: UInt64(count + 1)))
        pattern =
            switch numbers.next(below: 16) {
            case 0: .nothing
            case 1: .everything
            case 2...3: .first(place)
            case 4...6: .allBut(place)
            case 7...8: .only(place)
            case let other: .quarters(1 + other % 3)
            }
    }

    /// Returns the fate of the change of names at a place among those that are not flushed.
    mutating func fateOfName(at place: Int) -> Fate {
        keepsNames || keeps(place) ? .kept : .lost
    }

    /// Returns the fate of the write, or of the change of a size, at a place among those that are
    /// not flushed.
    mutating func fate(at place: Int, isWrite: Bool) -> Fate {
        guard keeps(place) else { return .lost }
        guard isWrite, tears else { return .kept }
        return switch numbers.next(below: 8) {
        case 0: .sizeOnly
        case 1...3: .torn
        default: .kept
        }
    }

    private mutating func keeps(_ place: Int) -> Bool {
        switch pattern {
        case .nothing: false
        case .everything: true
        case .first(let count): place < count
        case .allBut(let lost): place != lost
        case .only(let kept): place == kept
        case .quarters(let quarters): numbers.next(below: 4) < quarters
        }
    }

    /// Returns which sectors of a torn write the disk has: some, in no order, or the first, or the
    /// last.
    mutating func sectors(_ count: Int) -> [Bool] {
        let border = Int(numbers.next(below: UInt64(count + 1)))
        switch numbers.next(below: 4) {
        case 0: return (0..<count).map { $0 < border }
        case 1: return (0..<count).map { $0 >= border }
        default: return (0..<count).map { _ in numbers.next(below: 2) == 0 }
        }
    }

    /// Returns whether a file's growth is lost although its data may have been written.
    mutating func losesGrowth() -> Bool { tears && numbers.next(below: 8) == 0 }

    mutating func mappedContent() -> MappedContent {
        let all = MappedContent.allCases
        return all[Int(numbers.next(below: UInt64(all.count)))]
    }

    mutating func garbage(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next(below: 256)) }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014). A seed has the same numbers on every machine.
public struct SeededNumbers: Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    /// Returns a number from 0 up to, but not including, `bound`.
    public mutating func next(below bound: UInt64) -> UInt64 {
        next().multipliedFullWidth(by: bound).high
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
