#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RowKey where Self: FixedWidthInteger {
    public func encode(to key: inout KeyEncoder) { key.append(number: self) }
    public init(from key: inout KeyDecoder) throws { self = try key.number() }
}

extension Int: RowKey {}
extension Int8: RowKey {}
extension Int16: RowKey {}
extension Int32: RowKey {}
extension Int64: RowKey {}
extension UInt: RowKey {}
extension UInt8: RowKey {}
extension UInt16: RowKey {}
extension UInt32: RowKey {}
extension UInt64: RowKey {}

/// False before true.
extension Bool: RowKey {
    public func encode(to key: inout KeyEncoder) { key.append(number: self ? 1 as UInt8 : 0) }
    public init(from key: inout KeyDecoder) throws { self = try key.number(UInt8.self) != 0 }
}

/// By the UTF-8 bytes, which is the order of code points. Two strings that Swift calls equal and that
/// differ in bytes are two keys.
extension String: RowKey {
    public func encode(to key: inout KeyEncoder) { key.append(bytes: utf8) }
    public init(from key: inout KeyDecoder) throws {
        guard let string = String(validating: try key.text(), as: UTF8.self) else {
            throw RowError.unreadableKey
        }
        self = string
    }
}

extension ExactString: RowKey {
    public func encode(to key: inout KeyEncoder) { key.append(bytes: string.utf8) }
    public init(from key: inout KeyDecoder) throws { self.init(try String(from: &key)) }
}

/// Bytes of any length, a prefix before what it begins.
extension Array: RowKey where Element == UInt8 {
    public func encode(to key: inout KeyEncoder) { key.append(bytes: self) }
    public init(from key: inout KeyDecoder) throws { self = try key.text() }
}

extension UUID: RowKey {
    public func encode(to key: inout KeyEncoder) {
        withUnsafeBytes(of: uuid) { key.append(fixed: $0) }
    }

    public init(from key: inout KeyDecoder) throws {
        let bytes = try key.fixed(count: 16)
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

/// By time, as exactly as `Date` keeps it.
extension Date: RowKey {
    public func encode(to key: inout KeyEncoder) { timeIntervalSinceReferenceDate.encode(to: &key) }
    public init(from key: inout KeyDecoder) throws {
        self.init(timeIntervalSinceReferenceDate: try Double(from: &key))
    }
}

/// In the total order of IEEE 754; `-0` counts as `0`.
extension Double: RowKey {
    public func encode(to key: inout KeyEncoder) {
        let bits = (self == 0 ? 0 : self).bitPattern
        // Negative numbers fall as their bits rise.
        key.append(number: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    public init(from key: inout KeyDecoder) throws {
        let bits: UInt64 = try key.number()
        self.init(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    }
}

extension LogNumber where Self: RowKey {
    public func encode(to key: inout KeyEncoder) { key.append(number: value) }
    public init(from key: inout KeyDecoder) throws { self.init(try key.number(UInt64.self)) }
}

extension IntentNumber: RowKey {}
extension LogSequence: RowKey {}
extension Position: RowKey {}

/// Two keys as one, ordered by the first, then by the second.
public struct KeyPair<First: RowKey, Second: RowKey>: RowKey {
    public var first: First
    public var second: Second

    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    public func encode(to key: inout KeyEncoder) {
        key.append(first)
        key.append(second)
    }

    public init(from key: inout KeyDecoder) throws {
        first = try key.next()
        second = try key.next()
    }
}

extension KeyPair: Comparable where First: Comparable, Second: Comparable {
    public static func < (a: Self, b: Self) -> Bool {
        a.first == b.first ? a.second < b.second : a.first < b.first
    }
}

/// A key in the opposite order: for an index that rises in one part and falls in the other. For one that
/// only falls, read backwards.
public struct Descending<Key: RowKey>: RowKey {
    public var key: Key

    public init(_ key: Key) { self.key = key }

    public func encode(to encoder: inout KeyEncoder) {
        encoder.append(fixed: key.bytes(behind: []).map { ~$0 })
    }

    public init(from decoder: inout KeyDecoder) throws {
        key = try decoder.inverted { try Key(from: &$0) }
    }
}

extension KeyDecoder {
    /// Reads from here on with every bit turned over.
    fileprivate mutating func inverted<K>(_ body: (inout KeyDecoder) throws -> K) throws -> K {
        var rest = KeyDecoder(remaining().map { ~$0 })
        let key = try body(&rest)
        _ = try fixed(count: rest.offset)
        return key
    }
}
