/// The key of a row, or of an index: a value whose order its bytes keep.
///
/// Whole numbers, `Bool`, `String` and ``ExactString`` (by their UTF-8 bytes), `UUID`, `Date` and arrays of
/// bytes are keys; ``KeyPair`` and a type of your own put several together:
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
/// What `encode` appends has to say by itself where it ends, as everything that ``KeyEncoder`` appends does.
/// A key, with an index's key before it, has at most ``KeyEncoder/bytesMax`` bytes.
public protocol RowKey: Hashable, Sendable {
    func encode(to key: inout KeyEncoder)

    /// - Throws: ``RowError`` where the bytes are not such a key's.
    init(from key: inout KeyDecoder) throws
}

/// Writes keys as bytes, in their order.
public struct KeyEncoder: Sendable {
    /// LMDB's longest key, 511 bytes (MDB_MAXKEYSIZE of lmdb 0.9.24), without the number of the table.
    public static let bytesMax = 504

    package private(set) var bytes: [UInt8]

    package init(prefix: [UInt8] = []) {
        bytes = []
        // Most keys have no more, and are allocated once.
        bytes.reserveCapacity(prefix.count + 26)
        bytes.append(contentsOf: prefix)
    }

    /// Appends another key.
    public mutating func append<K: RowKey>(_ key: K) { key.encode(to: &self) }

    /// Appends a whole number: big-endian, and for signed ones with the sign's bit turned over.
    public mutating func append<N: FixedWidthInteger>(number: N) {
        let ordered = N.isSigned ? number ^ N.min : number
        withUnsafeBytes(of: ordered.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends bytes of any length: a zero is followed by 255, and two zeros end them. So a prefix comes
    /// before what it begins, whatever follows.
    public mutating func append(bytes text: some Sequence<UInt8>) {
        for byte in text {
            bytes.append(byte)
            if byte == 0 { bytes.append(255) }
        }
        bytes.append(0)
        bytes.append(0)
    }

    /// Appends just these bytes, which have to be as many in every key.
    public mutating func append(fixed: some Sequence<UInt8>) { bytes.append(contentsOf: fixed) }
}

/// Reads keys that ``KeyEncoder`` wrote.
public struct KeyDecoder: Sendable {
    private let bytes: [UInt8]
    package private(set) var offset: Int

    package init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = offset
    }

    package var isAtEnd: Bool { offset == bytes.count }

    /// What has not been read yet.
    func remaining() -> ArraySlice<UInt8> { bytes[offset...] }

    public mutating func next<K: RowKey>(_: K.Type = K.self) throws -> K { try K(from: &self) }

    public mutating func number<N: FixedWidthInteger>(_: N.Type = N.self) throws -> N {
        let fixed = try fixed(count: N.bitWidth / 8)
        var number: N = 0
        for byte in fixed { number = number << 8 | N(truncatingIfNeeded: byte) }
        return N.isSigned ? number ^ N.min : number
    }

    /// What ``KeyEncoder/append(bytes:)`` appended.
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

    public mutating func fixed(count: Int) throws -> ArraySlice<UInt8> {
        guard offset + count <= bytes.count else { throw RowError.unreadableKey }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }
}

extension RowKey {
    /// The key with which these bytes end.
    package init(stored bytes: [UInt8], behind offset: Int) throws {
        var decoder = KeyDecoder(bytes, from: offset)
        self = try decoder.next()
        guard decoder.isAtEnd else { throw RowError.unreadableKey }
    }

    /// The bytes of this key behind those of a table.
    package func bytes(behind prefix: [UInt8]) -> [UInt8] {
        var encoder = KeyEncoder(prefix: prefix)
        encode(to: &encoder)
        return encoder.bytes
    }
}
