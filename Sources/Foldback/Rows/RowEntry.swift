/// The direction in which rows are read.
public enum RowOrder: Sendable {
    /// From the lowest key up.
    case ascending
    /// From the highest key down.
    case descending
}

/// A row with its key.
public struct RowEntry<Key: RowKey, Row: Sendable>: Sendable {
    /// The row's key in its table.
    public let key: Key
    /// The row as the table's codec decoded it.
    public let row: Row
}

extension RowEntry: Equatable where Row: Equatable {}

/// A row with its place in an index.
public struct IndexedRow<IndexKey: RowKey, Key: RowKey, Row: Sendable>: Sendable {
    /// The row's place in the index. Pass it as `after` to read the next page.
    public let place: IndexPlace<IndexKey, Key>
    public let row: Row

    /// The row's key in its table.
    public var key: Key { place.key }
    /// The key that the index computed for the row.
    public var indexKey: IndexKey { place.indexKey }
}

extension IndexedRow: Equatable where Row: Equatable {}

/// The place of a row in an index: the index key, then the row's own key.
///
/// Rows with the same index key are in the order of their own keys.
public struct IndexPlace<IndexKey: RowKey, Key: RowKey>: Hashable, Sendable {
    public let indexKey: IndexKey
    /// The row's key in its table.
    public let key: Key

    public init(_ indexKey: IndexKey, _ key: Key) {
        self.indexKey = indexKey
        self.key = key
    }

    /// Reads the place from an index entry.
    ///
    /// - Parameters:
    ///   - key: the entry's key.
    ///   - offset: where the index key begins in it.
    ///   - bytes: the entry's value. In a unique index it is the row's key.
    init(
        _ key: KeyBytes, _ offset: Int, _ bytes: RawSpan, _ isUnique: Bool
    ) throws {
        var decoder = KeyDecoder(key.bytes, from: offset)
        indexKey = try decoder.next()
        self.key =
            isUnique
            ? try Key(stored: [UInt8](copying: bytes), after: 0)
            : try Key(stored: key.bytes, after: decoder.offset)
    }

    /// The key of the index entry, after `prefix`.
    func bytes(_ prefix: [UInt8], _ isUnique: Bool) -> [UInt8] {
        let entry = indexKey.bytes(after: prefix)
        return isUnique ? entry : key.bytes(after: entry)
    }
}

extension KeySpan {
    /// Returns the part of the span that comes after `place` in this order; all of it if `place` is
    /// nil.
    func following(_ place: KeyBytes?, _ order: RowOrder) -> KeySpan {
        guard let place else { return self }
        var rest = self
        switch order {
        case .ascending: rest.lower = max(lower, KeyBytes(place.bytes + [0]))
        case .descending: rest.upper = upper.map { min($0, place) } ?? place
        }
        return rest
    }
}
