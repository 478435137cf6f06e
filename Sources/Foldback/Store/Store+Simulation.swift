import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Ways to open a store for simulations: without threads, so that a seed decides the order of all
/// steps, and with simulated crashes.
extension Store {
    /// Opens a log on disk without a writer thread.
    ///
    /// Commands are carried out on the calling thread, as in memory, and block it on the disk. Of
    /// several callers, one carries out the commands of all. Checkpoints are written only on
    /// request.
    ///
    /// - Throws: as
    ///   ``open(at:_:also:conflicts:confirmedBy:durability:checkpoints:replica:unreadable:sources:onCatchUp:)``.
    package static func openWithoutThread(
        at directory: URL, _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        conflicts: ConflictPolicy = .shared, confirmedBy kind: LogKind, durability: Durability,
        replica: NewReplica,
        sources: LogSources
    ) throws(LogError) -> Store<P> {
        let storage = try LMDBLog.open(
            directory.logPath(), kind: kind, newKind: kind, replica: replica,
            options: durability.options, freshReplica: sources.freshReplica)
        return try withoutThread(
            projection, also: also, conflicts: conflicts, on: storage, sources: sources)
    }

    /// Opens a store without a writer thread over any storage, which may have entries and rows.
    ///
    /// - Throws: as
    ///   ``open(at:_:also:conflicts:confirmedBy:durability:checkpoints:replica:unreadable:sources:onCatchUp:)``.
    package static func withoutThread(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        conflicts: ConflictPolicy = .shared, on storage: any LogStorage, sources: LogSources
    ) throws(LogError) -> Store<P> {
        let projections = ProjectionSet.ofStore(P.self, also)
        let core = try StoreCore(
            on: storage, codec: AppCodec(codec: P.codec), projections: projections,
            clock: sources.now, policy: .manual, hasThread: false,
            sharing: projections.sharing(conflicts))
        return Store(core: core)
    }

    /// Returns a store in memory that begins with the commits of another store in memory, as after
    /// a crash.
    ///
    /// It has exactly what the other store had committed when its ``Store/memoryRows`` were read.
    /// Later commits of the other store do not appear in it.
    ///
    /// - Throws: `.damaged`, `.newerFormat`.
    package static func inMemory(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        conflicts: ConflictPolicy = .shared, reopening rows: MemoryRows, sources: LogSources
    ) throws(LogError) -> Store<P> {
        try withoutThread(
            projection, also: also, conflicts: conflicts, on: MemoryLog(rows), sources: sources)
    }
}

extension Store {
    /// The committed content of a store in memory, also when it is closed; nil for a store on disk.
    /// O(1).
    package var memoryRows: MemoryRows? { (core.storage as? MemoryLog)?.rows }
}
