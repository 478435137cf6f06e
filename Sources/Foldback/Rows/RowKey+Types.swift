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

/// Ordered by UTF-8 bytes, which is the order of code points. Two strings that are equal in Swift
/// but differ in bytes are two keys.
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

/// An enum with raw values, or another type with a raw value that is a key, needs no code:
/// `enum Kind: String, RowKey { … }`. Ordered by the raw values. A stored key without a case cannot
/// be read (``RowError/unreadableKey``), so keep the cases.
extension RowKey where Self: RawRepresentable, RawValue: RowKey {
    public func encode(to key: inout KeyEncoder) { key.append(rawValue) }
    public init(from key: inout KeyDecoder) throws {
        guard let value = Self(rawValue: try key.next()) else { throw RowError.unreadableKey }
        self = value
    }
}

/// Ordered byte by byte; a prefix comes before the longer arrays that begin with it.
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

/// Ordered by time, with the full precision of `Date`.
extension Date: RowKey {
    public func encode(to key: inout KeyEncoder) { timeIntervalSinceReferenceDate.encode(to: &key) }
    public init(from key: inout KeyDecoder) throws {
        self.init(timeIntervalSinceReferenceDate: try Double(from: &key))
    }
}

/// Ordered by IEEE 754's total order, except that `-0` is `0`.
extension Double: RowKey {
    public func encode(to key: inout KeyEncoder) {
        let bits = (self == 0 ? 0 : self).bitPattern
        // A negative number decreases as its bits increase, so all its bits are inverted.
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

/// Two keys as one key, ordered by the first, then by the second.
///
/// Read all keys with the same first part with ``RowRange/prefix(_:)``.
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

/// A key in the opposite order, for an index that is ascending in one part and descending in
/// another.
///
/// Do not use it for a table or index that is descending as a whole: read that with
/// ``RowOrder/descending``.
public struct Descending<Key: RowKey>: RowKey {
    public var key: Key

    public init(_ key: Key) { self.key = key }

    public func encode(to encoder: inout KeyEncoder) {
        encoder.append(fixed: key.bytes(after: []).map { ~$0 })
    }

    public init(from decoder: inout KeyDecoder) throws {
        key = try decoder.inverted { try Key(from: &$0) }
    }
}

extension KeyDecoder {
    /// Reads the rest of the bytes with every bit inverted.
    fileprivate mutating func inverted<K>(_ body: (inout KeyDecoder) throws -> K) throws -> K {
        var rest = KeyDecoder(remaining().map { ~$0 })
        let key = try body(&rest)
        _ = try fixed(count: rest.offset)
        return key
    }
}

/// A key whose text differs from the text of every other key of its table.
protocol UnambiguousRowKey: RowKey {}

extension ExactString: UnambiguousRowKey {}
extension UUID: UnambiguousRowKey {}
