/// A value with a row of its own in table `log`.
///
/// ```
///  1 byte   …                       8 bytes
///  format   the value's fields      checksum
/// ```
///
/// The checksum's seed depends on the row's key. So a row under another row's key is detected (L5).
package protocol LogRow {
    /// The key of the row in table `log`.
    static var key: KeyBytes { get }
    /// The row's name in errors about its format.
    static var rowName: String { get }
    /// The format of the fields. This code reads no other format.
    static var format: UInt8 { get }

    /// Reads the fields, in the order in which ``writeFields(to:)`` writes them.
    init(fields reader: inout ByteReader) throws(FormatError)

    func writeFields(to writer: inout ByteWriter)
}

extension LogRow {
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.format)
        writeFields(to: &writer)
        _ = writer.seal(seed: Self.key.seed)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: Self.key.seed)
        let format = try reader.fixed(UInt8.self)
        guard format == Self.format else { throw .newer("\(Self.rowName) format \(format)") }
        self = try Self(fields: &reader)
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
    }
}
