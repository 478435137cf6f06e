import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The compacted form of a log that a store prepares while it is in use (C10).
///
/// ```
///  in use      log 1 … S ──copy──▶ NAME.preparing ──compaction, proof──▶ NAME.prepared  F + 1 … S
///  next open   log 1 … S … E ──entries after S, facts──▶ NAME.prepared ──exchange──▶ log  F + 1 … E
/// ```
/// A kill leaves the log, and at most a directory that the next opening removes.
package enum PreparedLog {
    private static func path(of path: String) -> String { "\(Platform.trimmed(path)).prepared" }
    private static func unfinishedPath(of path: String) -> String {
        "\(Platform.trimmed(path)).preparing"
    }

    /// Whether a log is the app's own. A superseded log that is kept must not lose what may be brought from it,
    /// and a successor is filled (N6).
    private static func isAppsOwn(_ path: String) -> Bool {
        let path = String(Platform.trimmed(path))
        return !KeptName.isKept(path) && !path.hasSuffix(".successor")
    }

    // MARK: Preparing

    /// Prepares the compacted form of a log that a store has open, if enough can go: at least half of
    /// its entries, and ``Compacting/entriesMin``. Blocks.
    ///
    /// - Throws: as ``Store/compact(at:_:also:keeping:archive:forgetting:sources:)``. The log is as it was.
    package static func prepare(
        _ log: LMDBLog, _ compacting: Compacting, _ projections: ProjectionSet,
        codec: any PayloadCodec, sources: LogSources
    ) throws(LogError) {
        guard isAppsOwn(log.path), try compacting.isDue(log, now: sources.now()) else { return }
        try log.requireProjections(
            Set(projections.members.map(\.identity.name.string)), at: sources.now())
        // The fold that follows tells exactly. This spares a copy if it is known already.
        let removable = try log.removable(
            keeping: compacting.window, before: log.storedCheckpoints().last?.firstUnread,
            now: sources.now())
        let fewest = try compacting.fewest(of: log)
        guard removable.removed >= fewest else { return }
        try remove(beside: log)
        let path = unfinishedPath(of: log.path)
        do throws(LogError) {
            try copy(log, to: path)
            try LMDBLog.openExisting(path, isSameLog: true, freshReplica: sources.freshReplica)
                .close()
            let done = try Compactor(
                path: path, projections: projections, codec: codec, window: compacting.window,
                archive: nil, forgotten: [], sources: sources, isPrepared: true
            ).run()
            if done.removed >= fewest { return try move(path, to: Self.path(of: log.path)) }
        } catch {
            try? remove(beside: log)
            throw error.about(log.path, at: path, isCopy: true)
        }
        try remove(beside: log)
    }

    private static func copy(_ log: LMDBLog, to path: String) throws(LogError) {
        let target = try LMDBLog.translating(path) { () throws(LMDBError) in
            try HeldDirectory.create(path)
        }
        let failure = try LMDBLog.translating(log.path) { () throws(LMDBError) in
            try log.environment.copy(to: target)
        }
        if let failure { throw LogError(failure, at: path) }
    }

    private static func move(_ path: String, to target: String) throws(LogError) {
        guard let held = try Wiping.hold(path) else { throw .missing(path: path) }
        try LMDBLog.translating(path) { () throws(LMDBError) in
            try held.move(to: target)
            try Platform.syncParent(of: path)
        }
        withExtendedLifetime(held) {}
    }

    /// Removes what was prepared for a log, also if it was cut off. Leaves any other log alone. Blocks.
    ///
    /// - Parameter log: a log that is open.
    /// - Throws: `.locked`, `.notALog`, `.unsafeFile`, `.storage`; `.unfinishedWipes`.
    static func remove(beside log: LMDBLog) throws(LogError) {
        try remove(beside: log.path, of: log.header)
    }

    /// See ``remove(beside:)``.
    ///
    /// - Parameter held: the log, which this process holds. It may be damaged.
    static func remove(beside held: HeldDirectory) throws(LogError) {
        var header: LogHeader?
        do throws(LogError) { header = try Wiping.header(of: held) } catch {
            switch error {
            case .damaged, .newerFormat: break
            default: throw error
            }
        }
        try remove(beside: held.path, of: header)
    }

    /// See ``remove(beside:)``.
    ///
    /// - Parameter log: nil if the log is gone, or cannot be read.
    static func remove(beside path: String, of log: LogHeader?) throws(LogError) {
        let unfinished = unfinishedPath(of: path)
        // In the order in which a preparation that still runs makes them.
        for place in [CompactedLog.path(of: unfinished), unfinished, Self.path(of: path)] {
            guard let held = try Wiping.hold(place) else { continue }
            var found: LogHeader?
            do throws(LogError) { found = try Wiping.header(of: held) } catch {
                // A copy that was cut off ends anywhere.
                guard case .damaged = error else { throw error }
            }
            // Without the log, only its form tells whose it is.
            if let found, !(log.map(found.isOfForm) ?? found.isCompacted) { continue }
            if let left = try Wiping.discard(held) { throw .unfinishedWipes([left]) }
        }
    }

    // MARK: Taking over

    /// Puts what was prepared in the place of the closed log, if it still fits. Else removes it.
    ///
    /// It fits if it keeps what the window keeps, has the states that this code needs, and has the log's
    /// entries up to its own end, and the log has at most
    /// ``Compacting/tailMax`` entries after that, of ``Limits/commitBytesMax``: opening must not become slow.
    /// Blocks.
    ///
    /// - Throws: as ``Store/compact(at:_:also:keeping:archive:forgetting:sources:)``. The log is as it was,
    ///   or it is the compacted form.
    package static func takeOver(
        at path: String, of kind: LogKind?, _ compacting: Compacting, _ projections: ProjectionSet,
        codec: any PayloadCodec, sources: LogSources
    ) throws(LogError) {
        guard compacting.window != .everything, isAppsOwn(path) else { return }
        let prepared = Self.path(of: path)
        do throws(LogError) {
            try takeOver(
                prepared, at: path, of: kind, compacting, projections, codec: codec,
                sources: sources)
        } catch { throw error.about(path, at: prepared, isCopy: false) }
    }

    private static func takeOver(
        _ prepared: String, at path: String, of kind: LogKind?, _ compacting: Compacting,
        _ projections: ProjectionSet, codec: any PayloadCodec, sources: LogSources
    ) throws(LogError) {
        guard try isThere(prepared) else {
            // A kill after an exchange leaves the old log.
            guard try isThere(CompactedLog.path(of: path)) else { return }
            let log = try LMDBLog.openExisting(path, freshReplica: sources.freshReplica)
            defer { log.close() }
            return try CompactedLog.finish(beside: log, archive: compacting.archive)
        }
        guard
            let found = try complete(
                prepared, path, compacting, sources,
                fits: {
                    (new: LMDBLog, log: LMDBLog) throws(LogError) -> Bool in
                    guard kind == nil || kind == log.header.kind,
                        log.header.kind == .downlink || compacting.archive != nil
                    else { return false }
                    guard try compacting.keeps(new, of: log, now: sources.now()) else {
                        return false
                    }
                    // With an archive, what the base lacks is folded from there.
                    if compacting.archive != nil { return true }  // mutant: prepared-states
                    return try new.hasStates(of: projections, codec)
                })
        else {
            if let held = try Wiping.hold(path) { try remove(beside: held) }
            return
        }
        try move(prepared, to: CompactedLog.path(of: path))
        try CompactedLog.replace(
            logAt: path, through: found.last, expecting: found.facts, from: found.from,
            to: found.to, archive: compacting.archive)
    }

    private static func isThere(_ path: String) throws(LogError) -> Bool {
        try Wiping.hold(path) != nil
    }

    /// Adds to the prepared form what the log has got since.
    ///
    /// - Returns: what the exchange needs to know; nil if it does not fit.
    private static func complete(
        _ prepared: String, _ path: String, _ compacting: Compacting, _ sources: LogSources,
        fits isWanted: (LMDBLog, LMDBLog) throws(LogError) -> Bool
    ) throws(LogError) -> (
        last: LogSequence, facts: [[UInt8]], from: LogSequence, to: LogSequence
    )? {
        let log = try LMDBLog.openExisting(path, freshReplica: sources.freshReplica)
        defer { log.close() }
        let new = try LMDBLog.openExisting(prepared, freshReplica: sources.freshReplica)
        defer { new.close() }
        guard try fits(new, log, tailMax: compacting.tailMax), try isWanted(new, log) else {
            return nil
        }
        try CompactedLog.finish(beside: log, archive: compacting.archive)
        try CompactedLog.requireArchive(
            compacting.archive, of: path, from: log.baseSequence, through: new.baseSequence)
        guard try addTail(of: log, to: new) else { return nil }
        let last = LogSequence(UInt64(try log.recordCount()))
        return (last, try log.facts(at: last), log.baseSequence, new.baseSequence)
    }

    private static func fits(
        _ new: LMDBLog, _ log: LMDBLog, tailMax: Int
    ) throws(LogError) -> Bool {
        let last = LogSequence(UInt64(try new.recordCount()))
        let end = try log.recordCount()
        guard new.header.kind == log.header.kind, new.header.replicas == log.header.replicas,
            new.baseSequence > log.baseSequence, last.value <= UInt64(end),
            UInt64(end) - last.value <= UInt64(tailMax),
            let record = try new.record(at: last)
        else { return false }
        return try log.record(at: last) == record
    }

    /// Adds the entries that the log has got since, and all facts beside the entries, in one transaction.
    /// Rows follow from the entries when the log is opened.
    ///
    /// - Returns: whether it did; false if they have more than ``Limits/commitBytesMax``, or if one of them
    ///   brings an intent back whose record was not kept.
    private static func addTail(of log: LMDBLog, to new: LMDBLog) throws(LogError) -> Bool {
        do throws(LogError) { return try addWholeTail(of: log, to: new) } catch {
            guard case .compactedIntent = error else { throw error }
            return false
        }
    }

    private static func addWholeTail(of log: LMDBLog, to new: LMDBLog) throws(LogError) -> Bool {
        let codec = RawCodec()
        var fold = try LogFold.folded(new, codec: codec).fold
        var writes: [TableWrite] = []
        var changed: Set<IntentNumber> = []
        try fold.replay(log, codec: codec) { fold, _, effects throws(LogError) in
            changed.formUnion(effects.settlements.map(\.number))
            changed.formUnion(effects.reopened)
            let sequence = fold.state.sequence
            guard let record = try log.record(at: sequence) else { throw log.missing(sequence) }
            writes.append(TableWrite(.entries, LogKey(sequence), record))
        }
        for number in changed.sorted() {
            writes.append(
                TableWrite(.verdicts, LogKey(number), try log.settlement(of: number)))
        }
        for table in [LogTable.attempts, .registered, .log] {
            try new.eachRow(of: table) { key, _ in
                guard table != .log || key.isSharedByForms else { return }
                writes.append(TableWrite(table, key, nil))
            }
            try log.eachRow(of: table) { key, value in
                guard table != .log || key.isSharedByForms else { return }
                writes.append(TableWrite(table, key, value))
            }
        }
        guard writes.reduce(0, { $0 + $1.reserveBytes }) <= Limits.commitBytesMax else {
            return false
        }
        do throws(StorageFailure) { try new.write(writes) } catch { throw error.unwritten }
        try proveTail(of: new, against: fold)
        return true
    }

    /// Checks that the compacted form goes on to where the log ends: each record follows from the record
    /// before it, and the same intents are unsettled.
    private static func proveTail(of new: LMDBLog, against log: LogFold) throws(LogError) {
        let fold = try LogFold.folded(new, codec: RawCodec()).fold
        guard fold.chain == log.chain, fold.state.sequence == log.state.sequence,
            fold.state.overlay.keys == log.state.overlay.keys
        else { throw .notProven(path: new.path, reason: "its last entries differ from the log's") }
    }
}

extension LogError {
    /// Returns the error of work on a log that the app does not know as an error of its log, with the
    /// other log as a detail.
    ///
    /// Errors of what else is at that place keep its path: somebody must look there.
    ///
    /// - Parameters:
    ///   - place: the path of the other log. It may have a compacted form of its own.
    ///   - isCopy: whether the other log has the bytes of the app's log.
    fileprivate func about(_ path: String, at place: String, isCopy: Bool) -> LogError {
        switch self {
        case .damaged(let found, let sequence, let reason) where found.hasPrefix(place):
            isCopy
                ? .damaged(
                    path: path, sequence: sequence, reason: "\(reason), found in its copy \(found)")
                : .notProven(path: path, reason: "\(found) is damaged: \(reason)")
        case .notProven(let found, let reason) where found.hasPrefix(place):
            .notProven(path: path, reason: reason)
        case .needsHistory(let found, let names, let base) where found.hasPrefix(place):
            .needsHistory(path: path, projections: names, base: base)
        case .lacksProjections(let found, let names) where found.hasPrefix(place):
            .lacksProjections(path: path, names: names)
        case .otherApp(let found, let names) where found.hasPrefix(place):
            .otherApp(path: path, projections: names)
        case .newerFormat(let found, let sequence, let what) where found.hasPrefix(place):
            .newerFormat(path: path, sequence: sequence, found: what)
        case .storage(let failure) where failure.path.hasPrefix(place):
            .storage(
                StorageFailure(
                    path: path, reason: failure.reason,
                    detail: "\(failure.path): \(failure.detail)",
                    leavesOutcomeUnknown: failure.leavesOutcomeUnknown,
                    endsWriting: failure.endsWriting))
        default: self
        }
    }
}

/// How a store compacts its log by itself (C10).
package struct Compacting: Sendable {
    let window: HistoryWindow
    let archive: String?
    /// The fewest entries that must be removable.
    var entriesMin = Limits.compactionEntriesMin
    /// The most entries that an opening adds to what was prepared.
    var tailMax = Limits.preparedTailMax

    package init(
        _ window: HistoryWindow, archive: URL?, entriesMin: Int = Limits.compactionEntriesMin,
        tailMax: Int = Limits.preparedTailMax
    ) throws(LogError) {
        window.requireUsable()
        self.window = window
        self.archive = try archive.map { url throws(LogError) in
            String(Platform.trimmed(try url.logPath()))
        }
        self.entriesMin = entriesMin
        self.tailMax = tailMax
    }

    /// Puts what was prepared in the log's place, on a thread of its own.
    ///
    /// - Returns: why it failed. The log is complete then, so it opens all the same.
    func takingOver(
        _ takeOver: @escaping @Sendable () throws(LogError) -> Void
    ) async -> LogError? {
        guard window != .everything else { return nil }
        do throws(LogError) {
            try await Platform.onThread(takeOver)
            return nil
        } catch { return error }
    }

    /// Returns the fewest entries whose removal is worth it: half of the log's, and ``entriesMin``.
    func fewest(of log: LMDBLog) throws(LogError) -> Int {
        let count = try log.recordCount() - Int(clamping: log.baseSequence.value)
        return max((count + 1) / 2, entriesMin)
    }

    /// Whether a compacted form has all that the window keeps now.
    func keeps(_ new: LMDBLog, of log: LMDBLog, now: Timestamp) throws(LogError) -> Bool {
        guard let base = new.base else { return false }
        let last = LogSequence(UInt64(try log.recordCount()))
        return window.isOld(base.sequence, base.time, last: last, now: now)
    }

    /// Whether enough entries can go, by the time of the last of them.
    ///
    /// - Complexity: reads one record.
    func isDue(_ log: LMDBLog, now: Timestamp) throws(LogError) -> Bool {
        let last = LogSequence(UInt64(try log.recordCount()))
        let end = LogSequence(log.baseSequence.value + UInt64(try fewest(of: log)))
        guard end < last else { return false }
        guard let record = try log.record(at: end) else { throw log.missing(end) }
        return Record.time(of: record).map { window.isOld(end, $0, last: last, now: now) } ?? true
    }
}
