import Foldback
import Synchronization

/// A clock that this program sets, and replica ids that count.
final class VirtualTime: Sendable {
    private let milliseconds: Mutex<Int64>
    private let replicas = Mutex(0)

    static let hour: Int64 = 3_600_000

    /// - Parameter milliseconds: the time since 1970.
    init(_ milliseconds: Int64) { self.milliseconds = Mutex(milliseconds) }

    var now: Int64 { milliseconds.withLock { $0 } }

    func advance(hours: Int64) { milliseconds.withLock { $0 += hours * Self.hour } }

    var sources: LogSources {
        LogSources(
            now: { Timestamp(millisecondsSince1970: self.now) },
            freshReplica: {
                let number = self.replicas.withLock { count in
                    count += 1
                    return count
                }
                guard let id = ReplicaID("fresh-\(number)") else {
                    preconditionFailure("a name of a few letters was refused")
                }
                return id
            })
    }
}

/// A generator of random numbers that gives the same numbers for the same seed (splitmix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns true with this probability.
    mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self) < probability
    }

    mutating func number(in range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &self)
    }
}
