extension LostData: LogRow {
    package static let key = KeyBytes(Array("superseded".utf8))
    package static let rowName = "superseded"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        shared = Position(try reader.fixed(UInt64.self))
    }

    package func writeFields(to writer: inout ByteWriter) { writer.fixed(shared.value) }
}
