/// A log and the views folded from it: records intents, takes answers, shows state (sections 2 and 4 of
/// the design).
///
/// ```
///           record ─▶ ┌───────────────┐ ─▶ view, overlay, views
///                     │ 1 2 3 4 │ 5 6 │
///   answers, batches ─▶ confirmed │ overlay ─▶ answers
/// ```
///
/// Any task may call anything; commands are carried out one after the other in the order in which they
/// were queued. When a command returns, its entry is committed and the view is at it or later (F15).
/// Commands never block a thread of Swift's pool on the disk; they suspend.
///
/// Of a ``Projection`` it shows views, of a ``StoredProjection`` it reads rows; all else is the same for both.
public final class Store<P: EventFold>: Sendable {
    public typealias Event = P.Event

    package let core: StoreCore
    let projections: ProjectionSet
    /// Asked for once: making one can be dear.
    let codec: any EventCodec<P.Event>

    package init(core: StoreCore, projections: ProjectionSet) {
        self.core = core
        codec = P.codec
        self.projections = projections
    }

    // MARK: Reading

    /// Pending and accepted intents in order of number. O(n) in their count.
    public var overlay: [OverlayIntent<P.Event>] { core.writer.publishedState.intents() }

    /// A projection that the store was opened with; traps if it was not.
    public func projected<Q: Projection>(_ projection: Q.Type) -> Projected<Q>
    where Q.Event == P.Event {
        Projected<Q>(core: core, index: projections.place(of: projection, at: core.storage.path))
    }

    /// The same of a stored projection.
    public func projected<Q: StoredProjection>(_ projection: Q.Type) -> ProjectedRows<Q>
    where Q.Event == P.Event {
        ProjectedRows<Q>(
            core: core, index: projections.place(of: projection, at: core.storage.path))
    }

    /// Counts and sizes. O(1), but for the file's size.
    public var status: StoreStatus {
        StoreStatus(
            of: core.storage, core.writer.publishedState, checkpoint: core.checkpointer.newest,
            checkpointFailure: core.checkpointer.failure)
    }

    // MARK: Checkpoints

    /// Where folding began when the log was opened, and which checkpoints could not be used.
    public var replayStart: ReplayStart { core.replayStart }

    /// Writes a checkpoint of the present state, so that the next opening has nothing to fold; for a
    /// moment before the app goes to sleep. The store goes on meanwhile; checkpoints are also written
    /// by themselves (``CheckpointPolicy``).
    ///
    /// - Throws: `.noCheckpoint`, `.closed`, `.latched`, `.storage`, `.outcomeUnknown`; the log itself is
    ///   as it was.
    /// - Complexity: O(n) in confirmed states and overlay; none where nothing has changed.
    public func checkpoint() async throws(FoldbackError) {
        try await core.checkpointer.checkpoint()
    }

    /// Folds the log from its first entry on, and compares: every record, every verdict, every
    /// checkpoint, and what the store shows. For tests, for support, and after changes of `apply`.
    ///
    /// States are compared by `==` where they have one, else by what their state codec writes.
    /// - Throws: `.closed`, `.newerFormat`, `.storage`. Damage is a finding.
    /// - Complexity: O(n) in entries, on a thread of its own; memory O(n) in settled intents, and in
    ///   all confirmed rows of the store's stored projections.
    public func verify() async throws(FoldbackError) -> Verification {
        try await core.verify(folds: projections.folds, rows: projections.rows)
    }

    // MARK: Ending

    /// Makes everything recorded so far survive a power cut, also under `.relaxed`: to be awaited before
    /// an intent leaves the device for the first time (L2).
    public func flush() async throws(FoldbackError) {
        let request = try await core.runner.submit(.sync, bytes: 0)
        _ = try await request.outcome()
    }

    /// Carries out what is queued, then lets go of the log. Callers that still wait for room in the
    /// queue get `.closed`, as does every later command and reading of rows; the last view of a value stays
    /// readable. Calling it again waits for the same end.
    public func close() async { await core.close() }
}
