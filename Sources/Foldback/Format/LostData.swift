/// The finding that the authority has lost events that this log has from it (N6).
///
/// It is kept, because the authority's head rises again: later, nothing would show the loss.
/// Another lineage in an answer is not kept, because each answer shows it.
package struct LostData: Equatable, Sendable {
    /// The key of the row in table `log`.
    package static let key = KeyBytes(Array("superseded".utf8))

    private static let format: UInt8 = 1

    /// The last position that the authority had when the loss was found.
    package let shared: Position

    package init(shared: Position) { self.shared = shared }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.format)
        writer.fixed(shared.value)
        _ = writer.seal(seed: Self.seed)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: Self.seed)
        let format = try reader.fixed(UInt8.self)
        guard format == Self.format else { throw .newer("superseded format \(format)") }
        shared = Position(try reader.fixed(UInt64.self))
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
    }

    private static var seed: UInt64 {
        key.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) }
    }
}
