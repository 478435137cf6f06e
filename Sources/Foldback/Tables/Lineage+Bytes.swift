extension Lineage: LogRow {
    package static let key = KeyBytes(Array("lineage".utf8))
    package static let rowName = "lineage"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        guard let lineage = Lineage(try reader.sizedString()) else {
            throw .damaged("it has no usable name")
        }
        self = lineage
    }

    package func writeFields(to writer: inout ByteWriter) { writer.sized(name.string) }
}
