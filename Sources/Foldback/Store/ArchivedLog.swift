import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A compacted log together with the log that it was made from: it has the removed entries, too (C9).
///
/// ```
///  archive   1 … F … E'     entries up to F, checkpoints, kept records
///  log           F … E      entries after F, and everything else
/// ```
/// The archive can be such a pair itself. The chain proves that they fit: the log's base has the checksum of
/// the archive's record at F (L5).
///
/// Only for reading.
package final class ArchivedLog: ForwardingLog {
    package let log: LMDBLog
    private let archive: any LogStorage
    private let cut: LogSequence

    private init(_ log: LMDBLog, at cut: LogSequence, _ archive: any LogStorage) {
        self.log = log
        self.cut = cut
        self.archive = archive
    }

    /// Returns the log with its archives; the log itself if it has all of its entries.
    ///
    /// - Parameter folder: the folder that compactions of the log have moved it to.
    /// - Throws: `.lacksArchive` if no log in the folder ends where the log begins, and the errors of
    ///   reading those that may.
    package static func opening(
        _ log: LMDBLog, in folder: URL
    ) throws(LogError) -> any LogStorage {
        let folder = String(Platform.trimmed(try folder.logPath()))
        return try log.base.map { base throws(LogError) in try pair(log, base, in: folder) } ?? log
    }

    /// Returns a compacted log with its archives.
    static func pair(
        _ log: LMDBLog, _ base: LogBase, in folder: String
    ) throws(LogError) -> ArchivedLog {
        var best: LMDBLog?
        var failure: LogError?
        for path in try candidates(beside: log.path, in: folder) {
            do throws(LogError) {
                let found = try LMDBLog.openReadOnly(path)
                let isBetter = best.map { found.baseSequence < $0.baseSequence } ?? true
                guard isBetter, try found.hasEntries(before: base, of: log) else {
                    found.close()
                    continue
                }
                best?.close()
                best = found
            } catch {
                // The folder may have anything. It matters if nothing else fits.
                failure = failure ?? error
            }
        }
        guard let best else {
            throw failure
                ?? .lacksArchive(path: log.path, archive: folder, through: base.sequence)
        }
        return ArchivedLog(log, at: base.sequence, try withEarlier(best, in: folder))
    }

    /// Returns an archive with the archives before it, as far as the folder has them.
    private static func withEarlier(
        _ archive: LMDBLog, in folder: String
    ) throws(LogError) -> any LogStorage {
        guard let base = archive.base else { return archive }
        do throws(LogError) { return try pair(archive, base, in: folder) } catch {
            return archive
        }
    }

    /// The folder's logs, without the log itself.
    private static func candidates(
        beside path: String, in folder: String
    ) throws(LogError) -> [String] {
        try LMDBLog.translating(folder) { () throws(LMDBError) in
            try Platform.names(in: folder).sorted().map { "\(folder)/\($0)" }
                .filter { $0 != path && (try? Platform.fileSize("\($0)/data.mdb")) != nil }
        }
    }

    // MARK: Reading

    package var base: LogBase? { archive.base }

    package func requireUsable() throws(LogError) {
        try log.requireUsable()
        try archive.requireUsable()
    }

    package func read(_ body: (any StorageSnapshot) -> Void) throws(LogError) {
        var failure: LogError?
        try archive.read { old in
            do throws(LogError) {
                try log.read { new in
                    body(
                        ArchivedSnapshot(
                            new: new, old: old, cut: cut, first: archive.baseSequence.next))
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
    }

    package func close() {
        log.close()
        closeArchive()
    }

    func closeArchive() { archive.close() }
}

private struct ArchivedSnapshot: StorageSnapshot {
    let new: any StorageSnapshot
    let old: any StorageSnapshot
    let cut: LogSequence
    /// The first entry of both together.
    let first: LogSequence

    func open(_ table: LogTable) throws(LogError) -> any StorageTable {
        switch table {
        case .entries:
            JoinedTable(
                old: try old.open(table), new: try new.open(table), first: LogKey(cut.next))
        // The base is a checkpoint at the cut. After it, the archive may have gone on by itself.
        case .checkpoints:
            JoinedTable(
                old: try old.open(table), new: try new.open(table),
                first: LogKey(CheckpointKey(manifestAt: cut)))
        case .kept: try old.open(table)
        default: try new.open(table)
        }
    }

    func count(of table: LogTable) throws(LogError) -> Int {
        switch table {
        case .entries:
            Int(clamping: cut.value - first.value + 1) + (try new.count(of: .entries))
        case .checkpoints, .kept: try old.count(of: table)
        default: try new.count(of: table)
        }
    }
}

/// A table of the archive before a key, and then the same table of the log.
private struct JoinedTable: StorageTable {
    let old: any StorageTable
    let new: any StorageTable
    /// The first key that the log answers for.
    let first: LogKey

    func get(_ key: LogKey) throws(LogError) -> FoundValue? {
        try (key < first ? old : new).get(key)
    }

    func scan(
        _ range: ScanRange, _ body: (LogKey, FoundValue) -> Bool
    ) throws(LogError) {
        var goesOn = true
        switch range {
        case .forwards(let start):
            if start < first {
                try old.scan(range) { key, value in
                    guard key < first else { return false }
                    goesOn = body(key, value)
                    return goesOn
                }
            }
            if goesOn { try new.scan(.forwards(from: max(start, first)), body) }
        case .backwards(let end):
            if end.map({ $0 > first }) ?? true {
                try new.scan(range) { key, value in
                    guard key >= first else { return false }
                    goesOn = body(key, value)
                    return goesOn
                }
            }
            if goesOn {
                try old.scan(.backwards(before: end.map { min($0, first) } ?? first), body)
            }
        }
    }

    func lastKey() throws(LogError) -> LogKey? {
        var last: LogKey?
        try scan(.backwards(before: nil)) { key, _ in
            last = key
            return false
        }
        return last
    }
}

extension LMDBLog {
    /// Whether the log has the entries that another log lacks, up to its base.
    ///
    /// An archive that was opened for writing goes on under another replica id (L11). Its entries up to
    /// the base are the same.
    fileprivate func hasEntries(
        before base: LogBase, of log: LMDBLog
    ) throws(LogError) -> Bool {
        guard header.kind == log.header.kind, baseSequence < base.sequence,
            header.replicas.names.first == log.header.replicas.names.first,
            let record = try record(at: base.sequence)
        else { return false }
        return Record.checksum(of: record) == base.chain
    }
}
