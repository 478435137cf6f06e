import FoldbackLMDB

/// The compacted form of a log beside it, until it takes the log's place.
///
/// ```
///  closed log ─▶ verify ─▶ fold to F ─▶ fill NAME.compacted ─▶ verify that ─▶ exchange the names
///  killed before the exchange: the old log, and a directory that the next compaction removes
///  killed after it: the new log, and the old one as NAME.compacted, which the next compaction archives
///                   or removes
/// ```
enum CompactedLog {
    /// Returns the path of the compacted form of the log at `path`.
    static func path(of path: String) -> String { "\(Platform.trimmed(path)).compacted" }

    /// Removes what a compaction of the log left beside it. Blocks.
    ///
    /// - Throws: `.locked`, `.notALog`, `.unsafeFile`, `.storage`; nothing was changed.
    ///   `.unfinishedWipes`.
    static func remove(beside path: String) throws(LogError) {
        guard let held = try Wiping.hold(Self.path(of: path)) else { return }
        if let left = try Wiping.discard(held) { throw .unfinishedWipes([left]) }
    }

    /// Finishes a compaction that was cut off: archives or removes the old log, or removes a new log that
    /// never took its place.
    ///
    /// - Parameter log: the log at `path`.
    static func finish(beside log: LMDBLog, archive: String?) throws(LogError) {
        guard let held = try Wiping.hold(path(of: log.path)) else { return }
        let base = try Wiping.reading(held) { found in found.baseSequence }
        // What begins before the log is what the log was made from.
        if let base, base < log.baseSequence {
            try dispose(held, of: log.path, from: base, through: log.baseSequence, archive)
        } else if let left = try Wiping.discard(held) {
            throw .unfinishedWipes([left])
        }
    }

    /// Puts the compacted log in the place of the log, and archives or removes that.
    ///
    /// Both are closed. The log is complete in one of the two places if this throws.
    ///
    /// - Parameters:
    ///   - last: the last entry of both.
    ///   - base: where the log began.
    /// - Throws: `.locked` if another process has recorded entries, or has one of the logs open.
    static func replace(
        logAt path: String, through last: LogSequence, from base: LogSequence,
        to newBase: LogSequence, archive: String?
    ) throws(LogError) {
        let newPath = Self.path(of: path)
        guard let old = try Wiping.hold(path) else { throw .missing(path: path) }
        guard let new = try Wiping.hold(newPath) else { throw .missing(path: newPath) }
        let record = try Wiping.reading(new) { log throws(LogError) in try log.record(at: last) }
        let found = try Wiping.reading(old) { log throws(LogError) in
            try log.record(at: last.next) == nil ? try log.record(at: last) : nil
        }
        guard let record, let found, record == found else {
            throw .locked(path: path, holder: .process(nil))
        }
        try LMDBLog.translating(path) { () throws(LMDBError) in
            try Platform.exchange(path, newPath)
            try Platform.syncParent(of: path)
        }
        try dispose(old, of: path, from: base, through: newBase, archive)
        withExtendedLifetime(new) {}
    }

    /// Moves the old log, which is at the place of the compacted form now, into the archive, or removes
    /// it.
    private static func dispose(
        _ old: HeldDirectory, of path: String, from base: LogSequence, through newBase: LogSequence,
        _ archive: String?
    ) throws(LogError) {
        let place = Self.path(of: path)
        guard let archive else {
            if let left = try Wiping.discard(old, at: place) { throw .unfinishedWipes([left]) }
            return
        }
        let name = Platform.trimmed(path).split(separator: "/").last ?? "log"
        let target = "\(archive)/\(name)-\(base.next)-\(newBase)"
        try LMDBLog.translating(target) { () throws(LMDBError) in
            try Platform.move(place, into: archive, as: target)
        }
    }
}
