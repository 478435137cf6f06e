/// Writes the fields of a stored value one after the other. Numbers are little-endian.
package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// Appends a number in its fixed size.
    package mutating func fixed<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a number as LEB128: seven bits in each byte, the lowest first.
    package mutating func variable(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    package mutating func variable<N: LogNumber>(_ number: N) { variable(number.value) }

    /// Appends bytes without their count.
    package mutating func raw(_ value: some Collection<UInt8>) {
        bytes.append(contentsOf: value)
    }

    /// Appends the count of the bytes, then the bytes.
    package mutating func sized(_ value: [UInt8]) {
        variable(UInt64(value.count))
        raw(value)
    }

    /// Appends the text's count of UTF-8 bytes, then the bytes.
    package mutating func sized(_ value: String) {
        var copy = value
        copy.withUTF8 { utf8 in
            variable(UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    /// Appends the checksum of the bytes from `start` on, and returns it.
    ///
    /// - Parameter seed: a number that depends on the value's place, so that its bytes fail in
    ///   another.
    package mutating func seal(from start: Int = 0, seed: UInt64) -> UInt64 {
        let checksum = Checksum.of(bytes.span.bytes.extracting(start...), seed: seed)
        fixed(checksum)
        return checksum
    }
}

/// Reads the fields that ``ByteWriter`` wrote. Each read is checked, because the bytes come from a
/// disk.
package struct ByteReader {
    private let bytes: [UInt8]
    private let end: Int
    package private(set) var offset = 0

    /// Opens a sealed value.
    ///
    /// - Throws: `.damaged` if the checksum does not match the bytes.
    package init(sealed bytes: [UInt8], seed: UInt64) throws(FormatError) {
        guard bytes.count >= 8 else {
            throw .damaged("it has \(bytes.count) bytes, less than a checksum")
        }
        self.bytes = bytes
        end = bytes.count - 8
        let found = Checksum.of(bytes.span.bytes.extracting(first: end), seed: seed)
        let kept = bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self)
        guard UInt64(littleEndian: kept) == found else {
            throw .damaged("its checksum does not fit its bytes")
        }
    }

    /// Opens bytes that were verified before.
    package init(unsealed bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    /// The checksum at the end of the sealed value.
    package var checksum: UInt64 {
        UInt64(
            littleEndian: bytes.span.bytes.unsafeLoadUnaligned(
                fromByteOffset: end, as: UInt64.self))
    }

    package var isAtEnd: Bool { offset == end }

    package mutating func fixed<T: FixedWidthInteger & BitwiseCopyable>(
        _: T.Type = T.self
    ) throws(FormatError) -> T {
        let size = MemoryLayout<T>.size
        guard offset + size <= end else { throw tooShort }
        defer { offset += size }
        return T(
            littleEndian: bytes.span.bytes.unsafeLoadUnaligned(
                fromByteOffset: offset, as: T.self))
    }

    package mutating func variable() throws(FormatError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard offset < end, shift < 64 else { throw tooShort }
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            guard byte & 0x80 != 0 else { return value }
            shift += 7
        }
    }

    package mutating func number<N: LogNumber>(_: N.Type = N.self) throws(FormatError) -> N {
        N(try variable())
    }

    package mutating func raw(count: Int) throws(FormatError) -> [UInt8] {
        guard count >= 0, offset + count <= end else { throw tooShort }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    package mutating func rest() -> [UInt8] {
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    package mutating func sized() throws(FormatError) -> [UInt8] {
        guard let count = Int(exactly: try variable()), count <= end else { throw tooShort }
        return try raw(count: count)
    }

    package mutating func sizedString() throws(FormatError) -> String {
        let text = try sized()
        guard let string = String(validating: text, as: UTF8.self) else {
            throw .damaged("a text in it is not UTF-8")
        }
        return string
    }

    private var tooShort: FormatError { .damaged("it ends in the middle of a field") }
}

extension Sequence<UInt8> {
    /// The bytes as two hexadecimal digits each, like the output of `mdb_dump`.
    package var hexadecimal: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The reason why a stored value cannot be used.
package enum FormatError: Error, Hashable, Sendable {
    /// The value differs from the value that was written.
    case damaged(String)
    /// A newer Foldback wrote the value.
    case newer(String)
}

extension FormatError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .damaged(let reason): reason
        case .newer(let found): "a newer Foldback wrote it: \(found)"
        }
    }
}

extension LogError {
    package init(_ error: FormatError, at path: String, sequence: LogSequence?) {
        self =
            switch error {
            case .damaged(let reason): .damaged(path: path, sequence: sequence, reason: reason)
            case .newer(let found): .newerFormat(path: path, sequence: sequence, found: found)
            }
    }
}
