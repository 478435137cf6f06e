extension Store where P: Projection {
    /// The states of the store's own projection and the overlay at the last commit: one consistent
    /// value.
    ///
    /// O(1), from any thread. Still available when the store is closed or latched.
    public var snapshot: Snapshot<P> { projected.snapshot }

    /// The fold of the overlay over confirmed state at the last commit: the state to show.
    ///
    /// O(1), from any thread. Two reads may see two commits: use ``snapshot`` to read several
    /// values of one commit.
    public var view: P { projected.view }

    /// The fold of confirmed events alone, at the last commit. O(1), from any thread.
    public var confirmed: P { projected.confirmed }

    /// Returns the intents of the overlay that touch `key`, as `P.keys(touchedBy:_:)` declares.
    /// O(n) in the overlay.
    public func overlay(touching key: P.Key) -> [OverlayIntent<P.Event>] {
        projected.overlay(touching: key)
    }

    /// The snapshots as they are published, the current snapshot first. See ``Projected/views``.
    public var views: Views<P> { projected.views }

    /// Returns the states as they were after entry `sequence`. See ``Projected/snapshot(at:)``.
    public func snapshot(at sequence: LogSequence) async throws(LogError) -> Snapshot<P> {
        try await projected.snapshot(at: sequence)
    }

    /// The confirmed events that could not be applied, oldest first (F9).
    public var faults: [Fault] { projected.faults }

    /// The store's own projection.
    package var projected: Projected<P> { projected(P.self) }
}

extension Store {
    /// Returns the states of any projection of these events as they were after entry `sequence`.
    ///
    /// The store need not have been opened with the projection. Use it to see the past of a
    /// ``StoredProjection`` that fits in memory through an equal ``Projection``: ``Documents`` for
    /// ``StoredDocuments``, or ``RowsInMemory``.
    ///
    /// Threads, errors and cost are those of ``Projected/snapshot(at:)``.
    public func snapshot<Q: Projection>(
        of projection: Q.Type, at sequence: LogSequence
    ) async throws(LogError) -> Snapshot<Q> where Q.Event == P.Event {
        try core.snapshot(of: Q.self, at: sequence)
    }
}
