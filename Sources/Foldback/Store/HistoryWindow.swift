#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// How much of a log's history a compaction keeps (C5).
public enum HistoryWindow: Hashable, Sendable {
    /// This many of the last entries, from 1 up.
    case entries(Int)
    /// The entries of this many last days, from 1 up, by the latest time that any entry before has: a clock that was set
    /// back removes nothing early.
    case days(Int)
    /// All entries: nothing is removed.
    case everything

    /// Traps if the window is below 1.
    func requireUsable() {
        switch self {
        case .entries(let count), .days(let count):
            precondition(count >= 1, "a window is from 1 up, not \(count)")
        case .everything: break
        }
    }

    /// Whether an entry is outside of the window.
    ///
    /// - Parameters:
    ///   - time: the latest time that it or any entry before it has.
    ///   - last: the log's last entry.
    func isOld(
        _ sequence: LogSequence, _ time: Timestamp, last: LogSequence, now: Timestamp
    ) -> Bool {
        switch self {
        case .everything: false
        case .entries(let count): last.value - sequence.value >= UInt64(count)
        case .days(let days):
            now.millisecondsSince1970.subtractingReportingOverflow(time.millisecondsSince1970)
                .partialValue > Int64(days).multipliedReportingOverflow(by: 86_400_000).partialValue
        }
    }

    /// Returns the last entry that a compaction of the log would remove, with the latest time up to it; nil
    /// if there is none. At least one entry stays.
    ///
    /// - Parameters:
    ///   - limit: the first entry with an event that the code does not read, or only in part.
    ///   - now: the present time.
    /// - Returns: also why the window alone does not decide: see ``Compaction/held``.
    /// - Complexity: reads the headers of the entries that go.
    func end(
        in log: any LogStorage, before limit: LogSequence?, now: Timestamp
    ) throws(LogError) -> (end: (sequence: LogSequence, time: Timestamp)?, held: [String]) {
        let last = LogSequence(UInt64(try log.recordCount()))
        guard let old = try oldEntries(of: log, upTo: last, last: last, now: now) else {
            return (nil, [])
        }
        if let reason = try KeptLogs.reasonToStay(of: log.path) { return (nil, [reason]) }
        guard let limit, limit <= old.sequence else { return (old, []) }
        return (
            try oldEntries(of: log, upTo: limit, last: last, now: now),
            ["entry \(limit) has an event that this code does not read, or only in part"]
        )
    }

    /// Returns the last entry before `end` that is outside of the window, with the latest time up to it.
    private func oldEntries(
        of log: any LogStorage, upTo end: LogSequence, last: LogSequence, now: Timestamp
    ) throws(LogError) -> (sequence: LogSequence, time: Timestamp)? {
        var found: (sequence: LogSequence, time: Timestamp)?
        var time = log.base?.time ?? Timestamp(millisecondsSince1970: .min)
        var next = log.baseSequence.next
        while next < end {
            let records = try log.records(from: next, countMax: Limits.readCountMax)
            guard !records.isEmpty else { throw log.missing(next) }
            for (sequence, bytes) in records {
                guard sequence < end else { return found }
                guard let own = Record.time(of: bytes) else {
                    throw .damaged(
                        path: log.path, sequence: sequence, reason: "the record is too short")
                }
                time = max(time, own)
                guard isOld(sequence, time, last: last, now: now) else { return found }
                found = (sequence, time)
                next = sequence.next
            }
        }
        return found
    }
}

/// What a compaction did, or would do.
public struct Compaction: Hashable, Sendable {
    /// The last entry that is removed, by this compaction or an earlier one; 0 if none is.
    public let base: LogSequence
    /// The number of entries that it removes.
    public let removed: Int
    /// Why not more can be removed, in words for a developer; empty if the window is all that is kept.
    /// The code does not read an event, or a superseded log is kept beside the log
    /// (``LogDirectory/keptLogs()``).
    public let held: [String]
}

extension LogStorage {
    /// Returns what a compaction with this window would remove.
    ///
    /// - Parameters:
    ///   - limit: the first entry with an event that the code does not read, or only in part.
    ///   - now: the present time.
    package func removable(
        keeping window: HistoryWindow, before limit: LogSequence?, now: Timestamp
    ) throws(LogError) -> Compaction {
        window.requireUsable()
        let (end, held) = try window.end(in: self, before: limit, now: now)
        let base = end?.sequence ?? baseSequence
        return Compaction(
            base: base, removed: Int(clamping: base.value - baseSequence.value), held: held)
    }
}

extension Store {
    /// Returns what ``compact(at:_:also:keeping:archive:forgetting:sources:)`` with this window would
    /// remove now, and what holds the rest. Changes nothing.
    ///
    /// Blocks. May be called from any task. Traps if the window is below 1.
    ///
    /// - Parameters:
    ///   - window: the window of the compaction.
    ///   - sources: the source of the present time.
    /// - Throws: `.closed`, `.damaged`, `.newerFormat`, `.storage`.
    /// - Complexity: reads the headers of the entries that go.
    public func removable(
        keeping window: HistoryWindow, sources: LogSources = .system
    ) throws(LogError) -> Compaction {
        let published = core.published
        return try core.storage.removable(
            keeping: window,
            before: [published.unread.first, published.partlyRead.first].compactMap(\.self).min(),
            now: sources.now())
    }
}
