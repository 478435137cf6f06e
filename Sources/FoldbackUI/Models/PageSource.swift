import Foldback

/// The rows of a table or of an index in an order: what a page of them needs to know.
struct PageSource<P: StoredProjection, Element: Sendable, Place: Sendable>: Sendable {
    /// Returns up to `limit` rows after a place, or from the range's end if it is nil. Towards the
    /// end, they are in the order of the page; towards the start, they are in reverse.
    let read:
        @Sendable (
            _ reader: borrowing RowReader<P>, _ place: Place?, _ towards: ListEdge, _ limit: Int
        ) throws -> [Element]
    let place: @Sendable (Element) -> Place
    /// Returns whether the first place comes before the second.
    let isBefore: @Sendable (Place, Place) -> Bool
}

extension PageSource {
    /// The rows of a table in the order of their keys.
    init<Row>(_ table: RowTable<Place, Row>, _ range: RowRange<Place>, _ order: RowOrder)
    where Element == RowEntry<Place, Row> {
        read = { reader, place, edge, limit in
            try reader.page(
                of: table, in: range, order: order.towards(edge), after: place, limit: limit)
        }
        place = \.key
        isBefore = { order.isAscending($0.bytes(after: []), $1.bytes(after: [])) }
    }

    /// The rows of an index in its order.
    init<Key, Row, IndexKey>(
        _ index: RowIndex<Key, Row, IndexKey>, _ range: RowRange<IndexKey>, _ order: RowOrder
    ) where Element == IndexedRow<IndexKey, Key, Row>, Place == IndexPlace<IndexKey, Key> {
        let bytes: @Sendable (Place) -> [UInt8] = { place in
            // In a unique index, the row's key has no part in the order.
            let entry = place.indexKey.bytes(after: [])
            return index.isUnique ? entry : place.key.bytes(after: entry)
        }
        read = { reader, place, edge, limit in
            try reader.page(
                of: index, in: range, order: order.towards(edge), after: place, limit: limit)
        }
        place = \.place
        isBefore = { order.isAscending(bytes($0), bytes($1)) }
    }
}

extension RowOrder {
    /// The order in which rows are read towards an edge of a page in this order.
    fileprivate func towards(_ edge: ListEdge) -> RowOrder {
        switch (self, edge) {
        case (.ascending, .end), (.descending, .start): .ascending
        case (.descending, .end), (.ascending, .start): .descending
        }
    }

    /// Returns whether the first key comes before the second in this order.
    fileprivate func isAscending(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        switch self {
        case .ascending: first.lexicographicallyPrecedes(second)
        case .descending: second.lexicographicallyPrecedes(first)
        }
    }
}
