import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Openings for simulations: without threads, so that a seed decides what happens when, and with
/// crashes that are played.
extension Store {
    /// Opens a log on disk without a writer thread: each command is carried out on the thread of whoever
    /// comes first, as in memory. Blocks that thread on the disk. Checkpoints are never written.
    ///
    /// - Throws: as ``open(at:_:also:confirmedBy:durability:checkpoints:replica:sources:)``.
    package static func openWithoutThread(
        at directory: URL, _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        confirmedBy kind: LogKind, durability: Durability, replica: ReplicaID?,
        sources: LogSources
    ) throws(FoldbackError) -> Store<P> {
        let storage = try LMDBLog.open(
            directory.path, kind: kind, newKind: kind, replica: replica,
            options: durability.options, freshReplica: sources.freshReplica)
        return try withoutThread(projection, also: also, on: storage, sources: sources)
    }

    /// The same over any storage, on rows that may be there already.
    package static func withoutThread(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        on storage: any LogStorage, sources: LogSources
    ) throws(FoldbackError) -> Store<P> {
        let projections = ProjectionSet(P.self, also)
        let core = try StoreCore(
            on: storage, codec: AppCodec(codec: P.codec), folds: projections.folds,
            rows: projections.rows, clock: sources.now, policy: .manual, hasThread: false)
        return Store(core: core, projections: projections)
    }

    /// A store in memory that begins with what another one had committed when its
    /// ``Store/memoryRows`` were taken, and with nothing else: the restart after a crash. What the old
    /// store does afterwards is not seen here.
    ///
    /// - Throws: `.damaged`, `.newerFormat`.
    package static func inMemory(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        reopening rows: MemoryRows, sources: LogSources
    ) throws(FoldbackError) -> Store<P> {
        try withoutThread(projection, also: also, on: MemoryLog(rows), sources: sources)
    }
}

extension Store {
    /// What a store in memory has committed by now, closed or not; nil for one on disk. O(1).
    package var memoryRows: MemoryRows? { (core.storage as? MemoryLog)?.rows }
}
