/// The key of a row or of an index entry: a value whose bytes have the same order as the value.
///
/// Integers, `Bool`, `Double`, `String` and ``ExactString`` (by their UTF-8 bytes), `UUID`, `Date`
/// and arrays of bytes are keys. An enum with raw values becomes a key if it names the protocol.
/// ``KeyPair`` or a type of your own combines several keys:
///
/// ```swift
/// struct Place: RowKey {
///     var thread: UUID
///     var sent: Date
///
///     func encode(to key: inout KeyEncoder) {
///         key.append(thread)
///         key.append(sent)
///     }
///     init(from key: inout KeyDecoder) throws {
///         thread = try key.next()
///         sent = try key.next()
///     }
/// }
/// ```
///
/// The bytes that `encode` appends must show where they end, so that another key can follow. All
/// methods of ``KeyEncoder`` append such bytes. A key has at most ``KeyEncoder/bytesMax`` bytes. In
/// an index that is not unique, the limit is for the index key and the row's key together.
public protocol RowKey: Hashable, Sendable {
    /// Appends the key as bytes whose order is the order of the key.
    func encode(to key: inout KeyEncoder)

    /// Reads the bytes that ``encode(to:)`` appended.
    ///
    /// - Throws: ``RowError`` if the bytes are not a key of this type.
    init(from key: inout KeyDecoder) throws
}

/// Writes keys as bytes that have the same order as the keys.
public struct KeyEncoder: Sendable {
    /// The most bytes of a key. LMDB's longest key has 511 bytes (MDB_MAXKEYSIZE of lmdb 0.9.24);
    /// the numbers of projection and table take a part of it.
    public static let bytesMax = 504

    /// The bytes so far, the prefix included.
    package private(set) var bytes: [UInt8]

    package init(prefix: [UInt8] = []) {
        bytes = []
        // Most keys are shorter than this, so they need one allocation.
        bytes.reserveCapacity(prefix.count + 26)
        bytes.append(contentsOf: prefix)
    }

    /// Appends another key.
    public mutating func append<K: RowKey>(_ key: K) { key.encode(to: &self) }

    /// Appends an integer in big-endian order, with the sign bit inverted if it is signed.
    public mutating func append<N: FixedWidthInteger>(number: N) {
        let ordered = N.isSigned ? number ^ N.min : number
        withUnsafeBytes(of: ordered.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes of any length. A zero is followed by 255, and two zeros end the bytes.
    ///
    /// So a prefix always comes before the longer bytes that begin with it.
    public mutating func append(bytes text: some Sequence<UInt8>) {
        for byte in text {
            bytes.append(byte)
            if byte == 0 { bytes.append(255) }
        }
        bytes.append(0)
        bytes.append(0)
    }

    /// Appends these bytes alone. Their count must be the same in every key.
    public mutating func append(fixed: some Sequence<UInt8>) { bytes.append(contentsOf: fixed) }
}

/// Reads the keys that ``KeyEncoder`` wrote.
public struct KeyDecoder: Sendable {
    private let bytes: [UInt8]
    /// The place of the next byte to read.
    package private(set) var offset: Int

    package init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    package var isAtEnd: Bool { offset == bytes.count }

    /// Returns the bytes that were not read yet.
    func remaining() -> ArraySlice<UInt8> { bytes[offset...] }

    /// Reads another key.
    ///
    /// - Throws: the error of that key's `init(from:)`.
    public mutating func next<K: RowKey>(_: K.Type = K.self) throws -> K { try K(from: &self) }

    /// Reads the integer that ``KeyEncoder/append(number:)`` appended.
    ///
    /// - Throws: `RowError.unreadableKey` if there are too few bytes.
    public mutating func number<N: FixedWidthInteger>(_: N.Type = N.self) throws -> N {
        let fixed = try fixed(count: N.bitWidth / 8)
        var number: N = 0
        for byte in fixed { number = number << 8 | N(truncatingIfNeeded: byte) }
        return N.isSigned ? number ^ N.min : number
    }

    /// Reads the bytes that ``KeyEncoder/append(bytes:)`` appended.
    ///
    /// - Throws: `RowError.unreadableKey` if they do not end, or if a zero is followed by another
    ///   byte than 0 or 255.
    public mutating func text() throws -> [UInt8] {
        var text: [UInt8] = []
        while true {
            guard offset + 1 < bytes.count else { throw RowError.unreadableKey }
            let byte = bytes[offset]
            guard byte == 0 else {
                text.append(byte)
                offset += 1
                continue
            }
            defer { offset += 2 }
            switch bytes[offset + 1] {
            case 255: text.append(0)
            case 0: return text
            default: throw RowError.unreadableKey
            }
        }
    }

    /// Reads the next `count` bytes, which ``KeyEncoder/append(fixed:)`` appended.
    ///
    /// - Throws: `RowError.unreadableKey` if there are too few bytes.
    public mutating func fixed(count: Int) throws -> ArraySlice<UInt8> {
        guard offset + count <= bytes.count else { throw RowError.unreadableKey }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }
}

extension RowKey {
    /// Reads the key that is in these bytes from `offset` to their end.
    package init(stored bytes: [UInt8], after offset: Int) throws {
        var decoder = KeyDecoder(bytes, from: offset)
        self = try decoder.next()
        guard decoder.isAtEnd else { throw RowError.unreadableKey }
    }

    /// Returns the bytes of this key, after `prefix`.
    package func bytes(after prefix: [UInt8]) -> [UInt8] {
        var encoder = KeyEncoder(prefix: prefix)
        encode(to: &encoder)
        return encoder.bytes
    }
}
