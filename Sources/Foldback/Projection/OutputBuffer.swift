#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a ``ByteCodec`` writes.
///
/// Its methods are inlined into the app's codec: a field costs a few instructions, not a call.
public struct OutputBuffer: Sendable {
    @usableFromInline var storage: [UInt8] = []

    package init(capacity: Int = 0) { storage.reserveCapacity(capacity) }

    package var bytes: [UInt8] { storage }

    /// A number of a fixed size, little-endian.
    @inlinable
    public mutating func append<N: FixedWidthInteger>(_ number: N) {
        withUnsafeBytes(of: number.littleEndian) { storage.append(contentsOf: $0) }
    }

    /// Its bits, little-endian.
    @inlinable
    public mutating func append(_ number: Double) { append(number.bitPattern) }

    /// A number in as few bytes as it needs, seven bits each (LEB128).
    @inlinable
    public mutating func append(variable number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            storage.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        storage.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The length in bytes, then the UTF-8.
    @inlinable
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(variable: UInt64(utf8.count))
            storage.append(contentsOf: utf8)
        }
    }

    /// Its 16 bytes.
    @inlinable
    public mutating func append(_ id: UUID) {
        withUnsafeBytes(of: id.uuid) { storage.append(contentsOf: $0) }
    }

    /// As exactly as `Date` keeps it, in 8 bytes.
    @inlinable
    public mutating func append(_ date: Date) { append(date.timeIntervalSinceReferenceDate) }

    /// The bytes as they are.
    @inlinable
    public mutating func append(bytes other: some Sequence<UInt8>) {
        storage.append(contentsOf: other)
    }
}
