/// A whole number of one meaning, so that a sequence is never passed where a position is meant.
public protocol LogNumber:
    Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible
{
    var value: UInt64 { get }
    init(_ value: UInt64)
}

extension LogNumber {
    public init(integerLiteral value: UInt64) { self.init(value) }
    public static func < (a: Self, b: Self) -> Bool { a.value < b.value }
    public var description: String { String(value) }

    /// The next one up.
    package var next: Self { Self(value + 1) }
}

/// The place of an entry in this log: 1, 2, 3, …; 0 is before the first.
public struct LogSequence: LogNumber {
    public let value: UInt64
    public init(_ value: UInt64) { self.value = value }
}

/// The server's own order of confirmed events: from 1 up, gaps allowed; 0 is before the first.
public struct Position: LogNumber {
    public let value: UInt64
    public init(_ value: UInt64) { self.value = value }
}

/// An intent's number in its log: from 1 up by one, never used twice.
public struct IntentNumber: LogNumber {
    public let value: UInt64
    public init(_ value: UInt64) { self.value = value }
}

/// The name of one replica of the app's data: one log on one device. 1 to 255 bytes of UTF-8;
/// equal when the bytes are.
public struct ReplicaID: Hashable, Sendable, CustomStringConvertible {
    public let name: ExactString

    /// Nil where the name is empty or longer than 255 bytes.
    public init?(_ name: String) {
        guard 1...255 ~= name.utf8.count else { return nil }
        self.name = ExactString(name)
    }

    public var description: String { name.string }
}

/// An intent, wherever it is spoken of: the server deduplicates by it (A1).
public struct IntentID: Hashable, Sendable, CustomStringConvertible {
    public let replica: ReplicaID
    public let number: IntentNumber

    public init(replica: ReplicaID, number: IntentNumber) {
        self.replica = replica
        self.number = number
    }

    public var description: String { "\(replica).\(number)" }
}

/// A moment as milliseconds since 1970, as entries carry it.
public struct Timestamp: Hashable, Comparable, Sendable {
    public let millisecondsSince1970: Int64

    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    public static func < (a: Self, b: Self) -> Bool {
        a.millisecondsSince1970 < b.millisecondsSince1970
    }
}
