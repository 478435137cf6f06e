#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns values into bytes and back, without Foundation. It is for rows, and through
/// ``PackedCodec`` for events.
///
/// Several tasks may call a codec at the same time. `decode` is the inverse of `encode`. Equal
/// values should have equal bytes, so that an unchanged value causes no further work. <doc:Codecs>
/// shows how to write bytes that survive changes of the type.
public protocol ByteCodec<Value>: Sendable {
    associatedtype Value: Sendable

    /// Appends the value's bytes to `output`.
    func encode(_ value: Value, into output: inout OutputBuffer) throws

    /// Returns the value of bytes that `encode` wrote. Do not keep the bytes after the call.
    ///
    /// - Throws: any error if the bytes cannot be read.
    func decode(_ bytes: RawSpan) throws -> Value
}

/// JSON with sorted keys, the default for rows that are `Codable`.
public struct JSONBytes<Value: Codable & Sendable>: ByteCodec {
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()
    fileprivate let members = MemberReader<Value>()

    public init() { encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes] }

    public func encode(_ value: Value, into output: inout OutputBuffer) throws {
        output.append(bytes: try encoder.encode(value))
    }

    public func decode(_ bytes: RawSpan) throws -> Value {
        try bytes.withUnsafeBytes { try decoder.decode(Value.self, from: Data($0)) }
    }
}

extension JSONBytes: MemberNaming {
    package var naming: (any MemberNames)? { members }
}

extension ByteCodec {
    package func bytes(of value: Value) throws -> [UInt8] {
        // Most values fit, so the buffer does not grow. Rows in memory keep the buffer's capacity,
        // so it must stay small.
        var output = OutputBuffer(capacity: 64)
        try encode(value, into: &output)
        return output.bytes
    }
}
