import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Store {
    /// Copies the log to another directory while the store is in use (BK1).
    ///
    /// The copy has everything up to one commit. It is a complete log in a compact file: `LogReader`
    /// reads it, and a store opens it.
    ///
    /// ```swift
    /// try await store.backup(to: folder.appending(path: "feed.backup"))
    /// ```
    ///
    /// The copy is made beside its place, as `NAME.new`, and checked: all pages, and each record,
    /// verdict and attempt. Then it is flushed and gets its name. So `directory` has a complete copy or
    /// what it had before, also if the process is killed or the power fails. A copy that was cut off
    /// stays as `NAME.new` until the next backup to this place.
    ///
    /// An earlier backup of this log at `directory` is replaced, if the new one has all of its entries.
    /// A reader of another process that has it open gets `.storage` with `.fileLost`, and opens the
    /// directory again. Any other log stays as it is.
    ///
    /// A store that opens a backup takes a fresh replica id (L11). The original may have sent pending
    /// intents meanwhile, so there they count as sent: `withdraw` refuses them, and `undo` undoes them
    /// with an intent of its own (BK2). For a widget or an extension, write a backup, and let it read
    /// that; only the app opens the log itself.
    ///
    /// May be called from any task. Runs on its own thread. Suspends the caller. Commands are carried
    /// out meanwhile; one that must enlarge LMDB's map waits up to 10 s for the copy, and then fails
    /// with `.storage` and changes nothing.
    ///
    /// - Parameter directory: the file URL of the copy. Missing parents are created.
    /// - Returns: the last entry that the copy has.
    /// - Throws: `.damaged` if anything in the log is damaged; no copy is made then, because it could
    ///   replace a sound one. `.notABackup`; `.locked` if a store, or a reader of this process, has the
    ///   earlier backup open, or another backup to this place runs; `.notALog` or `.unsafeFile` if
    ///   something else is there. `.missing` for a log in memory. `.closed`, `.storage`. The log was not
    ///   changed by any of these, and neither was what `directory` had.
    /// - Complexity: reads the log three times: to check it, to copy it, and to check the copy. Memory
    ///   O(n) in settled intents.
    @discardableResult
    public func backup(to directory: URL) async throws(LogError) -> LogSequence {
        try await Backup.write(core.storage, to: directory)
    }
}

/// The steps of a backup (BK1).
///
/// ```
/// copy to NAME.new ─▶ check it ─▶ flush ─▶ rename to NAME ─▶ flush the folder
///                                 └─ or exchange with the earlier backup, and remove that
/// ```
package enum Backup {
    /// See ``Store/backup(to:)``.
    package static func write(
        _ storage: any LogStorage, to directory: URL
    ) async throws(LogError) -> LogSequence {
        let path = String(Platform.trimmed(try directory.logPath()))
        guard let log = storage as? LMDBLog else { throw .missing(path: storage.path) }
        return try await Platform.onThread { () throws(LogError) in try write(log, to: path) }
    }

    private static func write(
        _ log: LMDBLog, to path: String
    ) throws(LogError) -> LogSequence {
        try requireOutsideLogs(path)
        let earlier = try Wiping.hold(path)
        if let earlier { try requireBackup(earlier, of: log) }
        let newPath = "\(path).new"
        try removeUnfinished(at: newPath, of: log)
        let copy = try LMDBLog.translating(newPath) { () throws(LMDBError) in
            try HeldDirectory.create(newPath)
        }
        do throws(LogError) {
            try fill(copy, from: log)
            let last = try checked(copy, of: log)
            try LMDBLog.translating(newPath) { () throws(LMDBError) in
                try copy.sync()
                try name(copy, path, replacing: earlier)
            }
            return last
        } catch {
            _ = Wiping.remove(copy, at: newPath)
            throw error
        }
    }

    /// Checks that the nearest folder that exists is not a log's: its files are the log's alone.
    private static func requireOutsideLogs(_ path: String) throws(LogError) {
        try LMDBLog.translating(path) { () throws(LMDBError) in
            var folder = Platform.parent(of: path)
            while try Platform.fileSize(folder) == nil { folder = Platform.parent(of: folder) }
            guard try Platform.fileSize("\(folder)/data.mdb") != nil else { return }
            throw LMDBError(.createDirectory, .otherFileInLog(example: path))
        }
    }

    /// Removes a copy that was cut off, or an earlier backup whose removal was.
    ///
    /// - Throws: `.notABackup` if it is another log.
    private static func removeUnfinished(
        at path: String, of log: LMDBLog
    ) throws(LogError) {
        guard let found = try Wiping.hold(path) else { return }
        do throws(LogError) {
            guard try CompactedLog.isFormOf(log, found) else {
                throw .notABackup(path: path, reason: "it is another log")
            }
        } catch .damaged {
            // A copy that was cut off ends anywhere.
        }
        if let left = Wiping.remove(found, at: path) { throw left.error }
    }

    private static func fill(_ copy: HeldDirectory, from log: LMDBLog) throws(LogError) {
        let failure = try LMDBLog.translating(log.path) { () throws(LMDBError) in
            try log.environment.copy(to: copy)
        }
        if let failure { throw LogError(failure, at: copy.path) }
    }

    /// Checks everything in the copy that does not depend on an app, and returns its last entry.
    ///
    /// - Throws: `.damaged` with the first finding. The log had the damage: its bytes were copied.
    private static func checked(
        _ copy: HeldDirectory, of log: LMDBLog
    ) throws(LogError) -> LogSequence {
        let found = try Wiping.reading(copy) { copy throws(LogError) in
            var verifier = try Verifier(copy, ProjectionSet(), codec: RawCodec())
            return (try verifier.verification(), verifier.fold.state.sequence)
        }
        guard let (verification, last) = found else {
            throw .damaged(path: log.path, sequence: nil, reason: "its copy has no commit")
        }
        if let finding = verification.findings.first {
            throw .damaged(path: log.path, sequence: nil, reason: "\(finding)")
        }
        return last
    }

    /// Gives the copy its name. If there is an earlier backup, its files are removed after that; what
    /// cannot be removed stays as `NAME.new`.
    private static func name(
        _ copy: HeldDirectory, _ path: String, replacing earlier: HeldDirectory?
    ) throws(LMDBError) {
        guard let earlier else {
            try copy.move(to: path)
            return try Platform.syncParent(of: path)
        }
        try Platform.exchange(path, copy.path)
        try Platform.syncParent(of: path)
        _ = Wiping.remove(earlier, at: copy.path)
    }

    /// Checks that the log at a path is an earlier backup of this log: all of its entries are in this
    /// log.
    ///
    /// A record has the checksum of the record before it. So if the last ones are equal, all are (L5).
    private static func requireBackup(
        _ earlier: HeldDirectory, of log: LMDBLog
    ) throws(LogError) {
        let last = try Wiping.reading(earlier) { found throws(LogError) in
            if let base = log.base, found.baseSequence < base.sequence {
                // A compaction has removed entries since. The chain tells that they were this log's.
                let record = try found.record(at: base.sequence)
                guard record.map({ Record.checksum(of: $0) }) == base.chain else {
                    throw .notABackup(
                        path: earlier.path,
                        reason: "it lacks entry \(base.sequence), at which this log begins")
                }
            }
            if let base = found.base, try found.recordCount() == Int(base.sequence.value) {
                // It begins from states, and has no entries.
                guard log.base == base else {
                    throw .notABackup(path: earlier.path, reason: "it begins from other states")
                }
            }
            return try found.reading { snapshot throws(LogError) in
                let last = try snapshot.lastSequence(after: found.baseSequence)
                return (last, try snapshot.open(.entries).get(LogKey(last))?.array)
            }.get()
        }
        // An empty directory, or a log without entries, has nothing to lose.
        guard let (sequence, record) = last, let record else { return }
        let own = try log.record(at: sequence)
        guard own == record else {  // mutant: other-backup
            throw .notABackup(
                path: earlier.path, reason: "this log lacks its entry \(sequence)")
        }
    }
}
