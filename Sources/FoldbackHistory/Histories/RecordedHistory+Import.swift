import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RecordedHistory where Event == [UInt8] {
    /// Makes a log of a history: the same views, overlay, states of intents and numbers that are used. New intents
    /// are another replica's, so that no id is ever given twice.
    ///
    /// A history does not say which pending intents were sent, so the log takes all of them for sent: the outbox
    /// sends them again under their own ids, and withdrawing one throws `.mayHaveLeft`.
    ///
    /// - Parameters:
    ///   - directory: of a log that is not there yet, or has no entries.
    /// - Throws: `.notEmpty`, `.doesNotFollow` at the first gap, `.kindDiffers` where there is a log of the
    ///   other kind, `.locked`, `.storage`; nothing was imported.
    /// - Complexity: one transaction, so that a process that dies leaves no log that looks whole. O(n) memory.
    public func importLog(into directory: URL) async throws(FoldbackError) {
        try requireWhole()
        try await LMDBLog.create(
            directory.path, kind: kind, earlier: replicas
        ) { replicas throws(FoldbackError) in try batch(in: replicas, isSent: true) }
    }

    /// Whether ``importLog(into:)`` would begin. Changes nothing.
    ///
    /// - Throws: what that would.
    public func checkImport(into directory: URL) throws(FoldbackError) {
        try requireWhole()
        try LMDBLog.checkImport(into: directory.path, of: kind)
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
    fileprivate func requireWhole() throws(FoldbackError) {
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
    /// from those before (F12); an event whose intent was taken out is nobody's.
    public func closed() throws(FoldbackError) -> RecordedHistory {
        let entries = entries
        var renumbering = Renumbering()
        for entry in entries {
            renumbering.number(entry, IntentNumber(UInt64(renumbering.numbers.count + 1)))
        }
        let closed = entries.enumerated().map { place, entry in
            Record(renumbering.made(of: entry, at: LogSequence(UInt64(place + 1))))
        }
        return try RecordedHistory(kind: kind, replica: replica, records: closed, codec: codec)
    }

    /// What a log without entries gets to have these, as if a store had recorded and taken them.
    ///
    /// - Parameters:
    ///   - replicas: with those of the history.
    ///   - isSent: whether pending intents count as sent.
    func batch(
        in replicas: ReplicaTable, isSent: Bool = false
    ) throws(FoldbackError) -> WriteBatch {
        let nothing = MemoryLog(kind: kind, replicas: replicas)
        var working = WorkingLog(
            LogFold(kind: kind, replica: replica, folds: []), attempts: Attempts(),
            replicas: replicas)
        var recorded: Set<IntentNumber> = []
        for record in records {
            let named = record.entry.named(in: replicas).filter(recorded.contains)
            if case .intent(let intent) = record.entry { recorded.insert(intent.number) }
            working.appendEntry(
                record.entry, time: record.stamp.time,
                subjects: try working.lookUpSettled(named, in: nothing, codec),
                at: record.stamp.sequence, replica: record.replica)
        }
        guard isSent else { return working.batch }
        for (number, intent) in working.fold.state.overlay where intent.state == .pending {
            let attempt = Attempt(count: 1, startedAt: intent.recorded.time)
            _ = working.recordAttempts([number: attempt])
        }
        return working.batch
    }
}

extension Entry {
    /// The intents of the log that the entry is about, beside its own.
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
