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

/// The place of a ``ByteCodec`` in the bytes that it reads. Each read is checked, because the bytes
/// come from a disk.
///
/// The methods are inlined into the app's codec, like those of ``OutputBuffer``. A method that
/// throws leaves the cursor anywhere between its place before and the end.
public struct InputCursor: Sendable {
    @usableFromInline var place: Int

    /// Makes a cursor at a byte offset.
    ///
    /// - Parameter offset: from 0. After the end, each read throws.
    @inlinable
    public init(at offset: Int = 0) {
        precondition(offset >= 0, "a cursor's offset is from 0 up, not \(offset)")
        place = offset
    }

    /// The offset of the byte that is read next.
    @inlinable public var offset: Int { place }

    /// Returns whether all bytes are read. Older code may have written fewer fields.
    @inlinable
    public func isAtEnd(of bytes: RawSpan) -> Bool { place == bytes.byteCount }

    /// Checks that no bytes follow the last field. Newer code or another codec wrote such bytes.
    ///
    /// - Throws: `.tooLong` if bytes follow.
    @inlinable
    public func requireEnd(of bytes: RawSpan) throws(InputError) {
        guard isAtEnd(of: bytes) else { throw .tooLong }
    }

    /// Reads a number that ``OutputBuffer/append(_:)-(N)`` wrote.
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

    /// Reads a number that ``OutputBuffer/append(variable:)`` wrote.
    ///
    /// - Throws: `.tooShort`; `.outOfRange` if the number is too large, or has more bytes than it
    ///   needs. So each number has exactly one readable form.
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

    /// Reads a copy of `count` bytes that ``OutputBuffer/append(bytes:)`` wrote. The codec must
    /// know the count.
    @inlinable
    public mutating func bytes(_ count: Int, in bytes: RawSpan) throws(InputError) -> [UInt8] {
        let start = try advance(by: count, in: bytes)
        return bytes.extracting(start..<place).withUnsafeBytes { [UInt8]($0) }
    }

    /// Moves the cursor over `count` bytes.
    ///
    /// - Returns: the offset of the first of them.
    /// - Throws: `.tooShort` if there are fewer, and the cursor stays.
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
    /// Makes the string of these bytes, or returns nil if they are not UTF-8.
    ///
    /// `String(validating:)` takes twice as long, because it reads the bytes before it copies them.
    /// This initializer decodes, which replaces invalid bytes, and then compares the bytes.
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

/// The error of an ``InputCursor``, and of a codec that cannot read its bytes.
@nonexhaustive
public enum InputError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end in the middle of a value.
    case tooShort
    /// Bytes follow the last field that this code knows.
    case tooLong
    /// A text is not UTF-8.
    case notUTF8
    /// A number is outside of the range of its field.
    case outOfRange
    /// The tag of an enum case that this code does not know.
    case unknownTag(UInt64)

    public var description: String {
        switch self {
        case .tooShort: "it ends in the middle of a value"
        case .tooLong: "it has bytes after its last field"
        case .notUTF8: "a text in it is not UTF-8"
        case .outOfRange: "a number in it is out of range"
        case .unknownTag(let tag): "its tag \(tag) is of a case that this code does not know"
        }
    }
}
