import FoldbackLMDB

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Foldback {
    /// Makes a log of a history: the same views, overlay, states of intents and numbers that are used. New intents
    /// are another replica's, so that no id is ever given twice.
    ///
    /// - Parameters:
    ///   - history: without gaps; see ``RecordedHistory/closed()``.
    ///   - directory: of a log that is not there yet, or has no entries.
    /// - Throws: `.notEmpty`, `.doesNotFollow` at the first gap, `.kindDiffers` where there is a log of the
    ///   other kind, `.locked`, `.storage`. Where writing fails, the log has the first entries.
    public static func importHistory(
        _ history: RecordedHistory<[UInt8]>, into directory: URL
    ) async throws(FoldbackError) {
        try await Platform.onThread { () throws(FoldbackError) in
            try makeLog(of: history, in: directory)
        }
    }

    /// The same on the calling thread.
    package static func makeLog(
        of history: RecordedHistory<[UInt8]>, in directory: URL
    ) throws(FoldbackError) {
        let path = directory.path
        try checkImport(history, into: directory)
        let log = try LMDBLog.open(
            path, kind: nil, newKind: history.kind, replica: nil, earlier: history.replicas,
            options: Durability.durable.options, freshReplica: LogSources.system.freshReplica)
        defer { log.close() }
        guard log.header.kind == history.kind else {
            throw .kindDiffers(path: path, existing: log.header.kind, asked: history.kind)
        }
        var importer = Importer(log, history.codec)
        for record in history.records { try importer.take(record) }
        try importer.write()
    }

    /// Whether ``importHistory(_:into:)`` would begin; it throws what that would.
    public static func checkImport(
        _ history: RecordedHistory<[UInt8]>, into directory: URL
    ) throws(FoldbackError) {
        try history.requireWhole()
        try requireEmpty(directory.path)
    }

    private static func requireEmpty(_ path: String) throws(FoldbackError) {
        let log: LMDBLog
        do throws(FoldbackError) { log = try LMDBLog.openReadOnly(path) } catch {
            guard case .missing = error else { throw error }
            return
        }
        defer { log.close() }
        let count = try log.recordCount()
        guard count == 0 else { throw .notEmpty(path: path, entryCount: count) }
    }
}

extension RecordedHistory {
    /// Those whose entries it has, in order of their first, the present one last.
    var replicas: [ReplicaID] {
        var names: [ReplicaID] = []
        for record in records where !names.contains(record.replica) && record.replica != replica {
            names.append(record.replica)
        }
        return names + [replica]
    }

    /// Whether a log could have just these entries.
    package func requireWhole() throws(FoldbackError) {
        var sequence: LogSequence = 0
        var number: IntentNumber = 0
        for record in records {
            guard record.stamp.sequence == sequence.next else {
                throw .doesNotFollow(
                    record.stamp.sequence,
                    reason: "a log has no gaps, and the one before is \(sequence)")
            }
            sequence = record.stamp.sequence
            guard case .intent(let intent) = record.entry else { continue }
            guard intent.number == number.next else {
                throw .doesNotFollow(
                    sequence, reason: "a log has no gaps, and the intent before is \(number)")
            }
            number = intent.number
        }
    }

    /// The same without gaps: sequences and numbers from 1 up. Ids that projections make of a context differ
    /// from those before (F12).
    public func closed() throws(FoldbackError) -> RecordedHistory {
        var numbers: [IntentNumber: IntentNumber] = [:]
        var closed: [LogEntry<Event>] = []
        for entry in entries {
            if case .intent(let number, _, _, _, _) = entry.content {
                numbers[number] = IntentNumber(UInt64(numbers.count + 1))
            }
            closed.append(
                entry.numbered(
                    LogSequence(UInt64(closed.count + 1)), numbers, nil, replicas: Set(replicas)))
        }
        return try RecordedHistory(
            kind: kind, replica: replica, records: closed.map { Record($0) }, codec: codec)
    }
}

/// Writes entries as a store would have, in bounded transactions.
private struct Importer {
    private let log: LMDBLog
    private let codec: any PayloadCodec
    private var working: WorkingLog

    init(_ log: LMDBLog, _ codec: any PayloadCodec) {
        self.log = log
        self.codec = codec
        working = WorkingLog(
            LogFold(of: log, folds: []), attempts: Attempts(), replicas: log.header.replicas)
    }

    mutating func take(_ record: Record) throws(FoldbackError) {
        let subjects = try working.settled(
            record.entry.named(in: log.header.replicas), in: log, codec)
        working.append(
            record.entry, time: record.stamp.time, subjects: subjects, replica: record.replica)
        if working.batch.records.count >= Limits.commitCountMax
            || working.batch.bytes >= Limits.commitBytesMax
        {
            try write()
        }
    }

    mutating func write() throws(FoldbackError) {
        do throws(StorageFailure) { try log.write(working.batch) } catch { throw .storage(error) }
        working.begin(isWatched: false)
    }
}

extension Entry {
    /// The intents of the log that the entry is about, beside its own.
    fileprivate func named(in replicas: ReplicaTable) -> [IntentNumber] {
        switch self {
        case .intent(let intent): intent.retries.map { [$0] } ?? []
        case .acknowledged(let answer): [answer.number]
        case .rejected(let number, _), .withdrawn(let number), .dismissed(let number): [number]
        case .confirmed(let batch):
            batch.events.compactMap { event in
                event.origin.flatMap { replicas.has($0.replica) ? $0.number : nil }
            }
        }
    }
}
