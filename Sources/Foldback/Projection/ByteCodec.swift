#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Turns values into bytes and back, without Foundation: of rows, and through ``PackedCodec`` of events.
///
/// Called on whichever task reads or writes, several at once. `decode` is the inverse of `encode`. Values
/// that are equal should have equal bytes: what comes out unchanged then costs nothing further on.
/// How to write one whose bytes outlive changes of the type: <doc:Codecs>.
public protocol ByteCodec<Value>: Sendable {
    associatedtype Value: Sendable

    func encode(_ value: Value, into output: inout OutputBuffer) throws

    /// The value of bytes that `encode` wrote; they must not be kept.
    ///
    /// - Throws: where the bytes cannot be read.
    func decode(_ bytes: RawSpan) throws -> Value
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
        // Small ones fit without the buffer's having to grow, and rows in memory take what it takes.
        var output = OutputBuffer(capacity: 64)
        try encode(value, into: &output)
        return output.bytes
    }
}
