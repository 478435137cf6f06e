import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Store {
    /// Opens the log in `directory`, and creates both where there are none: the directory for its owner
    /// only (L10). Folds what came after the newest checkpoint; takes one lock, so that one store has
    /// it (L8).
    ///
    /// - Parameters:
    ///   - directory: of this log alone.
    ///   - projection: whose view the store shows.
    ///   - also: further projections on the same log, see ``Projected``. Recording is refused
    ///     if any of them throws (F9).
    ///   - kind: which source confirms; fixed when the log is created (F2).
    ///   - durability: what returning from `record` promises (L2).
    ///   - checkpoints: when checkpoints are written, and how many are kept.
    ///   - replica: the name of this replica in a log that is created, and ignored afterwards; nil
    ///     takes a fresh UUID. A log that was copied or restored takes a fresh one by itself (L11).
    ///   - sources: where time and fresh names come from.
    ///   - progress: called behind each piece of at most 65,536 entries, on the thread that opens, while a
    ///     ``StoredProjection`` that is new to the log or of another version gets its rows from the entries.
    ///     What a piece has made is kept: that goes on there when the process ends before it does.
    /// - Throws: `.locked`, `.kindDiffers`, `.notALog`, `.damaged`, `.newerFormat`,
    ///   `.unsupportedLibrary`, `.storage`. Where a row is damaged that a pending intent asks for, see
    ///   ``LogDirectory/discardRows()``. Nothing stays open, and an existing log is as it was, but
    ///   that a copied one may have its fresh replica id.
    /// - Complexity: reads the newest checkpoint and the entries behind it; one `apply` for each
    ///   confirmed event of these and each intent in the overlay. The whole log where a projection has
    ///   no state codec, or another version than it had: see ``Store/replayStart``.
    public static func open(
        at directory: URL, _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        confirmedBy kind: LogKind, durability: Durability,
        checkpoints: CheckpointPolicy = .automatic, replica: ReplicaID? = nil,
        sources: LogSources = .system,
        onCatchUp progress: (@Sendable (CatchUpProgress) -> Void)? = nil
    ) async throws(FoldbackError) -> Store<P> {
        try await open(
            at: directory, projection, also: also, existingOr: kind, mustBe: kind,
            durability: durability, checkpoints: checkpoints, replica: replica, sources: sources,
            progress: progress)
    }

    /// Opens an existing log whatever its kind is, or creates one of kind `kind`; otherwise the same.
    /// For tools; an app knows its server.
    public static func open(
        at directory: URL, _ projection: P.Type, existingOr kind: LogKind,
        durability: Durability, checkpoints: CheckpointPolicy = .automatic,
        replica: ReplicaID? = nil, sources: LogSources = .system
    ) async throws(FoldbackError) -> Store<P> {
        try await open(
            at: directory, projection, also: [], existingOr: kind, mustBe: nil,
            durability: durability, checkpoints: checkpoints, replica: replica, sources: sources,
            progress: nil)
    }

    /// A store without a file, for previews and app tests: the same semantics, codec and errors, gone
    /// with the process.
    public static func inMemory(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        confirmedBy kind: LogKind, replica: ReplicaID? = nil, sources: LogSources = .system
    ) -> Store<P> {
        let projections = ProjectionSet(P.self, also)
        return Store(
            core: StoreCore.inMemory(
                codec: AppCodec(codec: P.codec), folds: projections.folds, rows: projections.rows,
                clock: sources.now, kind: kind, replica: replica ?? sources.freshReplica()),
            projections: projections)
    }

    private static func open(
        at directory: URL, _ projection: P.Type, also: [AdditionalProjection<P.Event>],
        existingOr newKind: LogKind, mustBe kind: LogKind?, durability: Durability,
        checkpoints: CheckpointPolicy, replica: ReplicaID?, sources: LogSources,
        progress: (@Sendable (CatchUpProgress) -> Void)?
    ) async throws(FoldbackError) -> Store<P> {
        let path = directory.path
        let options = durability.options
        let projections = ProjectionSet(P.self, also)
        let core = try await StoreCore.open(
            codec: AppCodec(codec: P.codec), folds: projections.folds, rows: projections.rows,
            clock: sources.now, policy: checkpoints, progress: progress
        ) { () throws(FoldbackError) in
            try LMDBLog.open(
                path, kind: kind, newKind: newKind, replica: replica, options: options,
                freshReplica: sources.freshReplica)
        }
        return Store(core: core, projections: projections)
    }
}
