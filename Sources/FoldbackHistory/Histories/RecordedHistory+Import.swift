import Foldback
import FoldbackCollections

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RecordedHistory where Event == [UInt8] {
    /// Creates a log from the history, with the same views, overlay, intent states and used
    /// numbers. New intents belong to another replica, so no id is used twice.
    ///
    /// A history does not say which pending intents were sent, so the log treats all of them as
    /// sent. The outbox sends them again under their own ids, and withdrawing one throws
    /// `.mayHaveLeft`. Held drafts are not sent (F22), and neither are intents that undo a pending
    /// intent (F21).
    ///
    /// - Parameter directory: the directory of a log that does not exist yet or has no entries.
    /// - Throws: `.doesNotFollow` at the first gap; `.log` with `.notEmpty`, with `.kindDiffers` if a
    ///   log of the other kind exists, with `.locked` or `.storage`. Nothing was imported.
    /// - Complexity: one transaction, so a process that dies does not leave a log that looks
    ///   complete. O(n) memory.
    public func importLog(into directory: URL) async throws(HistoryError) {
        try requireWhole()
        do throws(LogError) {
            try await LMDBLog.create(
                directory.logPath(), kind: kind, earlier: replicas
            ) { log throws(LogError) in
                let batch = try batch(in: log.header.replicas, isSent: true)
                do throws(StorageFailure) { try log.write(batch) } catch { throw error.unwritten }
            }
        } catch {
            throw .log(error)
        }
    }

    /// Checks whether ``importLog(into:)`` could begin. Changes nothing.
    ///
    /// - Throws: the errors of ``importLog(into:)``.
    public func checkImport(into directory: URL) throws(HistoryError) {
        try requireWhole()
        try HistoryError.converting { () throws(LogError) in
            try LMDBLog.checkImport(into: directory.logPath(), of: kind)
        }
    }
}

extension RecordedHistory {
    /// The replicas of the entries, in the order of their first entries, with the present replica
    /// last.
    var replicas: [ReplicaID] {
        var names: [ReplicaID] = []
        for record in records where !names.contains(record.replica) && record.replica != replica {
            names.append(record.replica)
        }
        return names + [replica]
    }

    /// Requires that a log could have exactly these entries.
    ///
    /// - Throws: `.doesNotFollow` at the first gap.
    fileprivate func requireWhole() throws(HistoryError) {
        var sequence: LogSequence = 0
        var number: IntentNumber = 0
        for record in records {
            guard record.stamp.sequence == sequence.next else {
                throw .doesNotFollow(
                    record.stamp.sequence,
                    reason: "a log has no gaps, and the previous sequence is \(sequence)")
            }
            sequence = record.stamp.sequence
            guard case .intent(let intent) = record.entry else { continue }
            guard intent.number == number.next else {
                throw .doesNotFollow(
                    sequence, reason: "a log has no gaps, and the previous intent is \(number)")
            }
            number = intent.number
        }
    }

    /// Returns the history without gaps: sequences and numbers count 1, 2, 3, … Ids that
    /// projections make from a context change (F12). If an event names a removed intent whose id
    /// another intent now has, the event loses its origin.
    public func closed() throws(HistoryError) -> RecordedHistory {
        let entries = entries
        var renumbering = Renumbering()
        for entry in entries {
            renumbering.number(entry, IntentNumber(UInt64(renumbering.numbers.count + 1)))
        }
        let closed = entries.enumerated().map { place, entry in
            Record(renumbering.made(of: entry, at: LogSequence(UInt64(place + 1))))
        }
        return try RecordedHistory(
            kind: kind, replica: replica, records: closed,
            shared: shared.moved { start in
                LogSequence(UInt64(sequences.partitioningIndex { $0 > start }))
            }, codec: codec)
    }

    /// Returns the writes that fill an empty log with these entries, as if a store had recorded and
    /// applied them.
    ///
    /// - Parameters:
    ///   - replicas: contains the history's ``replicas``.
    ///   - isSent: whether pending intents count as sent.
    func batch(
        in replicas: ReplicaTable, isSent: Bool = false
    ) throws(LogError) -> WriteBatch {
        let nothing = MemoryLog(kind: kind, replicas: replicas)
        var working = WorkingLog(
            LogFold(kind: kind, replica: replica), replicas: replicas)
        var recorded: Set<IntentNumber> = []
        for record in records {
            let named = record.entry.named(in: replicas).filter(recorded.contains)
            if case .intent(let intent) = record.entry { recorded.insert(intent.number) }
            working.appendEntry(
                record.entry, time: record.stamp.time,
                subjects: try working.lookUpSettled(named, in: nothing, codec),
                at: record.stamp.sequence, replica: record.replica)
        }
        guard isSent else { return sharing(working.batch) }
        for intent in working.fold.state.sentElsewhere(where: { _ in true }) {
            let attempt = Attempt(count: 1, startedAt: intent.time)
            _ = working.recordAttempts([intent.number: attempt])
        }
        return sharing(working.batch)
    }

    /// Returns the batch with the note of the projections that share their conflicts.
    private func sharing(_ batch: WriteBatch) -> WriteBatch {
        var batch = batch
        if !shared.isEmpty { batch.writeSharedConflicts(shared) }
        return batch
    }
}

extension Entry {
    /// The intents of the log that the entry refers to, except its own intent.
    fileprivate func named(in replicas: ReplicaTable) -> [IntentNumber] {
        switch self {
        case .intent(let intent): intent.retries.map { [$0] } ?? []
        case .acknowledged(let answer): [answer.number]
        case .changed(let number, _): [number]
        case .confirmed(let batch):
            batch.events.compactMap { event in
                event.origin.flatMap { replicas.has($0.replica) ? $0.number : nil }
            }
        }
    }
}
