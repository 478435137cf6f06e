/// A settled intent that a command names, with its row.
package struct SettledIntentRow: Sendable {
    let row: SettlementRow
    let intent: SettledIntent
}

/// Finds the settled intents that one command depends on. Each is read once. Rows of the transaction
/// in preparation come before rows of the last commit.
final class SettledIntentFinder {
    /// The intents that were found.
    private(set) var found: [IntentNumber: SettledIntentRow] = [:]
    private let storage: any LogStorage
    private let codec: any PayloadCodec
    private var uncommitted: WriteBatch

    init(in storage: any LogStorage, _ codec: any PayloadCodec, uncommitted: WriteBatch) {
        self.storage = storage
        self.codec = codec
        self.uncommitted = uncommitted
    }

    /// The intents, as a decision asks for them.
    var intents: SettledIntents {
        let replicas = storage.header.replicas
        return SettledIntents(isOwn: replicas.has) { number throws(LogError) in
            try self.find(number).intent
        }
    }

    /// Returns an intent that was recorded and is not in the overlay.
    ///
    /// - Throws: `.damaged` if a row says that its intent is in the overlay; errors of reading the
    ///   row.
    func find(_ number: IntentNumber) throws(LogError) -> SettledIntentRow {
        if let known = found[number] { return known }
        let stored = try storage.foundIntent(number, codec: codec, uncommitted: uncommitted)
        guard let settlement = stored.row.settlement else {
            throw .damaged(
                path: storage.path, sequence: nil,
                reason: "intent \(number) should be in the overlay and is not")
        }
        // Decisions on undone and redone actions ask how an intent was withdrawn (F21).
        let change: IntentChange? =
            settlement == .withdrawn ? try self.change(at: stored.row.settlementSequence) : nil
        let settled =
            stored.recorded.map {
                SettledIntent(recorded: $0, settlement: settlement, change: change)
            } ?? SettledIntent(compacted: stored.id, settlement: settlement)
        let intent = SettledIntentRow(row: stored.row, intent: settled)
        found[number] = intent
        return intent
    }

    /// Ends reading, so that the batch is not copied when it grows.
    func finish() { uncommitted = WriteBatch() }

    /// Returns a kept inverse with its event.
    func payload(of kept: RecordedEvent) -> Payload {
        codec.payload(reading: kept.bytes, format: kept.format)
    }

    // MARK: What became of an intent

    /// Returns whether an intent was a draft, and still held when it was withdrawn (F22).
    ///
    /// - Complexity: for a draft, reads the entries in between.
    func wasHeld(_ number: IntentNumber) throws(LogError) -> Bool {
        let draft = try find(number)
        guard try draft.intent.requireRecorded().terms.isHeld else { return false }
        return try firstEntry(between: draft.row) {
            if case .changed(number, .released) = $0 { true } else { false }
        } == nil
    }

    /// Returns whether the authority applied another event for a confirmed intent than the one that
    /// was recorded (F21).
    ///
    /// - Complexity: one entry, if it acknowledges the intent or has an event that names it. Else the
    ///   entries in between: the acknowledgement is one of them.
    func wasReworded(_ number: IntentNumber) throws(LogError) -> Bool {
        let (row, intent) = (try find(number).row, try find(number).intent.requireRecorded())
        func isOther(_ answer: Acknowledged) -> Bool {
            answer.replacement.map { !isSame($0, intent.payload) } ?? false
        }
        let settling: Entry
        do throws(LogError) {
            settling = try entry(at: row.settlementSequence)
        } catch .compacted {
            throw .compactedIntent(number, row.settlement?.state ?? .confirmed)
        }
        switch settling {
        case .acknowledged(let answer): return isOther(answer)
        case .confirmed(let batch):
            let events = batch.events.filter { $0.origin == intent.id }
            guard events.isEmpty else {
                return events.count > 1 || !isSame(events[0].payload, intent.payload)
            }
        case .intent, .changed: break
        }
        let acknowledgement = try firstEntry(between: row) {
            if case .acknowledged(let answer) = $0 { answer.number == number } else { false }
        }
        guard case .acknowledged(let answer) = acknowledgement else { return false }
        return isOther(answer)
    }

    private func isSame(_ a: Payload, _ b: Payload) -> Bool {
        a.compared(by: codec.comparison).isSame(as: b)
    }

    private func change(at sequence: LogSequence) throws(LogError) -> IntentChange? {
        do throws(LogError) {
            guard case .changed(_, let change) = try entry(at: sequence) else { return nil }
            return change
        } catch .compacted {
            // Only what was taken back before it was sent is not kept (C4).
            return nil
        }
    }

    private func firstEntry(
        between row: SettlementRow, where isWanted: (Entry) -> Bool
    ) throws(LogError) -> Entry? {
        var sequence = row.intentSequence.next
        while sequence < row.settlementSequence {
            do throws(LogError) {
                let entry = try entry(at: sequence)
                if isWanted(entry) { return entry }
            } catch .compacted {
                // A kept intent has all of its entries, so this one was about others (C4).
            }
            sequence = sequence.next
        }
        return nil
    }

    private func entry(at sequence: LogSequence) throws(LogError) -> Entry {
        let pending = uncommitted.record(at: sequence)
        guard let bytes = pending != nil ? pending : try storage.record(at: sequence) else {
            throw .damaged(path: storage.path, sequence: sequence, reason: "the record is missing")
        }
        do throws(FormatError) {
            return try Record.decoded(
                bytes, at: sequence, predecessor: nil, replicas: storage.header.replicas,
                codec: codec
            ).record.entry
        } catch {
            throw LogError(error, at: storage.path, sequence: sequence)
        }
    }
}
