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
            ArchivedEntries(
                new: try new.open(.entries), old: try old.open(.entries), cut: LogKey(cut))
        // They are where both together begin, and after that.
        case .checkpoints: ArchivedCheckpoints(old: try old.open(table), cut: cut)
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

/// The checkpoints of the archive up to the cut. After it, the archive may have gone on by itself.
private struct ArchivedCheckpoints: StorageTable {
    let old: any StorageTable
    let cut: LogSequence

    private func isThere(_ key: LogKey) -> Bool {
        // A key begins with its sequence, big-endian.
        key.bytes.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } <= cut.value
    }

    func get(_ key: LogKey) throws(LogError) -> FoundValue? {
        isThere(key) ? try old.get(key) : nil
    }

    func scan(_ range: ScanRange, _ body: (LogKey, FoundValue) -> Bool) throws(LogError) {
        try old.scan(range) { key, value in
            switch range {
            case .forwards: isThere(key) && body(key, value)
            case .backwards: isThere(key) ? body(key, value) : true
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

/// The entries of the archive up to the cut, and then those of the log.
private struct ArchivedEntries: StorageTable {
    let new: any StorageTable
    let old: any StorageTable
    /// The last entry that the archive answers for.
    let cut: LogKey

    func get(_ key: LogKey) throws(LogError) -> FoundValue? {
        try (key.number <= cut.number ? old : new).get(key)
    }

    func scan(
        _ range: ScanRange, _ body: (LogKey, FoundValue) -> Bool
    ) throws(LogError) {
        var goesOn = true
        func scanOld(_ range: ScanRange) throws(LogError) {
            try old.scan(range) { key, value in
                guard key.number <= cut.number else { return false }
                goesOn = body(key, value)
                return goesOn
            }
        }
        func scanNew(_ range: ScanRange) throws(LogError) {
            try new.scan(range) { key, value in
                goesOn = body(key, value)
                return goesOn
            }
        }
        switch range {
        case .forwards(let start):
            if start.number <= cut.number { try scanOld(range) }
            if goesOn { try scanNew(range) }
        case .backwards(let end):
            if end.map({ $0.number > cut.number }) ?? true { try scanNew(range) }
            let after = LogKey.number(cut.number + 1)
            if goesOn {
                try scanOld(
                    .backwards(before: end.map { $0.number < after.number ? $0 : after } ?? after))
            }
        }
    }

    func lastKey() throws(LogError) -> LogKey? { try new.lastKey() ?? cut }
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
