/// The finding that the authority has lost events that this log has from it (N6).
///
/// The log keeps it because the authority's head rises again. Later, nothing would show the loss.
/// The log does not keep that an answer had another lineage, because each answer shows it.
package struct LostData: Equatable, Sendable {
    /// The last position that the authority had when the loss was found.
    package let shared: Position

    package init(shared: Position) { self.shared = shared }
}

extension LostData: LogRow {
    package static let key = KeyBytes(Array("superseded".utf8))
    package static let rowName = "superseded"
    package static let format: UInt8 = 1

    package init(fields reader: inout ByteReader) throws(FormatError) {
        shared = Position(try reader.fixed(UInt64.self))
    }

    package func writeFields(to writer: inout ByteWriter) { writer.fixed(shared.value) }
}
