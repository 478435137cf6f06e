import FoldbackLMDB

/// The compacted form of a log beside it, until it takes the log's place.
///
/// ```
///  closed log ─▶ verify ─▶ fold to F ─▶ fill NAME.compacted ─▶ verify that ─▶ exchange the names
///  killed before the exchange: the old log, and a directory that the next compaction removes
///  killed after it: the new log, and the old one as NAME.compacted, which the next compaction archives
///                   or removes
/// ```
package enum CompactedLog {
    /// Returns the path of the compacted form of the log at `path`.
    static func path(of path: String) -> String { "\(Platform.trimmed(path)).compacted" }

    /// Removes what a compaction of the log left beside it. Leaves any other log alone, and, if one of
    /// the two cannot be read, both. Blocks.
    ///
    /// - Throws: `.locked`, `.notALog`, `.unsafeFile`, `.storage`; nothing was changed.
    ///   `.unfinishedWipes`.
    static func remove(beside held: HeldDirectory) throws(LogError) {
        guard let found = try Wiping.hold(Self.path(of: held.path)) else { return }
        do throws(LogError) {
            let (form, log) = (try Wiping.header(of: found), try Wiping.header(of: held))
            guard form.map({ $0.isOfForm(of: log) }) ?? true else { return }
        } catch {
            switch error {
            case .damaged, .newerFormat: return
            default: throw error
            }
        }
        if let left = try Wiping.discard(found) { throw .unfinishedWipes([left]) }
    }

    /// Whether a directory has a form of the log, or a log without a commit.
    static func isFormOf(_ log: LMDBLog, _ found: HeldDirectory) throws(LogError) -> Bool {
        try Wiping.header(of: found)?.isOfForm(of: log.header) ?? true
    }

    /// Finishes a compaction that was cut off: archives or removes the old log, or removes a new log that
    /// never took its place.
    ///
    /// - Parameter log: the log at `path`.
    /// - Throws: `.needsArchive` if the old log is the only one that has its history; `.notALog` if
    ///   another log has the place; `.damaged`, `.newerFormat` if it cannot be read. It stays.
    static func finish(beside log: LMDBLog, archive: String?) throws(LogError) {
        guard let held = try Wiping.hold(path(of: log.path)) else { return }
        guard try isFormOf(log, held) else {
            throw .notALog(path: held.path, reason: "another log has this name")
        }
        let base = try Wiping.reading(held) { found in found.baseSequence }
        // What begins before the log is what the log was made from.
        if let base, base < log.baseSequence {
            guard archive != nil || log.header.kind == .downlink else {
                throw .needsArchive(path: log.path)
            }
            try dispose(held, of: log.path, from: base, through: log.baseSequence, archive)
        } else if let left = try Wiping.discard(held) {
            throw .unfinishedWipes([left])
        }
    }

    /// Checks that the old log can be moved into the archive.
    ///
    /// - Throws: `.storage` if the folder is on another file system, or has a log of this name.
    static func requireArchive(
        _ archive: String?, of path: String, from base: LogSequence, through newBase: LogSequence
    ) throws(LogError) {
        guard let archive else { return }
        let target = place(in: archive, of: path, from: base, through: newBase)
        try LMDBLog.translating(target) { () throws(LMDBError) in
            try Platform.prepareMove(of: path, into: archive, as: target)
        }
    }

    private static func place(
        in archive: String, of path: String, from base: LogSequence, through newBase: LogSequence
    ) -> String {
        let name = Platform.trimmed(path).split(separator: "/").last ?? "log"
        return "\(archive)/\(name)-\(base.next)-\(newBase)"
    }

    /// Puts the compacted log in the place of the log, and archives or removes that.
    ///
    /// Both are closed. The log is complete in one of the two places if this throws.
    ///
    /// - Parameters:
    ///   - last: the last entry of the log.
    ///   - facts: what ``LMDBLog/facts(at:)`` of the log was when the new one was made; nil if it is
    ///     what the new one has.
    ///   - base: where the log began.
    /// - Throws: `.locked` if another process has recorded entries, or has one of the logs open.
    package static func replace(
        logAt path: String, through last: LogSequence, expecting facts: [[UInt8]]? = nil,
        from base: LogSequence, to newBase: LogSequence, archive: String?
    ) throws(LogError) {
        let newPath = Self.path(of: path)
        guard let old = try Wiping.hold(path) else { throw .missing(path: path) }
        guard let new = try Wiping.hold(newPath) else { throw .missing(path: newPath) }
        // In the meantime, a store may have opened the log: to record, to note that it sends an intent,
        // or to note what it has learned of the authority.
        let content: [[UInt8]]?
        if let facts {
            content = facts
        } else {
            content = try Wiping.reading(new) { log throws(LogError) in try log.facts(at: last) }
        }
        let found = try Wiping.reading(old) { log throws(LogError) in try log.facts(at: last) }
        guard let content, let found, content == found else {
            throw .locked(path: path, holder: .process(nil))
        }
        try LMDBLog.translating(path) { () throws(LMDBError) in
            try Platform.exchange(path, newPath)
            try Platform.syncParent(of: path)
        }
        try dispose(old, of: path, from: base, through: newBase, archive)
        withExtendedLifetime(new) {}
    }

    /// Removes a new log that never got its name, where no log is. Blocks.
    ///
    /// - Throws: `.notALog` if it has entries of its own. `.locked`, `.unsafeFile`, `.storage`;
    ///   `.unfinishedWipes`.
    static func removeUnused(beside path: String) throws(LogError) {
        guard let held = try Wiping.hold(Self.path(of: path)) else { return }
        let hasEntries = try Wiping.reading(held) { log throws(LogError) in
            guard let base = log.base else { return true }
            return UInt64(try log.recordCount()) > base.sequence.value
        }
        guard hasEntries != true else {
            throw .notALog(path: held.path, reason: "it is a log whose own name is gone")
        }
        if let left = try Wiping.discard(held) { throw .unfinishedWipes([left]) }
    }

    /// Gives a new log its name, where no log is.
    ///
    /// - Throws: `.locked` if another process has made a log there.
    static func name(logAt path: String) throws(LogError) {
        let newPath = Self.path(of: path)
        guard let new = try Wiping.hold(newPath) else { throw .missing(path: newPath) }
        let there = try Wiping.hold(path)
        if let there {
            let isUsed = try Wiping.reading(there) { _ in true } ?? false
            guard !isUsed else { throw .locked(path: path, holder: .process(nil)) }
        }
        try LMDBLog.translating(path) { () throws(LMDBError) in
            if there == nil { try new.move(to: path) } else { try Platform.exchange(path, newPath) }
            try Platform.syncParent(of: path)
        }
        if let there, let left = try Wiping.discard(there, at: newPath) {
            throw .unfinishedWipes([left])
        }
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
        let target = Self.place(in: archive, of: path, from: base, through: newBase)
        try LMDBLog.translating(target) { () throws(LMDBError) in
            // An archive that is opened for writing is a copy, and takes a fresh replica id (L11).
            try Platform.createEmpty("\(place)/mark")
            try Platform.move(place, into: archive, as: target)
        }
    }
}

extension LogHeader {
    /// Whether two logs are forms of one log: compacted, copied or not. Nil is a log without a commit.
    func isOfForm(of other: LogHeader?) -> Bool {
        replicas.names.first == other?.replicas.names.first
    }
}

extension LMDBLog {
    /// Returns what can change without a proof of it: the last record, and what is beside the entries.
    /// Empty if the log has entries after `last`.
    func facts(at last: LogSequence) throws(LogError) -> [[UInt8]] {
        guard try record(at: last.next) == nil else { return [] }
        // The last entry of a log that begins from states may never have been written.
        var facts = [last > baseSequence ? try record(at: last) ?? [] : base?.encoded ?? []]
        for table in [LogTable.attempts, .registered, .projections, .log] {
            try eachRow(of: table) { key, value in
                if table != .log || key.isSharedByForms { facts += [key.text, value] }
            }
        }
        return facts
    }
}

extension LogKey {
    /// Whether a log and its compacted form have the same row of table `log` at this key.
    var isSharedByForms: Bool {
        bytes != LogBase.key && bytes != KeyBytes(Array(LogHeader.key.utf8))
    }

    fileprivate var text: [UInt8] {
        switch self {
        case .number(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .bytes(let key): key.bytes
        }
    }
}
