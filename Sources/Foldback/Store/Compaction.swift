import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Store {
    /// Removes the old entries of a closed log (C1 to C9).
    ///
    /// The log then begins at a *base*: the states and rows of its projections after the last entry that
    /// was removed. Everything else stays: each later entry, the state of each intent that was ever
    /// recorded, and the entries of intents that are pending, rejected or undone, however old. Views of
    /// the present, answers, retries and numbers are what they were.
    ///
    /// ```swift
    /// await store.close()
    /// try await Store<Feed>.compact(at: directory, Feed.self, keeping: .days(30))
    /// ```
    ///
    /// What is gone: views, entries and ``answers(after:)`` from before the base (`.compacted`), undoing
    /// an intent that was confirmed before it (`.compactedIntent`), and making states again from the
    /// removed entries. So a later version of a projection says what becomes of these states
    /// (``EventFold/earlierVersions``). Without that, it cannot open the log (`.needsHistory`).
    ///
    /// A new log is written beside the old one, as `NAME.compacted`, and verified against the old one. Only
    /// then do they exchange their names. So after a kill or a power cut, the log is the old one or the
    /// new one, complete; calling this again finishes. Until then, the other one stays as
    /// `NAME.compacted`.
    ///
    /// May be called from any task. Runs on its own thread. Suspends the caller.
    ///
    /// - Parameters:
    ///   - directory: the file URL of the log's directory. No store may have the log open.
    ///   - projection: the store's own projection.
    ///   - also: its other projections: all that the app opens the log with.
    ///   - window: what to keep. Traps if it is below 1.
    ///   - archive: the file URL of a folder that gets the old log, on the same file system. It is a
    ///     complete log, which every tool reads. Required for an acknowledgement log, because no server
    ///     has its history (C5). By default, the old log is removed.
    ///   - forgotten: the names of projections that the log need not keep a state of.
    ///   - sources: the source of the present time, for a window of days.
    /// - Throws: `.needsArchive`; `.otherApp` if this code reads nothing of the log; `.lacksProjections` with those that were on the log in the last 30
    ///   days and are neither given nor forgotten; `.noCheckpoint` if a state cannot be encoded;
    ///   `.damaged` if anything in the log is; `.notProven` if the new log does not agree with the old
    ///   one; `.needsHistory`, `.missing`, `.locked`, `.notALog`, `.unsafeFile`, `.newerFormat`,
    ///   `.storage`, also if the archive is on another file system or has a log of that name. The log is
    ///   as it was after each of these. `.unfinishedWipes` if the log is compacted, and the old one is
    ///   not removed completely: see ``finishWipes(in:)``.
    /// - Complexity: folds the log once, and what stays of it twice. Memory O(n) in settled intents, and in the
    ///   rows of stored projections.
    @discardableResult
    public static func compact(
        at directory: URL, _ projection: P.Type, also: [AdditionalProjection<P.Event>] = [],
        keeping window: HistoryWindow, archive: URL? = nil, forgetting forgotten: Set<String> = [],
        sources: LogSources = .system
    ) async throws(LogError) -> Compaction {
        window.requireUsable()
        let path = String(Platform.trimmed(try directory.logPath()))
        let archive = try archive.map { url throws(LogError) in
            String(Platform.trimmed(try url.logPath()))
        }
        let projections = ProjectionSet(projection, also)
        let codec = AppCodec(codec: P.codec)
        return try await Platform.onThread { () throws(LogError) in
            try Compactor(
                path: path, projections: projections, codec: codec, window: window,
                archive: archive, forgotten: forgotten, sources: sources
            ).run()
        }
    }
}

/// The steps of a compaction; see ``Store/compact(at:_:also:keeping:archive:forgetting:sources:)``.
struct Compactor {
    let path: String
    let projections: ProjectionSet
    let codec: any PayloadCodec
    let window: HistoryWindow
    let archive: String?
    let forgotten: Set<String>
    let sources: LogSources
    /// Whether the log is a copy of one that a store has open, which stays as it is until the compacted form
    /// takes its place (C10).
    var isPrepared = false

    func run() throws(LogError) -> Compaction {
        let log = try LMDBLog.openExisting(path, freshReplica: sources.freshReplica)
        let before = log.baseSequence
        let (plan, held) = try prepare(log)
        guard let plan else { return Compaction(base: before, removed: 0, held: held) }
        try plan.prove(path, projections, codec)
        try CompactedLog.replace(
            logAt: path, through: plan.last, from: before, to: plan.base.sequence, archive: archive)
        return Compaction(
            base: plan.base.sequence,
            removed: Int(clamping: plan.base.sequence.value - before.value), held: held)
    }

    /// Fills the new log, and closes both.
    private func prepare(_ log: LMDBLog) throws(LogError) -> (plan: BasedLog?, held: [String]) {
        defer { log.close() }
        if log.header.kind == .acknowledgement, archive == nil, window != .everything, !isPrepared {
            throw .needsArchive(path: path)
        }
        try CompactedLog.finish(beside: log, archive: archive)
        try PreparedLog.remove(beside: log)
        try log.requireOwnLog(
            of: Set(projections.members.map(\.identity.name)), codec: codec)
        try log.requireProjections(
            Set(projections.members.map(\.identity.name.string)).union(forgotten),
            at: sources.now())
        let (plan, held) = try plan(of: log)
        if let plan {
            try CompactedLog.requireArchive(
                archive, of: path, from: log.baseSequence, through: plan.base.sequence)
            try plan.write(
                from: log,
                copying: [.verdicts, .attempts, .registered, .projections, .rows, .log],
                freshReplica: sources.freshReplica)
        }
        return (plan, held)
    }

    // MARK: The plan

    private func plan(of log: LMDBLog) throws(LogError) -> (plan: BasedLog?, held: [String]) {
        var limit: LogSequence?
        while true {
            let (end, held) = try window.end(in: log, before: limit, now: sources.now())
            guard let end else { return (nil, held) }
            let (notes, fold) = try folded(log, notingAt: end.sequence)
            // States up to here do not depend on what a later version reads (E6, E11).
            let unread = [fold.unread.first, fold.partlyRead.first].compactMap(\.self).min()
            if let unread, unread <= end.sequence, limit == nil {
                limit = unread
                continue
            }
            return (try plan(of: log, end, notes, fold), held)
        }
    }

    /// Verifies the log, and notes what its base needs.
    private func folded(
        _ log: LMDBLog, notingAt end: LogSequence
    ) throws(LogError) -> (notes: BaseNotes, fold: LogFold) {
        var notes = try BaseNotes(of: log, at: end)
        var verifier = try Verifier(
            log, projections, codec: codec, comparingNotes: false
        ) { fold, record, effects in notes.take(&fold, record, effects) }
        if let finding = try verifier.verification().findings.first {
            throw .damaged(path: log.path, sequence: nil, reason: "\(finding)")
        }
        return (notes, verifier.fold)
    }

    private func plan(
        of log: LMDBLog, _ end: (sequence: LogSequence, time: Timestamp), _ notes: BaseNotes,
        _ fold: LogFold
    ) throws(LogError) -> BasedLog {
        guard let base = notes.base else { throw log.missing(end.sequence) }
        var fold = fold
        let atEnd = fold.makePublishedState()
        let replicas = log.header.replicas
        func rows(_ checkpoint: Checkpoint) -> CheckpointRows {
            CheckpointRows(
                checkpoint, format: codec.format ?? .none, hasNotes: codec.notesMembers,
                replicas: replicas)
        }
        let kept = notes.kept(base.overlay, notes.settlements)
        return BasedLog(
            base: LogBase(
                sequence: end.sequence, chain: base.chain, time: end.time,
                nextNumber: base.nextNumber, replicas: notes.firsts),
            checkpoints: [rows(try base.checkpointAtBase()), rows(try atEnd.checkpoint())],
            kept: kept, keptEntries: try notes.entries(about: kept, in: log),
            last: atEnd.sequence)
    }
}

extension PublishedState {
    /// Returns the content of a checkpoint at a base: it also has the rows, which must be in memory.
    ///
    /// - Throws: `.noCheckpoint`.
    fileprivate func checkpointAtBase() throws(LogError) -> Checkpoint {
        let checkpoint = try checkpoint()
        return Checkpoint(
            log: checkpoint.log,
            projections: checkpoint.projections + rows.map { $0.sectionAtBase() },
            unread: checkpoint.unread, partlyRead: checkpoint.partlyRead)
    }
}
