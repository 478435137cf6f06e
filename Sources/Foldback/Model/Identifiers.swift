/// A whole number with its own type, so that a sequence cannot be passed as a position.
public protocol LogNumber:
    Hashable, Comparable, Codable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible
{
    var value: UInt64 { get }
    init(_ value: UInt64)
}

extension LogNumber {
    public init(integerLiteral value: UInt64) { self.init(value) }
    public static func < (a: Self, b: Self) -> Bool { a.value < b.value }
    public var description: String { String(value) }

    /// The number this many after it.
    package func advanced(by count: Int) -> Self { Self(value + UInt64(count)) }

    /// The number plus one.
    package var next: Self { Self(value + 1) }
}

/// The place of an entry in this log: 1, 2, 3, …; 0 is before the first entry.
public struct LogSequence: LogNumber {
    public let value: UInt64
    public init(_ value: UInt64) { self.value = value }
}

/// A place in the server's own order of confirmed events: from 1 up, gaps allowed. 0 is before the
/// first event.
public struct Position: LogNumber {
    public let value: UInt64
    public init(_ value: UInt64) { self.value = value }
}

/// An intent's number in its log: from 1 up by one. A log never has a number twice.
public struct IntentNumber: LogNumber {
    public let value: UInt64
    public init(_ value: UInt64) { self.value = value }
}

/// The name of one replica of the app's data, which is one log on one device.
///
/// A name has 1 to 255 bytes of UTF-8. Two names are equal if their bytes are equal.
public struct ReplicaID: Hashable, Sendable, CustomStringConvertible {
    public let name: ExactString

    /// Makes an id, or returns nil if the name is empty or longer than 255 bytes.
    public init?(_ name: String) {
        guard 1...255 ~= name.utf8.count else { return nil }
        self.name = ExactString(name)
    }

    public var description: String { name.string }
}

/// The id of an intent, unique among all replicas. The server deduplicates by it (A1).
public struct IntentID: Hashable, Sendable, CustomStringConvertible {
    public let replica: ReplicaID
    public let number: IntentNumber

    public init(replica: ReplicaID, number: IntentNumber) {
        self.replica = replica
        self.number = number
    }

    public var description: String { "\(replica).\(number)" }
}

/// A moment in milliseconds since 1970.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    public static func < (a: Self, b: Self) -> Bool {
        a.millisecondsSince1970 < b.millisecondsSince1970
    }
}
