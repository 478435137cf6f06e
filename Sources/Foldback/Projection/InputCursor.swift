#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// Where a ``ByteCodec`` is in the bytes that it reads. Everything is checked: bytes come from a disk.
///
/// Its methods are inlined into the app's codec, as those of ``OutputBuffer`` are. What throws leaves the cursor
/// anywhere between its place before and the end.
public struct InputCursor: Sendable {
    @usableFromInline var place: Int

    /// - Parameter offset: from 0; beyond the end, everything throws.
    @inlinable
    public init(at offset: Int = 0) {
        precondition(offset >= 0, "a cursor cannot stand at \(offset)")
        place = offset
    }

    /// The byte that is read next.
    @inlinable public var offset: Int { place }

    /// Whether all has been read: older code wrote fewer fields.
    @inlinable
    public func isAtEnd(of bytes: RawSpan) -> Bool { place == bytes.byteCount }

    /// To be called behind the last field: what goes on was written by newer code, or not by this codec.
    @inlinable
    public func requireEnd(of bytes: RawSpan) throws(InputError) {
        guard isAtEnd(of: bytes) else { throw .tooLong }
    }

    /// What ``OutputBuffer/append(_:)-(N)`` wrote of a number.
    @inlinable
    public mutating func number<N: FixedWidthInteger & BitwiseCopyable>(
        _: N.Type = N.self, in bytes: RawSpan
    ) throws(InputError) -> N {
        let start = try advance(by: MemoryLayout<N>.size, in: bytes)
        return N(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: N.self))
    }

    @inlinable
    public mutating func double(in bytes: RawSpan) throws(InputError) -> Double {
        Double(bitPattern: try number(in: bytes))
    }

    /// What ``OutputBuffer/append(variable:)`` wrote. The same number in more bytes is `.outOfRange`: what can be
    /// read has one form.
    @inlinable
    public mutating func variable(in bytes: RawSpan) throws(InputError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard place < bytes.byteCount else { throw .tooShort }
            let byte = bytes.unsafeLoad(fromByteOffset: place, as: UInt8.self)
            place += 1
            // The tenth byte has the 64th bit and no other; no last byte but the first is 0.
            guard shift < 63 || byte <= 1, shift == 0 || byte != 0 else { throw .outOfRange }
            value |= UInt64(byte & 0x7F) &<< shift
            guard byte & 0x80 != 0 else { return value }
            shift += 7
        }
    }

    public mutating func text(in bytes: RawSpan) throws(InputError) -> String {
        let count = try variable(in: bytes)
        let start = try advance(by: Int(clamping: count), in: bytes)
        let text = bytes.extracting(start..<place).withUnsafeBytes(String.init(exactly:))
        guard let text else { throw .notUTF8 }
        return text
    }

    @inlinable
    public mutating func uuid(in bytes: RawSpan) throws(InputError) -> UUID {
        let start = try advance(by: MemoryLayout<uuid_t>.size, in: bytes)
        return UUID(uuid: bytes.unsafeLoadUnaligned(fromByteOffset: start, as: uuid_t.self))
    }

    @inlinable
    public mutating func date(in bytes: RawSpan) throws(InputError) -> Date {
        Date(timeIntervalSinceReferenceDate: try double(in: bytes))
    }

    /// A copy of so many bytes, as ``OutputBuffer/append(bytes:)`` wrote them; how many is for the codec to know.
    @inlinable
    public mutating func bytes(_ count: Int, in bytes: RawSpan) throws(InputError) -> [UInt8] {
        let start = try advance(by: count, in: bytes)
        return bytes.extracting(start..<place).withUnsafeBytes { [UInt8]($0) }
    }

    /// Goes behind so many bytes.
    ///
    /// - Returns: where they begin; all of them are there.
    @inlinable
    mutating func advance(by count: Int, in bytes: RawSpan) throws(InputError) -> Int {
        let start = place
        guard count >= 0, start <= bytes.byteCount, count <= bytes.byteCount - start else {
            throw .tooShort
        }
        place = start + count
        return start
    }
}

extension String {
    /// Nil where the bytes are not UTF-8.
    ///
    /// `String(validating:)` takes twice as long: it looks at the bytes before it copies them. This one decodes,
    /// which puts something else in the place of what is wrong, and sees whether the bytes are the same.
    fileprivate init?(exactly bytes: UnsafeRawBufferPointer) {
        self.init(decoding: bytes, as: UTF8.self)
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        let isExact = withUTF8 { utf8 in
            guard utf8.count == bytes.count, let copy = utf8.baseAddress else { return false }
            return memcmp(copy, source, bytes.count) == 0
        }
        guard isExact else { return nil }
    }
}

/// Why an ``InputCursor`` cannot read on, and what codecs throw of bytes that mean nothing to them.
@nonexhaustive
public enum InputError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort
    /// Bytes are left behind the last field that this code knows.
    case tooLong
    case notUTF8
    /// A number that what it stands for cannot be.
    case outOfRange
    /// A case that this code does not know.
    case unknownTag(UInt64)

    public var description: String {
        switch self {
        case .tooShort: "it ends in the middle of a value"
        case .tooLong: "it goes on behind its last field"
        case .notUTF8: "a text in it is not UTF-8"
        case .outOfRange: "a number in it is out of range"
        case .unknownTag(let tag): "it is of a case with tag \(tag), which this code does not know"
        }
    }
}
