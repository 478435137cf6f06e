import Foldback

/// Which rows of a range a page shows: a run between two ends (U23).
///
/// ```
/// range   a b c d e f g h i
/// run         c d e f          ends: b and g
/// ```
///
/// The ends are the places next to the run, so that rows inserted there belong to it. A row at an
/// end need not exist any more. A value: a failed read leaves it as it was.
struct PageWindow<Place: Sendable>: Sendable {
    private let pageSize: Int
    private let windowMax: Int
    /// The places of the ends; nil where the run has reached the range's end.
    private var ends = EdgePair<Place?>(start: nil, end: nil)
    /// The edge that was extended last. A run that became too long loses rows at the other edge.
    private var kept = ListEdge.start
    /// The rows of the last read; nil before the first read.
    private var count: Int?

    init(pageSize: Int, windowMax: Int) {
        precondition(pageSize > 0, "pageSize is \(pageSize); a page has at least one row")
        precondition(
            windowMax >= pageSize, "windowMax is \(windowMax), but a page has \(pageSize) rows")
        self.pageSize = pageSize
        self.windowMax = windowMax
    }

    /// Whether the run has reached the range's ends; nil before the first read.
    var isReached: EdgePair<Bool?> {
        guard count != nil else { return EdgePair(start: nil, end: nil) }
        return EdgePair(start: ends.start == nil, end: ends.end == nil)
    }

    /// Returns the rows of the run. The first read begins at the start of the range and returns one
    /// page.
    ///
    /// - Parameter edges: the edges to extend by a page, in this order. The first read ignores them.
    /// - Complexity: O(n) in the rows of the run and of the new pages, and a few reads by key.
    mutating func read<P, Element>(
        _ source: PageSource<P, Element, Place>, _ reader: borrowing RowReader<P>,
        extending edges: [ListEdge]
    ) throws -> [Element] {
        var rows: [Element] = []
        if let count {
            rows = try run(source, reader, expecting: count)
            for edge in edges {
                kept = edge
                try extend(&rows, edge, source, reader)
            }
        } else {
            try extend(&rows, .end, source, reader)
        }
        // The rows beyond an end may have been removed.
        for edge in ListEdge.allCases where ends[edge] != nil {
            if try beyond(edge, of: rows, source, reader, limit: 1).isEmpty { ends[edge] = nil }
        }
        count = rows.count
        return rows
    }

    /// Reads the rows between the ends, from the kept edge on, and moves the other end if they are
    /// too many.
    private mutating func run<P, Element>(
        _ source: PageSource<P, Element, Place>, _ reader: borrowing RowReader<P>,
        expecting count: Int
    ) throws -> [Element] {
        let far = kept.opposite
        var rows: [Element] = []
        // One row more than expected shows that the run has not grown.
        var limit = count + 1
        while rows.count <= windowMax {
            let read = try source.read(
                reader, rows.last.map(source.place) ?? ends[kept], far, limit)
            let inside = read.prefix { isInside(source.place($0), far, source) }
            rows += inside
            if inside.count < limit { break }
            limit = pageSize
        }
        if rows.count > windowMax {
            ends[far] = source.place(rows[windowMax])
            rows.removeLast(rows.count - windowMax)
        }
        return far == .end ? rows : rows.reversed()
    }

    /// Adds a page at an edge, and drops rows at the other edge if the run is too long then.
    private mutating func extend<P, Element>(
        _ rows: inout [Element], _ edge: ListEdge, _ source: PageSource<P, Element, Place>,
        _ reader: borrowing RowReader<P>
    ) throws {
        var page = try beyond(edge, of: rows, source, reader, limit: pageSize + 1)
        // The surplus row is the new end.
        ends[edge] = page.count > pageSize ? source.place(page.removeLast()) : nil
        rows = edge == .end ? rows + page : page.reversed() + rows
        let surplus = rows.count - windowMax
        guard surplus > 0 else { return }
        switch edge {
        case .start:
            ends.end = source.place(rows[windowMax])
            rows.removeLast(surplus)
        case .end:
            ends.start = source.place(rows[surplus - 1])
            rows.removeFirst(surplus)
        }
    }

    /// Returns rows next to the run, outward from it.
    private func beyond<P, Element>(
        _ edge: ListEdge, of rows: [Element], _ source: PageSource<P, Element, Place>,
        _ reader: borrowing RowReader<P>, limit: Int
    ) throws -> [Element] {
        let last = edge == .end ? rows.last : rows.first
        return try source.read(
            reader, last.map(source.place) ?? ends[edge.opposite], edge, limit)
    }

    /// Returns whether a place is on this side of an end.
    private func isInside<P, Element>(
        _ place: Place, _ edge: ListEdge, _ source: PageSource<P, Element, Place>
    ) -> Bool {
        guard let end = ends[edge] else { return true }
        return edge == .end ? source.isBefore(place, end) : source.isBefore(end, place)
    }
}
