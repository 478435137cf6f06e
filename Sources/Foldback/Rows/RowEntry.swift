/// Which way rows are read.
public enum RowOrder: Sendable {
    /// From the lowest key up.
    case ascending
    /// From the highest key down.
    case descending
}

/// A row with its key.
public struct RowEntry<Key: RowKey, Row: Sendable>: Sendable {
    public let key: Key
    public let row: Row
}

extension RowEntry: Equatable where Row: Equatable {}

/// A row as an index has it.
public struct IndexedRow<IndexKey: RowKey, Key: RowKey, Row: Sendable>: Sendable {
    public let place: IndexPlace<IndexKey, Key>
    public let row: Row

    public var key: Key { place.key }
    public var indexKey: IndexKey { place.indexKey }
}

extension IndexedRow: Equatable where Row: Equatable {}

/// Where an index has a row: rows with one index key lie in the order of their own keys.
public struct IndexPlace<IndexKey: RowKey, Key: RowKey>: Hashable, Sendable {
    public let indexKey: IndexKey
    public let key: Key

    public init(_ indexKey: IndexKey, _ key: Key) {
        self.indexKey = indexKey
        self.key = key
    }

    /// - Parameter bytes: of the entry's value, which in a unique index is the row's key.
    init(
        _ key: KeyBytes, _ offset: Int, _ bytes: RawSpan, _ isUnique: Bool
    ) throws {
        var decoder = KeyDecoder(key.bytes, from: offset)
        indexKey = try decoder.next()
        self.key =
            isUnique
            ? try Key(stored: [UInt8](copying: bytes), behind: 0)
            : try Key(stored: key.bytes, behind: decoder.offset)
    }

    func bytes(_ prefix: [UInt8], _ isUnique: Bool) -> [UInt8] {
        let entry = indexKey.bytes(behind: prefix)
        return isUnique ? entry : key.bytes(behind: entry)
    }
}

extension KeySpan {
    /// What is left of it behind `place`.
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
