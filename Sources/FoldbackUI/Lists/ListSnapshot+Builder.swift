extension ListSnapshot {
    /// Makes a snapshot from the sections and rows that a closure adds, in its order.
    ///
    /// - Throws: `.duplicateItem` or `.duplicateSection` if two rows or two sections have the same
    ///   id (U19); errors of the closure.
    /// - Complexity: O(n) in rows.
    @inlinable public init(_ build: (inout Builder) throws(ListError) -> Void) throws(ListError) {
        var builder = Builder()
        try build(&builder)
        storage = try Storage(builder.sections)
    }

    /// Collects the sections and rows of a snapshot.
    ///
    /// ```swift
    /// list.section(.posts)
    /// list.items(posts, status: { model.status(of: $0.id) })
    /// list.ghost(draft, status: status)
    /// list.placeholders(count: 3, at: .end)
    /// ```
    /// Begin each section with ``section(_:)``. Rows are added after the rows that the section has
    /// so far. Only placeholders are always at the edges, whenever they are added. Two rows with the
    /// same id are an error of the snapshot's `init`, so these methods do not throw.
    public struct Builder {
        @usableFromInline var parts: [Part] = []
        /// The statuses of items without a status of their own; nil if all are settled.
        @usableFromInline var statuses: ((Item.ID) -> ItemStatus)?
        /// In a ``ListModel``, the items of hidden intents, by ascending number of the intents (U32).
        ///
        /// Place them with ``ghost(_:)``. Those that are not placed are at the end of the last
        /// section. So begin a section also for an empty list, else it is a failure.
        public internal(set) var ghosts: [Item] = []
        var ghostMarks: [Item.ID: [IntentMark]] = [:]

        /// Nil before the first section.
        @usableFromInline var functions: ListFunctions<SectionID, Item>?

        @usableFromInline init() {}

        @usableFromInline struct Part {
            @usableFromInline let id: SectionID
            @usableFromInline var rows: [Row] = []
            /// The numbers of placeholders.
            @usableFromInline var start = 0
            @usableFromInline var end = 0

            @usableFromInline init(id: SectionID) { self.id = id }
        }

        /// Begins a section. The calls after it add rows to this section.
        @inlinable public mutating func section(_ id: SectionID) {
            if functions == nil { functions = ListFunctions() }
            parts.append(Part(id: id))
        }

        /// Adds a row for each item. In a ``ListModel``, the row has the item's status. Elsewhere, it
        /// has no marks.
        @inlinable public mutating func items(_ items: some Sequence<Item>) {
            let statuses = statuses
            self.items(items) { statuses?($0.id) ?? .settled }
        }

        /// Adds a row for each item, with the status that `status` returns for it.
        @inlinable public mutating func items(
            _ items: some Sequence<Item>, status: (Item) -> ItemStatus
        ) {
            let section = openSection
            for item in items {
                parts[section].rows.append(
                    Row(id: .item(item.id), content: item, status: status(item), isGhost: false))
            }
        }

        /// Adds a row for the result of an intent that is not in the view, such as a rejected
        /// comment (U32). The row is under the id that the result would have.
        public mutating func ghost(_ item: Item, status: ItemStatus) {
            parts[openSection].rows.append(
                Row(id: .item(item.id), content: item, status: status, isGhost: true))
        }

        /// Adds the row of one of the ``ghosts``, with the marks of its intents. If the list has a
        /// row for the item, only that row stays, and gets the marks (U32).
        public mutating func ghost(_ item: Item) {
            let status = statuses?(item.id) ?? .settled
            ghost(item, status: status.adding(ghostMarks[item.id] ?? []))
        }

        /// Adds a row for each item whose id is known, also if its content is not known yet. Its
        /// status is as for ``items(_:)``.
        @inlinable public mutating func known(
            ids: some Sequence<Item.ID>, content: (Item.ID) -> Item? = { _ in nil }
        ) {
            known(ids: ids, content: content, status: statuses ?? { _ in .settled })
        }

        /// Adds a row for each item whose id is known, also if its content is not known yet.
        ///
        /// The row of an id stays when its content arrives: the difference has a change, and
        /// neither a deletion nor an insertion (U20).
        ///
        /// - Parameters:
        ///   - ids: the ids in the order of the rows.
        ///   - content: returns the item with an id; nil if it is not known yet. The item must
        ///     have this id.
        ///   - status: returns the status of the item with an id.
        @inlinable public mutating func known(
            ids: some Sequence<Item.ID>, content: (Item.ID) -> Item? = { _ in nil },
            status: (Item.ID) -> ItemStatus
        ) {
            let section = openSection
            for id in ids {
                let item = content(id)
                precondition(item == nil || item?.id == id, "the content of \(id) has another id")
                parts[section].rows.append(
                    Row(id: .item(id), content: item, status: status(id), isGhost: false))
            }
        }

        /// Adds placeholders at an edge of the section, for rows whose ids are not known yet.
        ///
        /// They are outside of the section's other rows, also of rows that are added later. Their
        /// ids are distinct, and the same in each snapshot with at least as many placeholders at
        /// this edge (U20). A second call for the same edge adds more, farther out. `count` is from
        /// 0 up.
        public mutating func placeholders(count: Int, at edge: ListEdge = .end) {
            precondition(count >= 0, "\(count) placeholders")
            switch edge {
            case .start: parts[openSection].start += count
            case .end: parts[openSection].end += count
            }
        }

        @inlinable var openSection: Int {
            precondition(!parts.isEmpty, "a row without a section; call section(_:) first")
            return parts.count - 1
        }

        /// The sections with their placeholders.
        @usableFromInline var sections: [Section] { parts.map(\.section) }
    }
}

extension ListSnapshot.Builder.Part {
    var section: ListSnapshot.Section {
        // Without placeholders, the rows are not copied.
        guard start > 0 || end > 0 else { return ListSnapshot.Section(id: id, rows: rows) }
        // Slots count outward, so at the start the last slot is on top.
        let top = placeholders(.start, (0..<start).reversed())  // mutant: list-placeholder-slots
        return ListSnapshot.Section(
            id: id, rows: top + rows + placeholders(.end, 0..<end))
    }

    private func placeholders(
        _ edge: ListEdge, _ slots: some Sequence<Int>
    ) -> [ListSnapshot.Row] {
        slots.map { slot in
            ListSnapshot.Row(
                id: .placeholder(id, edge, slot: slot), content: nil, status: .settled,
                isGhost: false)
        }
    }
}
