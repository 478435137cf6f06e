import FoldbackCollections

/// Rows as readers see them at one sequence: the overlay's rows over the confirmed rows.
///
/// A class, so that reading a row does not copy and retain each part.
final class MergedRows {
    private let stored: StoredRows
    private let folded: FoldedRows
    /// Whether the overlay is left out.
    private let isConfirmedOnly: Bool

    init(stored: StoredRows, folded: FoldedRows, isConfirmedOnly: Bool) {
        self.stored = stored
        self.folded = folded
        self.isConfirmedOnly = isConfirmedOnly
    }

    /// Returns the intents of the overlay that read or write the row; nil if there are none.
    func chain(at key: KeyBytes) -> RowChain? { isConfirmedOnly ? nil : folded.chains[key] }

    /// The keys of all rows that the overlay writes or removes.
    var pendingKeys: [KeyBytes] {
        guard !isConfirmedOnly else { return [] }
        return folded.chains.compactMap { key, chain in chain.visible.map { _ in key } }
    }

    /// Returns the row's bytes; nil if the row does not exist.
    func value(at key: KeyBytes) throws -> FoundValue? {
        if !isConfirmedOnly, !folded.chains.isEmpty, let row = folded.chains[key]?.visible {
            return row.bytes.map { .memory($0) }  // mutant: row-by-key
        }
        if let own = folded.own { return own[key].map { .memory($0) } }
        return try stored.value(at: key)
    }

    /// Calls `body` with each row of `span` in key order, or in reverse, until it returns false.
    func scan(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws {
        guard !isConfirmedOnly, !folded.chains.isEmpty else {
            return try scanConfirmed(span, backwards: backwards, body)
        }
        var overlay = OverlayRows(folded.chains, span, backwards: backwards)
        var isOver = false
        try scanConfirmed(span, backwards: backwards) { key, bytes in
            // The overlay's rows before this row come first. Its row at the same key replaces this
            // row.
            while let (place, row) = overlay.next, !overlay.isAfter(place, key) {
                overlay.advance()
                if let made = row.bytes, try !body(place, made.span.bytes) {
                    isOver = true
                    return false
                }
                if place == key { return true }  // mutant: overlay-removal
            }
            isOver = try !body(key, bytes)
            return !isOver
        }
        while !isOver, let (place, row) = overlay.next {
            overlay.advance()
            if let made = row.bytes { isOver = try !body(place, made.span.bytes) }
        }
    }

    private func scanConfirmed(
        _ span: KeySpan, backwards: Bool, _ body: (KeyBytes, RawSpan) throws -> Bool
    ) throws {
        guard let own = folded.own else {
            return try stored.scan(span, backwards: backwards, body)
        }
        try own.scan(span, backwards: backwards) { try body($0, $1.span.bytes) }
    }
}

/// An iterator over the rows that the overlay writes or removes, in key order or in reverse.
private struct OverlayRows {
    private let chains: SortedMap<KeyBytes, RowChain>
    private let span: KeySpan
    private let backwards: Bool
    private var forwards: IteratorSequence<SortedMap<KeyBytes, RowChain>.Iterator>
    private(set) var next: (key: KeyBytes, row: RowValue)?
    private var place: KeyBytes?

    init(_ chains: SortedMap<KeyBytes, RowChain>, _ span: KeySpan, backwards: Bool) {
        self.chains = chains
        self.span = span
        self.backwards = backwards
        forwards = chains.from(span.lower)
        place = span.upper
        advance()
    }

    /// Returns whether `place` comes after `key` in this direction.
    func isAfter(_ place: KeyBytes, _ key: KeyBytes) -> Bool {
        backwards ? place < key : key < place  // mutant: backward-order
    }

    mutating func advance() {
        next = nil
        while let (key, chain) = step(), span.contains(key) {
            guard let row = chain.visible else { continue }
            next = (key, row)
            return
        }
    }

    private mutating func step() -> (KeyBytes, RowChain)? {
        guard backwards else { return forwards.next() }
        guard let (key, chain) = chains.last(before: place) else { return nil }
        place = key
        return (key, chain)
    }
}
