extension Lineage {
    /// The key of the row in table `log`.
    package static let key = KeyBytes(Array("lineage".utf8))

    private static let format: UInt8 = 1

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.fixed(Self.format)
        writer.sized(name.string)
        _ = writer.seal(seed: Self.seed)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(FormatError) {
        var reader = try ByteReader(sealed: bytes, seed: Self.seed)
        let format = try reader.fixed(UInt8.self)
        guard format == Self.format else { throw .newer("lineage format \(format)") }
        guard let lineage = Lineage(try reader.sizedString()) else {
            throw .damaged("it has no usable name")
        }
        guard reader.isAtEnd else { throw .damaged("it has bytes after its last field") }
        self = lineage
    }

    private static var seed: UInt64 {
        key.bytes.withUnsafeBytes { Checksum.of($0, seed: 0) }
    }
}
