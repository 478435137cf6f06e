#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The buffer that a ``ByteCodec`` writes to.
///
/// The methods are inlined into the app's codec, so a field costs a few instructions and no call.
public struct OutputBuffer: Sendable {
    @usableFromInline var storage: [UInt8] = []

    package init(capacity: Int = 0) { storage.reserveCapacity(capacity) }

    package var bytes: [UInt8] { storage }

    /// Appends a number in its fixed size, little-endian.
    @inlinable
    public mutating func append<N: FixedWidthInteger>(_ number: N) {
        withUnsafeBytes(of: number.littleEndian) { storage.append(contentsOf: $0) }
    }

    /// Appends the number's bits, little-endian.
    @inlinable
    public mutating func append(_ number: Double) { append(number.bitPattern) }

    /// Appends a number in as few bytes as it needs, seven bits in each (LEB128).
    @inlinable
    public mutating func append(variable number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            storage.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        storage.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends the length in bytes, then the UTF-8.
    @inlinable
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(variable: UInt64(utf8.count))
            storage.append(contentsOf: utf8)
        }
    }

    /// Appends the 16 bytes of the UUID.
    @inlinable
    public mutating func append(_ id: UUID) {
        withUnsafeBytes(of: id.uuid) { storage.append(contentsOf: $0) }
    }

    /// Appends the date in 8 bytes, with the full precision of `Date`.
    @inlinable
    public mutating func append(_ date: Date) { append(date.timeIntervalSinceReferenceDate) }

    /// Appends the bytes unchanged, without their count.
    @inlinable
    public mutating func append(bytes other: some Sequence<UInt8>) {
        storage.append(contentsOf: other)
    }
}
