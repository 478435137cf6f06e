/// The views and the rows of all projections of a store at one sequence; see ``Store/readAll(_:)``.
///
/// ```swift
/// let (channel, messages) = try store.readAll { log in
///     let channels = log.snapshot(of: Channels.self).view
///     return try log.rows(of: Messages.self) { rows in
///         (channels[id], try rows.page(of: Messages.byChannel, in: .key(id), limit: 50))
///     }
/// }
/// ```
///
/// Valid only while the closure runs. To read one projection, ``Store/view`` and ``Store/read(_:)``
/// are enough.
public struct StoreReader<Event: Sendable>: ~Copyable {
    private let published: PublishedState
    /// Nil if the store has no stored projection.
    private let stored: StoredRows?
    private let projections: ProjectionSet
    private let path: String

    fileprivate init(
        _ published: PublishedState, _ stored: StoredRows?, _ projections: ProjectionSet,
        _ path: String
    ) {
        self.published = published
        self.stored = stored
        self.projections = projections
        self.path = path
    }

    /// The last entry that everything in this reader covers.
    public var sequence: LogSequence { published.sequence }
    /// The highest position that confirmed states and rows cover.
    public var through: Position { published.through }
    /// Pending and accepted intents in number order. O(1).
    public var overlay: OverlayIntents<Event> { published.intents() }

    /// Returns the states of a projection. O(1). The result is valid after the closure, too.
    ///
    /// Traps if the store was opened without the projection.
    public borrowing func snapshot<Q: Projection>(of projection: Q.Type) -> Snapshot<Q>
    where Q.Event == Event {
        Snapshot(published, projections.place(of: projection, at: path))
    }

    /// Calls `body` with the rows of a stored projection, and returns its result.
    ///
    /// Traps if the store was opened without the projection.
    ///
    /// - Throws: the errors of `body`.
    public borrowing func rows<Q: StoredProjection, R>(
        of projection: Q.Type, _ body: (borrowing RowReader<Q>) throws -> R
    ) throws -> R where Q.Event == Event {
        let index = projections.place(of: projection, at: path)
        guard let stored else { preconditionFailure("\(projection) has no rows in \(path)") }
        return try body(RowReader(published, published.rows[index], stored))
    }
}

extension Store {
    /// Calls `body` with the views and rows of all projections of this store at one sequence, and
    /// returns its result.
    ///
    /// The sequence is that of the last published commit, or a later one that is published before
    /// `body` begins (F15). It does not change while `body` runs and the writer continues. This
    /// holds for every durability.
    ///
    /// Threads, limits and cost are those of ``ProjectedRows/read(_:)``. In a store without stored
    /// projections, it is O(1) and never blocks.
    ///
    /// - Throws: the errors of `body`; `.closed`, `.damaged`, `.storage`. `.latched` if the last
    ///   commit failed and may be on the disk.
    public func readAll<R>(_ body: (borrowing StoreReader<P.Event>) throws -> R) throws -> R {
        let path = core.storage.path
        guard !projections.rows.isEmpty else {
            return try body(StoreReader(core.published, nil, projections, path))
        }
        return try core.readRows { published, stored in
            try body(StoreReader(published, stored, projections, path))
        }
    }
}
