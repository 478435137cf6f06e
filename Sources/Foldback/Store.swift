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
/// For state that does not fit in memory this is not the right store yet.
public final class Store<P: Projection>: Sendable {
    public typealias Event = P.Event

    package let core: StoreCore
    private let also: [AdditionalProjection<P.Event>]

    package init(core: StoreCore, also: [AdditionalProjection<P.Event>]) {
        self.core = core
        self.also = also
    }

    // MARK: Reading

    /// The first projection's states, with the overlay, at the last commit: one consistent value.
    /// O(1), any thread; still there when the store is closed or latched.
    public var snapshot: Snapshot<P> { projected.snapshot }

    /// Confirmed state with the overlay folded over it: what the app shows.
    public var view: P { projected.view }

    /// The fold of confirmed events alone.
    public var confirmed: P { projected.confirmed }

    /// Pending and accepted intents in order of number. O(n) in their count.
    public var overlay: [OverlayIntent<P.Event>] { snapshot.overlay }

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

    /// The first projection.
    package var projected: Projected<P> { Projected(core: core, index: 0) }

    /// A further projection that the store was opened with; traps if it was not.
    public func projected<Q: Projection>(_ projection: Q.Type) -> Projected<Q>
    where Q.Event == P.Event {
        if projection == P.self { return Projected<Q>(core: core, index: 0) }
        guard let index = also.firstIndex(where: { $0.type == projection }) else {
            preconditionFailure("\(projection) is not a projection of the log \(core.storage.path)")
        }
        return Projected<Q>(core: core, index: index + 1)
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
    /// - Complexity: O(n) in entries, on a thread of its own; memory O(n) in settled intents.
    public func verify() async throws(FoldbackError) -> Verification {
        let folds: [any AnyFold] = [Fold<P>()] + also.map(\.fold)
        return try await core.verify(folds: folds)
    }

    // MARK: Ending

    /// Makes everything recorded so far survive a power cut, also under `.relaxed`: to be awaited before
    /// an intent leaves the device for the first time (L2).
    public func flush() async throws(FoldbackError) {
        let request = try await core.submit(.sync, bytes: 0)
        _ = try await request.outcome()
    }

    /// Carries out what is queued, then lets go of the log. Callers that still wait for room in the
    /// queue get `.closed`, as does every later command; the last view stays readable. Calling it again
    /// waits for the same end.
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
