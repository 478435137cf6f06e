/// A log with the views folded from it: records intents, applies the authority's answers, and shows
/// state.
///
/// ```
///           record ─▶ ┌───────────────┐ ─▶ view, overlay, views
///                     │ 1 2 3 4 │ 5 6 │
///   answers, batches ─▶ confirmed │ overlay ─▶ answers
/// ```
///
/// ```swift
/// let store = try await Store.open(
///     at: directory, Likes.self, confirmedBy: .acknowledgement, durability: .durable)
/// let receipt = try await store.record(.liked(post: "42"))
/// show(store.view)  // with the like, also offline
/// try await store.reject(receipt.number, message: "not your post")  // the server's answer
/// show(store.view)  // without the like
/// await store.close()
/// ```
///
/// When a command returns, its entry is committed, and the view is at this entry or later (F15).
/// Commands are carried out one after another, in the order in which they were queued. All members
/// may be used from any task. Commands suspend, and do not block a thread of Swift's pool on the
/// disk. Reading a view is O(1). Reads that may block on the disk say so.
///
/// The store shows views of a ``Projection``, and reads rows of a ``StoredProjection``. All else is
/// the same for both.
///
/// Do not open a second store for a directory: one store has the log at a time (L8), so share it.
/// Do not use a store only to look into a log that an app may have open: `LogReader` does that and
/// changes nothing (L9). Do not use it for large files: an event has at most 16 MiB, so keep a file
/// beside the log and record its name.
public final class Store<P: EventFold>: Sendable {
    /// The app's type of events.
    public typealias Event = P.Event

    package let core: StoreCore
    /// Cached, because creating a codec can be expensive.
    let codec: any EventCodec<P.Event>
    /// Reads events with ``codec``.
    let reader: AppCodec<P.Event>
    /// Compares an event that the authority delivered with the intent that it confirms.
    let comparison: EventComparison

    package init(core: StoreCore) {
        self.core = core
        codec = P.codec
        reader = AppCodec(codec: codec)
        comparison = codec.comparison
    }

    // MARK: Reading

    /// Pending and accepted intents at the last commit, in number order. O(1): an intent is copied
    /// when it is read.
    public var overlay: OverlayIntents<P.Event> { core.published.intents() }

    /// Returns a projection with which the store was opened. Traps if it was opened without it.
    public func projected<Q: Projection>(_ projection: Q.Type) -> Projected<Q>
    where Q.Event == P.Event {
        Projected<Q>(
            core: core, index: core.projections.place(of: projection, at: core.storage.path))
    }

    /// Returns a stored projection with which the store was opened. Traps if it was opened without
    /// it.
    public func projected<Q: StoredProjection>(_ projection: Q.Type) -> ProjectedRows<Q>
    where Q.Event == P.Event {
        ProjectedRows<Q>(
            core: core, index: core.projections.place(of: projection, at: core.storage.path))
    }

    /// The log's identity, counts and sizes at the last commit.
    ///
    /// O(1), from any task. May be read when the store is closed or latched.
    public var status: StoreStatus {
        let published = core.published
        return StoreStatus(
            of: core.storage, published,
            // A store's log has no gaps (L1), and the storage may be one commit ahead.
            entryCount: Int(
                clamping: published.sequence.value - core.storage.baseSequence.value),
            checkpoint: core.checkpointer.newest, checkpointFailure: core.checkpointer.failure)
    }

    // MARK: Checkpoints

    /// Where folding began when the log was opened, and the checkpoints that could not be used.
    public var replayStart: ReplayStart { core.replayStart }

    /// Writes a checkpoint of the current state, so that the next opening folds nothing up to here.
    ///
    /// On return, the checkpoint is as durable as the store (L2). The store carries out commands in
    /// the meantime. Call it when the app is about to be suspended. At other times the store writes
    /// checkpoints by itself (``CheckpointPolicy``).
    ///
    /// May be called from any task. Encodes on its own thread.
    ///
    /// - Throws: `.noCheckpoint`, `.closed`, `.usedAfterFork`, `.damaged`, `.latched`, `.storage`.
    ///   `.outcomeUnknown` if a commit failed; after that, the store refuses writes until it is
    ///   reopened (L6). The log's entries do not change.
    /// - Complexity: O(n) in confirmed states and overlay. Nothing if no entry came since the
    ///   newest checkpoint.
    public func checkpoint() async throws(LogError) {
        try await core.checkpointer.checkpoint()
    }

    /// Why the store could not prepare a compacted form of its log, after it was opened with a window; nil if
    /// nothing failed. The log is as it was (C10).
    ///
    /// The error names this log. If the failure is of a file beside it, such as `NAME.preparing`, the reason
    /// or the detail names that file.
    ///
    /// Such as `.lacksProjections` with those that were on the log lately and were not given, or
    /// `.notProven`. The next opening tries again.
    public var compactionFailure: LogError? { core.compaction.failure }

    /// Checks the whole log: folds it from its first entry, and compares the result with what is
    /// stored.
    ///
    /// It checks every record, verdict, attempt, checkpoint and row, and the view that the store
    /// shows. States are compared with `==` if they have it, else by the bytes of their state
    /// codec. Use it in tests, for support, and after changes to `apply`. It changes nothing.
    ///
    /// May be called from any task. Runs on its own thread, while the store carries out commands.
    ///
    /// - Throws: `.closed`, `.newerFormat`, `.storage`. Damage is not thrown, but a finding.
    /// - Complexity: O(n) in entries. Memory O(n) in settled intents and in the confirmed rows of
    ///   the store's stored projections.
    public func verify() async throws(LogError) -> Verification {
        try await core.verify()
    }

    // MARK: Ending

    /// Makes everything recorded so far survive a power cut, also under `.relaxed` (L2).
    ///
    /// Await it before an intent leaves the device for the first time. `Outbox` of FoldbackSync
    /// does this. Under `.durable`, commits are flushed already.
    ///
    /// - Throws: `.cancelled`, `.closed`, `.usedAfterFork`, `.latched`, `.damaged`, and nothing was
    ///   flushed. `.outcomeUnknown` if the flush failed: all entries are in the log, but may not
    ///   survive a power cut, and the store refuses writes until it is reopened (L6).
    /// - Complexity: one flush of the file, in order with the commands.
    public func flush() async throws(LogError) {
        _ = try await core.runner.result(ofOwn: .sync, bytes: 0)
    }

    /// Carries out the queued commands, then closes the log.
    ///
    /// On return, another store can open the log. If the store prepares a compacted form of the log, it waits
    /// for that, which takes seconds for a million entries. Callers that wait for room in the queue get
    /// `.closed`, and so do all later commands and reads of rows. The last view of a ``Projection``
    /// stays readable. If it is called again, it waits for the same end. In the child of a fork it
    /// does nothing (L8).
    public func close() async { await core.close() }
}
