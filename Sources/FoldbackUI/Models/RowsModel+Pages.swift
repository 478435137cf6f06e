import Foldback

extension RowsModel {
    /// Returns a window of a table's rows in the order of their keys. It begins with the first page.
    ///
    /// - Parameters:
    ///   - table: a table of the projection's schema. Another table is a ``ReadFailure``.
    ///   - range: the keys that can be shown.
    ///   - order: from the lowest key up, or from the highest key down.
    ///   - pageSize: the most rows that an extension adds, from 1 up.
    ///   - windowMax: the most rows that the window has, from `pageSize` up.
    /// - Complexity: after each commit that touched the range, a read in O(window). Each commit
    ///   costs O(n) more in the rows that it changes.
    public func pages<Key, Row: Equatable>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all,
        order: RowOrder = .ascending, pageSize: Int = 50, windowMax: Int = 500
    ) -> PageModel<RowEntry<Key, Row>, Never> {
        PageModel(
            of: self, PageSource(table, range, order), observation(of: table, range),
            PageWindow(pageSize: pageSize, windowMax: windowMax), nil)
    }

    /// Returns a window of a table's rows that fetches more rows when there are no more local rows.
    ///
    /// ```swift
    /// let pages = model.pages(of: Inbox.messages, showing: Wait("loading messages")) {
    ///     edge, last, report in
    ///     try await server.loadMessages(into: store, beyond: last?.key, edge, report)
    /// }
    /// ```
    ///
    /// `fetch` is called for an edge where all local rows are shown; see ``PageFetch``. One call at a
    /// time runs for each edge. It is canceled when the page is released. All else is as without
    /// `fetch`.
    ///
    /// - Parameters:
    ///   - table: a table of the projection's schema. Another table is a ``ReadFailure``.
    ///   - range: the keys that can be shown.
    ///   - order: from the lowest key up, or from the highest key down.
    ///   - pageSize: the most rows that an extension adds, from 1 up.
    ///   - windowMax: the most rows that the window has, from `pageSize` up.
    ///   - wait: how a view shows a fetch; see ``PageModel/progress(of:)``. Its cues are among the
    ///     model's ``StoreModel/cues``.
    ///   - policy: the time limits of the wait.
    ///   - fetch: one request. It runs outside of the main actor. An ``ExplainedError`` gives the
    ///     wait's words.
    public func pages<Key, Row: Equatable, Failure>(
        of table: RowTable<Key, Row>, in range: RowRange<Key> = .all,
        order: RowOrder = .ascending, pageSize: Int = 50, windowMax: Int = 500,
        showing wait: Wait = Wait(.loading), policy: ProgressPolicy = ProgressPolicy(),
        fetch: @escaping PageFetch<RowEntry<Key, Row>, Failure>
    ) -> PageModel<RowEntry<Key, Row>, Failure> {
        PageModel(
            of: self, PageSource(table, range, order), observation(of: table, range),
            PageWindow(pageSize: pageSize, windowMax: windowMax),
            EdgeFetch(wait: wait, policy: policy, fetch: fetch))
    }

    /// Returns a window of an index's rows in its order, as for a table.
    ///
    /// - Complexity: as for a table, but after each commit that touched any row of the table.
    public func pages<Key, Row: Equatable, IndexKey>(
        of index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all,
        order: RowOrder = .ascending, pageSize: Int = 50, windowMax: Int = 500
    ) -> PageModel<IndexedRow<IndexKey, Key, Row>, Never> {
        PageModel(
            of: self, PageSource(index, range, order), observation(of: index.table, .all),
            PageWindow(pageSize: pageSize, windowMax: windowMax), nil)
    }

    /// Returns a window of an index's rows that fetches more rows when there are no more local rows,
    /// as for a table.
    public func pages<Key, Row: Equatable, IndexKey, Failure>(
        of index: RowIndex<Key, Row, IndexKey>, in range: RowRange<IndexKey> = .all,
        order: RowOrder = .ascending, pageSize: Int = 50, windowMax: Int = 500,
        showing wait: Wait = Wait(.loading), policy: ProgressPolicy = ProgressPolicy(),
        fetch: @escaping PageFetch<IndexedRow<IndexKey, Key, Row>, Failure>
    ) -> PageModel<IndexedRow<IndexKey, Key, Row>, Failure> {
        PageModel(
            of: self, PageSource(index, range, order), observation(of: index.table, .all),
            PageWindow(pageSize: pageSize, windowMax: windowMax),
            EdgeFetch(wait: wait, policy: policy, fetch: fetch))
    }

    /// Nil if the store is closed or has no such table. The page's reads then say so.
    private func observation<Key, Row>(
        of table: RowTable<Key, Row>, _ range: RowRange<Key>
    ) -> RowObservation? {
        guard let store = try? link.openStore else { return nil }
        return try? store.projected(P.self).observation(of: table, in: range)
    }
}

extension RowEntry: Identifiable {
    public var id: Key { key }
}

/// The row's own key identifies it, so that a row keeps its identity when its index key changes. If
/// an index has several entries for a row in one range, use `place` instead.
extension IndexedRow: Identifiable {
    public var id: Key { key }
}
