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
    let standing: Standing
    /// Asked for once: making one can be dear.
    let codec: any EventCodec<P.Event>

    package init(core: StoreCore, standing: Standing) {
        self.core = core
        codec = P.codec
        self.standing = standing
    }

    // MARK: Reading

    /// Pending and accepted intents in order of number. O(n) in their count.
    public var overlay: [OverlayIntent<P.Event>] { core.writer.published.intents() }

    /// A projection that the store was opened with; traps if it was not.
    public func projected<Q: Projection>(_ projection: Q.Type) -> Projected<Q>
    where Q.Event == P.Event {
        Projected<Q>(core: core, index: standing.place(of: projection, at: core.storage.path))
    }

    /// The same of a stored projection.
    public func projected<Q: StoredProjection>(_ projection: Q.Type) -> ProjectedRows<Q>
    where Q.Event == P.Event {
        ProjectedRows<Q>(core: core, index: standing.place(of: projection, at: core.storage.path))
    }

    /// Counts and sizes. O(1), but for the file's size.
    public var status: StoreStatus {
        let published = core.writer.published
        let header = core.storage.header
        return StoreStatus(
            path: core.storage.path, replica: header.replicas.current, kind: header.kind,
            sequence: published.sequence, through: published.through,
            pendingCount: published.overlay.count - published.acceptedCount,
            acceptedCount: published.acceptedCount, rejectedCount: published.rejections.count,
            nextIntent: published.nextNumber, bytesOnDisk: core.storage.usedBytes,
            oldestRead: .nanoseconds(Int64(clamping: core.storage.oldestReadNanoseconds)),
            checkpoint: core.checkpointer.newest,
            checkpointFailure: core.checkpointer.failure.map { "\($0)" })
    }

    // MARK: Checkpoints

    /// Where folding began when the log was opened, and which checkpoints could not be used.
    public var start: FoldingStart { core.start }

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
        try await core.verify(folds: standing.folds, rows: standing.rows)
    }

    // MARK: Ending

    /// Makes everything recorded so far survive a power cut, also under `.relaxed`: to be awaited before
    /// an intent leaves the device for the first time (L2).
    public func flush() async throws(FoldbackError) {
        let request = try await core.submit(.sync, bytes: 0)
        _ = try await request.outcome()
    }

    /// Carries out what is queued, then lets go of the log. Callers that still wait for room in the
    /// queue get `.closed`, as does every later command and reading of rows; the last view of a value stays
    /// readable. Calling it again waits for the same end.
    public func close() async { await core.close() }
}

/// A log's identity, counts and sizes.
public struct StoreStatus: Hashable, Sendable {
    public let path: String
    public let replica: ReplicaID
    public let kind: LogKind
    /// Of the last entry; 0 in an empty log.
    public let sequence: LogSequence
    /// The highest position that confirmed state covers.
    public let through: Position
    public let pendingCount: Int
    public let acceptedCount: Int
    /// Rejections that are neither dismissed nor retried.
    public let rejectedCount: Int
    /// The number that the next intent gets.
    public let nextIntent: IntentNumber
    public let bytesOnDisk: Int
    /// How long the oldest read of this process has been going on; zero with none. One that goes on
    /// for long keeps the file growing (L8).
    public let oldestRead: Duration
    /// The newest whole checkpoint; 0 with none.
    public let checkpoint: LogSequence
    /// Why the last attempt to write one came to nothing; nil where it did not. The log is none the
    /// worse, opening takes longer.
    public let checkpointFailure: String?
}
