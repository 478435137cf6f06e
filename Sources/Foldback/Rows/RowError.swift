/// Why an event cannot change a row, or a row cannot be read. Thrown while `apply` runs, it makes the intent
/// conflicted or the confirmed event a fault, as everything does that `apply` throws (F9).
public enum RowError: Error, Hashable, Sendable, CustomStringConvertible {
    case isAbsent(table: String)
    case isPresent(table: String)
    /// Another row has that key in a unique index.
    case notUnique(index: String)
    case keyTooLong(table: String, bytes: Int)
    case rowTooLarge(table: String, bytes: Int)
    /// The bytes are not such a key's.
    case unreadableKey
    /// The codec cannot read what is stored: rows of another shape need another version of the projection.
    case unreadableRow(table: String, reason: String)
    /// The projection's schema does not have it.
    case unknown(String)

    public var description: String {
        switch self {
        case .isAbsent(let table): "the row in \(table) is absent"
        case .isPresent(let table): "the row in \(table) is present"
        case .notUnique(let index): "another row has that key in the unique index \(index)"
        case .keyTooLong(let table, let bytes):
            "a key of \(table) has \(bytes) bytes, and \(KeyEncoder.bytesMax) at most are stored"
        case .rowTooLarge(let table, let bytes):
            "a row of \(table) has \(bytes) bytes, and \(Limits.rowBytesMax) at most are stored"
        case .unreadableKey: "a stored key is not of its table's type"
        case .unreadableRow(let table, let reason):
            "a row of \(table) cannot be read, and may be of another version: \(reason)"
        case .unknown(let name): "the schema has no table or index \(name)"
        }
    }
}
