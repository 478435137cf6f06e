/// The reason why an event cannot change a row, or why a row cannot be read.
///
/// If `apply` throws it, the intent is conflicted, or the confirmed event is a fault, as with any
/// other error (F9).
public enum RowError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The event updates a row that does not exist.
    case isAbsent(table: String)
    /// The event inserts a row at a key that has one.
    case isPresent(table: String)
    /// Another row has that key in a unique index.
    case notUnique(index: String)
    /// The key is longer than ``KeyEncoder/bytesMax``.
    case keyTooLong(table: String, bytes: Int)
    /// The codec's bytes are more than a row may have.
    case rowTooLarge(table: String, bytes: Int)
    /// The stored bytes are not a key of the expected type.
    case unreadableKey
    /// The codec cannot read the stored bytes. If the rows' type changed, count the projection's
    /// version up.
    case unreadableRow(table: String, reason: String)
    /// The projection's schema has no such table or index, or it has it with other types.
    case unknown(String)

    public var description: String {
        switch self {
        case .isAbsent(let table): "the row in \(table) does not exist"
        case .isPresent(let table): "the row in \(table) exists already"
        case .notUnique(let index): "another row has that key in the unique index \(index)"
        case .keyTooLong(let table, let bytes):
            "a key of \(table) has \(bytes) bytes; the limit is \(KeyEncoder.bytesMax)"
        case .rowTooLarge(let table, let bytes):
            "a row of \(table) has \(bytes) bytes; the limit is \(Limits.rowBytesMax)"
        case .unreadableKey: "a stored key does not have its table's type"
        case .unreadableRow(let table, let reason):
            "a row of \(table) cannot be read, perhaps because another version wrote it: \(reason)"
        case .unknown(let name): "the schema has no table or index \(name) with these types"
        }
    }
}
