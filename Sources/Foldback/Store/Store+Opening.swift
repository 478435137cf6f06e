import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Store {
    /// Opens the log in `directory`, and returns its store.
    ///
    /// Creates the directory, its missing parents, and the log if they do not exist; only their
    /// owner can read them (L10). Creates no log in a directory that has other files, except hidden
    /// files. On return, the view is that of the whole log, and no other store can open the log
    /// until this store is closed (L8).
    ///
    /// May be called from any task. Runs on its own thread, which then is the writer (L3).
    ///
    /// Opening checks what it reads. Before the store writes, it also checks that no page of the file
    /// is both free and used. A store without stored projections checks large tables after the return,
    /// on the writer's thread. The first command waits for that, and so does ``intent(_:)`` for a
    /// settled intent. If the check finds damage, each command throws `.damaged`, nothing is written,
    /// and reads are right or throw. If opening writes, it checks all tables first, and throws. It
    /// writes if the log was copied or restored, if a projection is new to it, or if `conflicts`
    /// differs from before.
    ///
    /// - Parameters:
    ///   - directory: the file URL of a directory for this log alone.
    ///   - projection: the store's own projection.
    ///   - also: additional projections on the same log, see `projected(_:)`. An intent is not
    ///     recorded if one of them throws (F9).
    ///   - conflicts: whether an intent that one projection refuses is conflicted in all of them. The
    ///     log notes the choice, and it holds from its last entry on.
    ///   - kind: the source that confirms. Fixed when the log is created (F2).
    ///   - durability: the losses that a return from `record` excludes (L2).
    ///   - checkpoints: when checkpoints are written, and how many are kept.
    ///   - replica: the replica id of a new log. By default, no two logs have the same id. Ignored
    ///     for an existing log. A log that was copied or restored takes a fresh replica id by itself
    ///     (L11).
    ///   - unreadable: what to do with a log that is probably another app's: this code can read
    ///     none of its events, and none of this code's projections was ever on it.
    ///   - window: what the log keeps of its history. By default everything. Else the store prepares a
    ///     compacted form of the log in the background, once at least half of the entries and 100,000 can
    ///     go. The next opening puts it in the place of the log (C10). See
    ///     ``Store/compact(at:_:also:keeping:archive:forgetting:sources:)`` for what stays, and
    ///     ``Store/compactionFailure`` for why nothing is removed. While the log is copied, a command that must
    ///     enlarge its file waits, as during a ``Store/backup(to:)``. Traps if it is below 1.
    ///   - archive: the file URL of a folder that gets the old log, on the same file system; required for a
    ///     window on an acknowledgement log. If this code needs entries that a compaction has
    ///     removed, it folds them from there, once (C9).
    ///   - sources: the source of time and of fresh replica ids.
    ///   - progress: called while stored projections that are new to the log, or have another
    ///     version, get their rows from its entries: after each piece of at most 65,536 entries, on
    ///     the opening thread. Rows of a piece are kept. If the process ends, the next opening
    ///     continues after the last piece.
    /// - Throws: `.locked`, `.kindDiffers`, `.notALog`, `.unsafeFile`, `.otherApp`,
    ///   `.lacksProjections`, `.needsHistory`, `.needsArchive`, `.lacksArchive`, `.damaged`, `.newerFormat`, `.unsupportedLibrary`, `.storage`. Nothing
    ///   stays open. An existing log is unchanged, except that a copied log may have its fresh
    ///   replica id, and that rows of finished pieces are kept. If a row that an intent of the
    ///   overlay reads is damaged, ``LogDirectory/discardRows()`` helps.
    /// - Complexity: reads the newest checkpoint and the entries after it. One `apply` for each
    ///   confirmed event in these entries and for each intent in the overlay. Folds the whole log
    ///   if a projection has no state codec or has another version: see ``Store/replayStart``. The
    ///   check of large tables walks their branch pages, so it is O(n) in the log.
    public static func open(
        at directory: URL, _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        conflicts: ConflictPolicy = .shared, confirmedBy kind: LogKind, durability: Durability,
        checkpoints: CheckpointPolicy = .automatic, replica: NewReplica = .random,
        unreadable: UnreadableLog = .refused, keeping window: HistoryWindow = .everything,
        archive: URL? = nil, sources: LogSources = .system,
        onCatchUp progress: (@Sendable (CatchUpProgress) -> Void)? = nil
    ) async throws(LogError) -> Store<P> {
        if kind == .acknowledgement, archive == nil, window != .everything {
            throw .needsArchive(path: try directory.logPath())
        }
        return try await open(
            at: directory, projection, also: also, conflicts: conflicts, existingOr: kind,
            mustBe: kind, durability: durability, checkpoints: checkpoints, replica: replica,
            unreadable: unreadable, compacting: try Compacting(window, archive: archive),
            sources: sources, progress: progress)
    }

    /// Opens an existing log of any kind, or creates a log of kind `kind`.
    ///
    /// For tools. An app should pass the kind that its server needs:
    /// ``open(at:_:also:conflicts:confirmedBy:durability:checkpoints:replica:unreadable:keeping:archive:sources:onCatchUp:)``. That
    /// method has the guarantees, the other parameters and the cost.
    ///
    /// - Throws: as that method, except `.kindDiffers`.
    public static func open(
        at directory: URL, _ projection: P.Type, existingOr kind: LogKind,
        durability: Durability, checkpoints: CheckpointPolicy = .automatic,
        replica: NewReplica = .random, sources: LogSources = .system
    ) async throws(LogError) -> Store<P> {
        try await open(
            at: directory, projection, also: [], conflicts: .shared, existingOr: kind, mustBe: nil,
            durability: durability, checkpoints: checkpoints, replica: replica,
            unreadable: .refused, compacting: try Compacting(.everything, archive: nil),
            sources: sources, progress: nil)
    }

    /// Returns a store without a file, for previews and app tests.
    ///
    /// It has the rules, codec and errors of a store on disk. Its log ends with the store. Commands
    /// are carried out on the thread of a caller. Checkpoints are written only by ``checkpoint()``.
    ///
    /// - Parameters:
    ///   - projection: the store's own projection.
    ///   - also: additional projections on the same log.
    ///   - conflicts: whether an intent that one projection refuses is conflicted in all of them.
    ///   - kind: the source that confirms (F2).
    ///   - replica: the log's replica id; nil is a fresh id from `sources`. Ids of intents repeat
    ///     in the next store with the same id.
    ///   - sources: the source of time and of fresh replica ids.
    public static func inMemory(
        _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        conflicts: ConflictPolicy = .shared, confirmedBy kind: LogKind, replica: ReplicaID? = nil,
        sources: LogSources = .system
    ) -> Store<P> {
        let projections = ProjectionSet.ofStore(P.self, also)
        return Store(
            core: StoreCore.inMemory(
                codec: AppCodec(codec: P.codec), projections: projections,
                clock: sources.now, kind: kind, replica: replica ?? sources.freshReplica(),
                sharing: projections.sharing(conflicts)))
    }

    /// The same, with the limits of a compaction as parameters.
    package static func open(
        at directory: URL, _ projection: P.Type, also: [AdditionalProjection<P.Event>],
        conflicts: ConflictPolicy, existingOr newKind: LogKind, mustBe kind: LogKind?,
        durability: Durability,
        checkpoints: CheckpointPolicy, replica: NewReplica, unreadable: UnreadableLog,
        compacting: Compacting, sources: LogSources,
        progress: (@Sendable (CatchUpProgress) -> Void)?
    ) async throws(LogError) -> Store<P> {
        let path = try directory.logPath()
        let projections = ProjectionSet.ofStore(P.self, also)
        let options = durability.options(readsRows: !projections.rows.isEmpty)
        let codec = AppCodec(codec: P.codec)
        let failure = await compacting.takingOver {
            () throws(LogError) in
            try PreparedLog.takeOver(
                at: path, of: kind, compacting, projections, codec: codec, sources: sources)
        }
        let core = try await StoreCore.open(
            codec: codec, projections: projections,
            clock: sources.now, policy: checkpoints, unreadable: unreadable,
            sharing: projections.sharing(conflicts), progress: progress
        ) { () throws(LogError) in
            let log = try LMDBLog.open(
                path, kind: kind, newKind: newKind, replica: replica, options: options,
                firstWrites: try projections.registrations(
                    at: sources.now(), conflicts: conflicts
                ).writes,
                freshReplica: sources.freshReplica)
            do throws(LogError) {
                if let archive = compacting.archive {
                    try log.completeBase(from: archive, projections, codec: codec)
                }
                return log
            } catch {
                log.close()
                throw error
            }
        }
        if compacting.window != .everything, let log = core.storage as? LMDBLog {
            core.compaction.begin(after: failure) { () throws(LogError) in
                try PreparedLog.prepare(
                    log, compacting, projections, codec: codec, sources: sources)
            }
        }
        return Store(core: core)
    }
}
