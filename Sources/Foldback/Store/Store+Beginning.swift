import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Store {
    /// Starts a downlink log from a state of the authority, instead of from all of its events.
    ///
    /// ```swift
    /// let page = try await server.everything()  // a state, with the position that it covers
    /// try await Store<Likes>.begin(
    ///     at: directory, from: [.value(Likes(page.counts))], through: page.position, of: page.lineage)
    /// ```
    /// The log begins at a base with these states, and the downlink fetches the events after `through`.
    /// Use it for a new device, and for a device that was away so long that fetching a state is cheaper.
    ///
    /// If a log is at `directory`, its work stays, under the ids that the authority knows: pending
    /// intents, drafts, attempts, rejections, and the state of each intent that was ever recorded.
    /// Intents that the authority has accepted up to `through` are confirmed, because the states have
    /// their effects. Its entries are removed, or moved into `archive`.
    ///
    /// The states must have nothing that the authority lacks. What the user did before there was an
    /// authority comes as intents: record it, or see `bring(_:from:)` of FoldbackSync.
    ///
    /// The log is written beside `directory` and checked. Then the names are exchanged. So after a kill or
    /// a power cut, the log is as it was, or it is the new one; call this again.
    ///
    /// May be called from any task. Runs on its own thread. Suspends the caller.
    ///
    /// - Parameters:
    ///   - directory: the file URL of the log's directory. No store may have the log open.
    ///   - states: the confirmed states of the store's own projection and of all others. They are noted with
    ///     the projections' versions. Traps if the store's own is missing, or one is there twice.
    ///   - through: the highest position whose effect the states have.
    ///   - lineage: the lineage of the authority that the states come from.
    ///   - archive: the file URL of a folder that gets the log that was there.
    ///   - forgotten: the names of projections on the log that need no state.
    ///   - replica: the replica id of a new log.
    ///   - sources: the source of the present time and of fresh replica ids.
    /// - Throws: `.unfitBase` if the log at `directory` has another lineage, or has events after `through`;
    ///   `.kindDiffers`; `.lacksProjections` with those that were on the log in the last 30 days and have
    ///   no state here; `.noCheckpoint` if a state cannot be encoded; `.notProven` if a state is another one
    ///   after it was encoded and decoded, or cannot be compared; `.damaged`, `.otherApp`, `.locked`,
    ///   `.notALog`, `.unsafeFile`, `.newerFormat`, `.storage`. Nothing was changed by these.
    ///   `.unfinishedWipes` if the log begins at the base, and the old one is not removed completely: see
    ///   ``finishWipes(in:)``.
    /// - Complexity: reads the log that is there once. Memory O(n) in the states, and in intents that are not
    ///   confirmed.
    public static func begin(
        at directory: URL, from states: [BaseState<P.Event>], through: Position,
        of lineage: Lineage, archive: URL? = nil, forgetting forgotten: Set<String> = [],
        replica: NewReplica = .random, sources: LogSources = .system
    ) async throws(LogError) {
        try await begin(
            at: directory, from: states, SyncPoint(lineage: lineage, through: through), .downlink,
            archive, forgotten, replica, sources)
    }

    /// Starts an acknowledgement log from a state that the app has: for example from the database that
    /// the app used before.
    ///
    /// The guarantees, parameters, errors and costs are those of
    /// ``begin(at:from:through:of:archive:forgetting:replica:sources:)``. Accepted intents do not exist in such a log. If a log is
    /// at `directory`, the given states replace its confirmed states, and its history is nowhere else.
    ///
    /// - Parameters:
    ///   - directory: the file URL of the log's directory. No store may have the log open.
    ///   - states: the confirmed states of all projections.
    ///   - archive: the file URL of a folder that gets the log that was there. Required if one with a history, or
    ///     with states that it began from, is there.
    ///   - forgotten: the names of projections on the log that need no state.
    ///   - replica: the replica id of a new log.
    ///   - sources: the source of the present time and of fresh replica ids.
    /// - Throws: `.needsArchive`, and nothing was changed.
    public static func begin(
        at directory: URL, from states: [BaseState<P.Event>], archive: URL? = nil,
        forgetting forgotten: Set<String> = [], replica: NewReplica = .random,
        sources: LogSources = .system
    ) async throws(LogError) {
        try await begin(
            at: directory, from: states, nil, .acknowledgement, archive, forgotten, replica,
            sources)
    }

    private static func begin(
        at directory: URL, from states: [BaseState<P.Event>], _ point: SyncPoint?, _ kind: LogKind,
        _ archive: URL?, _ forgotten: Set<String>, _ replica: NewReplica, _ sources: LogSources
    ) async throws(LogError) {
        let projections = ProjectionSet(states.map(\.projection))
        let names = projections.members.map(\.identity.name)
        precondition(Set(names).count == names.count, "a projection has two states")
        precondition(
            names.contains(P.identity.name),
            "\(P.self) is the store's own projection: give its state")
        let path = String(Platform.trimmed(try directory.logPath()))
        let archive = try archive.map { url throws(LogError) in
            String(Platform.trimmed(try url.logPath()))
        }
        let codec = AppCodec(codec: P.codec)
        try await Platform.onThread { () throws(LogError) in
            var sections: [ProjectionSection] = []
            for state in states { sections.append(try state.section(path)) }
            try Beginning(
                path: path, kind: kind, point: point, sections: sections,
                projections: projections, codec: codec, archive: archive, forgotten: forgotten,
                replica: replica, sources: sources
            ).run()
        }
    }
}

/// The steps that start a log from states of elsewhere: a compaction of everything, whose base has other
/// states than the log's own.
private struct Beginning {
    let path: String
    let kind: LogKind
    /// What the states cover; nil for an acknowledgement log.
    let point: SyncPoint?
    let sections: [ProjectionSection]
    let projections: ProjectionSet
    let codec: any PayloadCodec
    let archive: String?
    let forgotten: Set<String>
    let replica: NewReplica
    let sources: LogSources

    /// The log that was there.
    private struct Earlier {
        let base: LogSequence
        let last: LogSequence
        let facts: [[UInt8]]
    }

    func run() throws(LogError) {
        let log: LMDBLog?
        do throws(LogError) {
            log = try LMDBLog.openExisting(path, freshReplica: sources.freshReplica)
        } catch .missing { log = nil }
        guard let log else {
            try CompactedLog.removeUnused(beside: path)
            let new = try plan(after: LogFold(kind: kind, replica: ReplicaID("none")!))
            try new.write(
                for: path, kind: kind, replica: replica, freshReplica: sources.freshReplica)
            try new.prove(path, projections, codec)
            return try CompactedLog.name(logAt: path)
        }
        let (new, earlier) = try prepare(log)
        try new.prove(path, projections, codec)
        try CompactedLog.replace(
            logAt: path, through: earlier.last, expecting: earlier.facts, from: earlier.base,
            to: new.base.sequence, archive: archive)
    }

    /// Writes the new log beside the log that is there, and closes both.
    private func prepare(_ log: LMDBLog) throws(LogError) -> (BasedLog, Earlier) {
        defer { log.close() }
        guard log.header.kind == kind else {
            throw .kindDiffers(path: path, existing: log.header.kind, asked: kind)
        }
        let last = LogSequence(UInt64(try log.recordCount()))
        if kind == .acknowledgement, archive == nil, last > 0 { throw .needsArchive(path: path) }
        try CompactedLog.finish(beside: log, archive: archive)
        try PreparedLog.remove(beside: log)
        let given = Set(projections.members.map(\.identity.name))
        try log.requireOwnLog(of: given, codec: codec)
        try log.requireProjections(Set(given.map(\.string)).union(forgotten), at: sources.now())
        if let reason = try KeptLogs.reasonToStay(of: path) {
            throw .unfitBase(path: path, reason: reason)
        }
        let known = try log.lineage()
        if let point, let known, known != point.lineage {
            throw .unfitBase(
                path: path,
                reason: "the log has lineage \(known), not \(point.lineage?.description ?? "none")")
        }
        var notes = try BaseNotes(of: log, at: last)
        var fold = try LogFold.beginning(of: log, codec: RawCodec())
        try fold.replay(log, codec: RawCodec()) { fold, record, effects in
            notes.take(&fold, record, effects)
        }
        if let point, point.through < fold.state.through {
            throw .unfitBase(
                path: path,
                reason: "the log has events through position \(fold.state.through), and the states "
                    + "end at \(point.through)")
        }
        let new = try plan(after: fold, (notes, log))
        try CompactedLog.requireArchive(
            archive, of: path, from: log.baseSequence, through: new.base.sequence)
        try new.write(
            from: log, copying: [.verdicts, .attempts, .registered, .log],
            freshReplica: sources.freshReplica)
        return (
            new, Earlier(base: log.baseSequence, last: last, facts: try log.facts(at: last))
        )
    }

    /// Returns the new log. Its base comes after the log's last entry, so that no sequence has two views.
    ///
    /// The base stands for a batch without events, which confirms what was accepted up to its position.
    private func plan(
        after earlier: LogFold, _ made: (notes: BaseNotes, log: LMDBLog)? = nil
    ) throws(LogError) -> BasedLog {
        var (fold, settlements) = (earlier, made?.notes.settlements ?? SettlementBook())
        let sequence = fold.state.sequence.next
        let batch = ConfirmedBatch(
            events: [], through: point?.through ?? 0,
            settled: point.map { fold.state.accepted(upTo: $0.through).sorted() } ?? [])
        let effects = fold.append(.confirmed(batch), at: sequence)
        // The states may come from other data than the digest, at the same position.
        var facts = [SeenFaults.key, NotedDigest.key].map { TableWrite(.log, .bytes($0), nil) }
        if let lineage = point?.lineage {
            facts.append(TableWrite(.log, .bytes(Lineage.key), lineage.encoded))
        }
        for (number, row) in settlements.apply(effects, at: sequence) {
            if row.settlement == .confirmed { settlements.remove(number) }
            let verdict = TableWrite(.verdicts, LogKey(number), row.encoded(for: number))
            facts.append(verdict)  // mutant: begun-verdict
            facts.append(TableWrite(.attempts, LogKey(number), nil))
        }
        let record = Record(
            stamp: Stamp(sequence: sequence, time: sources.now()),
            replica: fold.state.replica, info: [:], entry: .confirmed(batch)
        ).encoded(predecessor: fold.chain, replicas: ReplicaTable([fold.state.replica]))
        fold.extendChain(by: (record.checksum, record.bytes.count))
        let published = fold.makePublishedState()
        let kept = made?.notes.kept(published.overlay, settlements) ?? []
        return BasedLog(
            base: LogBase(
                sequence: sequence, chain: published.chain, time: sources.now(),
                nextNumber: published.nextNumber, replicas: made?.notes.firsts ?? []),
            checkpoints: [
                CheckpointRows(
                    Checkpoint(
                        log: published.logSection, projections: sections, unread: UnreadEvents(),
                        partlyRead: PartlyReadEvents()),
                    format: codec.format ?? .none, hasNotes: codec.notesMembers,
                    replicas: made?.log.header.replicas ?? ReplicaTable([fold.state.replica]))
            ],
            kept: kept,
            keptEntries: try made.map { made throws(LogError) in
                try made.notes.entries(about: kept, in: made.log)
            } ?? [],
            facts: facts, last: sequence)
    }
}
