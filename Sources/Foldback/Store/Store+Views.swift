extension Store where P: Projection {
    /// The store's own projection's states, with the overlay, at the last commit: one consistent value.
    /// O(1), any thread; still there when the store is closed or latched.
    public var snapshot: Snapshot<P> { projected.snapshot }

    /// Confirmed state with the overlay folded over it: what the app shows.
    public var view: P { projected.view }

    /// The fold of confirmed events alone.
    public var confirmed: P { projected.confirmed }

    /// Intents in the overlay that touch `key`, as the projection declares it. O(n) in the overlay.
    public func overlay(touching key: P.Key) -> [OverlayIntent<P.Event>] {
        projected.overlay(touching: key)
    }

    /// Snapshots as they are published, the present one first: see ``Projected/views``.
    public var views: Views<P> { projected.views }

    /// What was seen at a past sequence: see ``Projected/snapshot(at:)``.
    public func snapshot(at sequence: LogSequence) async throws(FoldbackError) -> Snapshot<P> {
        try await projected.snapshot(at: sequence)
    }

    /// Confirmed events that could not be applied, oldest first (F9).
    public var faults: [Fault] { projected.faults }

    /// The store's own projection.
    package var projected: Projected<P> { projected(P.self) }
}

extension Store {
    /// What any projection of these events, also one that does not stand on the log, makes of it at a past
    /// sequence: see ``Projected/snapshot(at:)``. For a ``StoredProjection`` whose past fits in memory, by
    /// the ``Projection`` that means the same, as ``Documents`` for ``StoredDocuments``.
    public func snapshot<Q: Projection>(
        of projection: Q.Type, at sequence: LogSequence
    ) async throws(FoldbackError) -> Snapshot<Q> where Q.Event == P.Event {
        try core.snapshot(of: Q.self, at: sequence)
    }
}
