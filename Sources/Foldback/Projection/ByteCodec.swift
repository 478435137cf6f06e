#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns values into bytes and back, without Foundation: of rows, and through ``PackedCodec`` of events.
///
/// Called on whichever task reads or writes, several at once. `decode` is the inverse of `encode`. Values
/// that are equal should have equal bytes: what comes out unchanged then costs nothing further on.
public protocol ByteCodec<Value>: Sendable {
    associatedtype Value: Sendable

    func encode(_ value: Value, into output: inout OutputBuffer) throws

    /// The value of bytes that `encode` wrote; they must not be kept.
    ///
    /// - Throws: where the bytes cannot be read.
    func decode(_ bytes: RawSpan) throws -> Value
}

/// Where a ``ByteCodec`` writes.
public struct OutputBuffer: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    /// A number of a fixed size, little-endian.
    public mutating func append<N: FixedWidthInteger>(_ number: N) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Its bits, little-endian.
    public mutating func append(_ number: Double) { append(number.bitPattern) }

    /// A number in as few bytes as it needs, seven bits each (LEB128).
    public mutating func append(variable number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// The length in bytes, then the UTF-8.
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(variable: UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    /// The bytes as they are.
    public mutating func append(bytes other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }
}

/// Where a ``ByteCodec`` is in the bytes that it reads. Everything is checked: bytes come from a disk.
public struct InputCursor: Sendable {
    public private(set) var offset: Int

    public init(at offset: Int = 0) { self.offset = offset }

    public func isAtEnd(of bytes: RawSpan) -> Bool { offset == bytes.byteCount }

    /// What ``OutputBuffer/append(_:)`` wrote of a number.
    public mutating func number<N: FixedWidthInteger & BitwiseCopyable>(
        _: N.Type = N.self, in bytes: RawSpan
    ) throws(InputError) -> N {
        let size = MemoryLayout<N>.size
        guard size <= bytes.byteCount - offset else { throw .tooShort }
        defer { offset += size }
        return N(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: N.self))
    }

    public mutating func double(in bytes: RawSpan) throws(InputError) -> Double {
        Double(bitPattern: try number(in: bytes))
    }

    public mutating func variable(in bytes: RawSpan) throws(InputError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard offset < bytes.byteCount, shift < 64 else { throw .tooShort }
            let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            guard byte & 0x80 != 0 else { return value }
            shift += 7
        }
    }

    public mutating func text(in bytes: RawSpan) throws(InputError) -> String {
        let count = try variable(in: bytes)
        guard count <= UInt64(bytes.byteCount - offset) else { throw .tooShort }
        let end = offset + Int(count)
        let text = bytes.extracting(offset..<end).withUnsafeBytes {
            String(validating: $0, as: UTF8.self)
        }
        guard let text else { throw .notUTF8 }
        offset = end
        return text
    }
}

/// Why an ``InputCursor`` cannot read on.
public enum InputError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort
    case notUTF8

    public var description: String {
        switch self {
        case .tooShort: "it ends in the middle of a value"
        case .notUTF8: "a text in it is not UTF-8"
        }
    }
}

/// JSON with sorted keys: the default for rows that are `Codable`.
public struct JSONBytes<Value: Codable & Sendable>: ByteCodec {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    public init() { encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes] }

    public func encode(_ value: Value, into output: inout OutputBuffer) throws {
        output.append(bytes: try encoder.encode(value))
    }

    public func decode(_ bytes: RawSpan) throws -> Value {
        try bytes.withUnsafeBytes { try decoder.decode(Value.self, from: Data($0)) }
    }
}

extension ByteCodec {
    package func bytes(of value: Value) throws -> [UInt8] {
        var output = OutputBuffer()
        try encode(value, into: &output)
        return output.bytes
    }
}
