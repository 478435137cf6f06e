import Foldback

extension ListModel {
    /// Makes a list of rows that are read from a table or an index, whose ids are the ids of the
    /// model's items.
    ///
    /// ```swift
    /// let inbox = ListModel<String, Message>(of: model) { reader in
    ///     try reader.page(of: Inbox.bySent, order: .descending, limit: 100).map(\.row)
    /// } rows: { list, messages in
    ///     list.section("messages")
    ///     list.items(messages)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - model: the model of the rows.
    ///   - read: reads rows, again for each new sequence; see ``RowsModel/select(_:)``. If it
    ///     throws, the list has a ``failure``, and reads again with the next update.
    ///   - rows: adds sections and rows for what was read. Called on no particular actor.
    ///   - ghost: returns the item of a hidden intent; nil if there is nothing to show. By default,
    ///     there are no ghosts.
    public convenience init<P: StoredProjection & Itemized, Value: Sendable>(
        of model: RowsModel<P>,
        reading read: @escaping @Sendable (borrowing RowReader<P>) throws -> Value,
        rows: @escaping @Sendable (inout Snapshot.Builder, Value) throws(ListError) -> Void,
        ghost: @escaping @Sendable (HiddenIntent<P.Event>, Value) -> Item? = { _, _ in nil }
    ) where P.ItemID == Item.ID {
        let part = ReadPart(read)
        self.init(
            of: model, model.link,
            .init(
                input: { [relay = part.relay] in relay.sent.value },
                revision: { [relay = part.relay] in relay.sendCount },
                itemID: { AnyItemID($0) }, ghost: ghost),
            rows: rows, keeping: model.parts.add(part))
        model.readSoon()
    }

    /// Makes a list of a page's rows, whose ids are the ids of the model's items.
    ///
    /// ```swift
    /// let messages = ListModel<String, Message>(of: pages, in: model, placeholders: 8) {
    ///     list, entries in
    ///     list.section("messages")
    ///     list.items(entries.map(\.row))
    /// }
    /// ```
    ///
    /// While the page's `fetch` is in progress at an edge, the list has placeholders there: before
    /// the rows of the first section, or after the rows of the last. The first rows that arrive at
    /// the edge replace all of them (U20, U23). Without a section, they are a ``failure``. So begin
    /// a section also for an empty page.
    ///
    /// - Parameters:
    ///   - pages: the page.
    ///   - model: the model of the page.
    ///   - placeholders: how many placeholders an edge has during a fetch, from 0 up.
    ///   - rows: adds sections and rows for the page's rows. Called on no particular actor.
    ///   - ghost: returns the item of a hidden intent; nil if there is nothing to show. By default,
    ///     there are no ghosts.
    public convenience init<P: StoredProjection & Itemized, Element, Failure>(
        of pages: PageModel<Element, Failure>, in model: RowsModel<P>, placeholders: Int = 0,
        rows: @escaping @Sendable (inout Snapshot.Builder, [Element]) throws(ListError) -> Void,
        ghost: @escaping @Sendable (HiddenIntent<P.Event>, [Element]) -> Item? = { _, _ in nil }
    ) where P.ItemID == Item.ID {
        precondition(placeholders >= 0, "\(placeholders) placeholders")
        let (relay, waits) = (pages.relay, pages.waits)
        self.init(
            of: pages, model.link,
            .init(
                input: {
                    relay.sent.value.map { PageRows(rows: $0, waiting: waits.edges(of: $0)) }
                },
                revision: { relay.sendCount + (placeholders > 0 ? waits.changeCount : 0) },
                itemID: { AnyItemID($0) }, ghost: { ghost($0, $1.rows) }),
            rows: { list, page throws(ListError) in
                try rows(&list, page.rows)
                try list.placeholders(placeholders, at: page.waiting)
            })
    }
}

/// The rows of a page, and the edges where a fetch is in progress.
private struct PageRows<Element: Sendable>: Sendable {
    let rows: [Element]
    let waiting: [ListEdge]
}

extension ListSnapshot.Builder {
    /// Adds placeholders at edges of the list.
    ///
    /// - Throws: `.missingSection` if there are placeholders to add and the list has no sections.
    fileprivate mutating func placeholders(
        _ count: Int, at edges: [ListEdge]
    ) throws(ListError) {
        guard count > 0 else { return }
        for edge in edges {
            guard !parts.isEmpty else { throw .missingSection(for: "placeholders at the \(edge)") }
            switch edge {
            case .start: parts[0].start += count
            case .end: parts[parts.count - 1].end += count
            }
        }
    }
}
