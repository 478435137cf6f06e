/// The log as it will be after the transaction that is being prepared. Until the commit, it is
/// ahead of the published state. After a failed commit, the writer discards it: the writer restores
/// the earlier value, or latches the store (L6).
package struct WorkingLog: Sendable {
    package internal(set) var fold: LogFold
    package private(set) var batch = WriteBatch()
    /// Intents whose state this transaction changes.
    package private(set) var answered: [IntentNumber] = []
    /// The position up to which the log shares events with an authority that an answer of this
    /// transaction came from, and that supersedes the log; nil if there is none (N6).
    private(set) var superseded: Position?
    private let replicas: ReplicaTable
    /// Notes of projections that the next transaction writes too.
    private var renewed: [RegisteredProjection]
    /// The time of the entries of requests that came together; nil if none has asked for it.
    private var time: Timestamp?
    /// Whether usual commands take the lean path (``PlainEntry``). Only a test that compares it with the
    /// general path says no.
    package var isLean = true

    package init(
        _ fold: LogFold, replicas: ReplicaTable, renewing renewed: [RegisteredProjection] = []
    ) {
        self.fold = fold
        self.replicas = replicas
        self.renewed = renewed
    }

    /// Begins a transaction with an empty batch.
    ///
    /// - Parameter isWatched: Whether the store has observers of changed rows.
    package mutating func beginTransaction(isWatched: Bool) {
        batch = WriteBatch()
        answered = []
        superseded = nil
        time = nil
        for index in fold.rows.indices { fold.rows[index].beginTransaction(isWatched: isWatched) }
    }

    /// Returns the time of the next entry. Reads the clock once for requests that came together.
    mutating func time(by clock: () -> Timestamp) -> Timestamp {
        let now = time ?? clock()
        time = now
        return now
    }

    /// Makes the next entry read the clock, because requests have joined that may be later.
    mutating func forgetTime() { time = nil }

    /// Checks that an answer comes from the authority that the log knows (N6).
    ///
    /// - Throws: `.superseded` if it is another authority, or has lost events.
    func requireSame(
        _ named: Lineage?, _ digest: NotedDigest? = nil
    ) throws(CommandError) {
        if let refusal = fold.state.refusal(ofAuthority: named, with: digest) {
            throw CommandError(refusal)
        }
    }

    /// Notes the refusal of a request if it says that the log is superseded.
    mutating func noteRefusal(_ error: CommandError) {
        if case .superseded(let shared) = error { superseded = shared }
    }

    /// Notes the first lineage that an answer names.
    mutating func noteLineage(_ named: Lineage?) {
        if let first = fold.state.noteLineage(named) { batch.writeLineage(first) }
    }

    /// Notes the authority's digest, unless the log covers another position.
    mutating func noteDigest(_ named: NotedDigest) {
        if fold.state.noteDigest(named) { batch.writeDigest(named) }
    }

    /// Forgets the authority's digest, so that it is not compared.
    mutating func forgetDigest() {
        if fold.state.forgetDigest() { batch.writeDigest(nil) }
    }

    /// Notes which faults a person has seen.
    mutating func noteSeenFaults(_ seen: SeenFaults) {
        if fold.state.noteSeenFaults(seen) { batch.writeSeenFaults(seen) }
    }

    /// Notes, or with nil forgets, that the authority has lost events.
    mutating func noteLostData(_ lostData: LostData?) {
        if fold.state.noteLostData(lostData) { batch.writeLostData(lostData) }
    }

    /// Notes the intents of the logs that this log continues. No decision depends on them.
    mutating func noteContinued(_ continued: ContinuedIntents) { batch.writeContinued(continued) }

    /// Updates the views, and adds the writes of stored projections to the batch (L4). Called once
    /// for all entries of the transaction.
    ///
    /// Views roll back here (F10), unless a command of the transaction needed them before: if an intent of a
    /// view left the overlay or changed, the view returns to its state before the intent, and the rest of the
    /// overlay is applied again.
    ///
    /// - Returns: The state that readers see after the commit.
    package mutating func prepareToPublish() -> PublishedState {
        let published = fold.makePublishedState()
        let conflicts = fold.takeConflictNotes()
        for rows in fold.rows { batch.writeRows(of: rows.batch(conflictsFrom: conflicts?.start)) }
        for (sequence, note) in conflicts?.notes ?? [] {
            batch.writeConflictNote(note, at: sequence)
        }
        return published
    }

    /// Adds the renewed notes of projections to a transaction that writes anyway.
    mutating func writeRenewedNotes() {
        guard !batch.isEmpty else { return }
        for projection in renewed { batch.writeRegistered(projection) }
        renewed = []
    }

    /// Appends a plain entry: the lean path of ``append(_:isForced:time:subjects:)``.
    ///
    /// - Throws: `.inapplicable`; nothing has changed.
    mutating func append(
        _ plain: PlainEntry, isForced: Bool, time: Timestamp
    ) throws(CommandError) -> RequestResult {
        var isInViews = false
        var plain = plain
        if case .intent(let intent) = plain {
            if fold.undoable != nil {
                let recorded = try withInverse(intent.recorded, &fold)
                plain = .intent(UnsettledIntent(recorded))
            }
            if !isForced, case .intent(let intent) = plain { isInViews = try fold.offer(intent) }
        }
        fold.append(plain, isInViews: isInViews)
        let sequence = writeRecord(of: plain.entry, time)
        switch plain {
        case .intent(let intent): return .recorded(intent.recorded.id, sequence)
        case .acceptance(let intent, _):
            noteAnswered(intent.recorded.number)
            return .appended(sequence)
        case .confirmation(let intent):
            noteConfirmed(intent.recorded)
            return .appended(sequence)
        case .batch(let batch, let intents):
            for recorded in intents { noteConfirmed(recorded) }
            return .confirmed(sequence, through: batch.through)
        }
    }

    /// Appends a decided entry, unless it is an intent that a view cannot apply (F9).
    ///
    /// - Parameters:
    ///   - isForced: whether an intent is appended even so.
    ///   - subjects: the settled intents that the entry's command names.
    /// - Returns: the entry's sequence.
    /// - Throws: `.inapplicable`; nothing has changed.
    @discardableResult
    mutating func append(
        _ entry: Entry, isForced: Bool, time: Timestamp,
        subjects: [IntentNumber: SettledIntentRow]
    ) throws(CommandError) -> LogSequence {
        guard case .intent(var recorded) = entry else {
            return appendEntry(entry, time: time, subjects: subjects)
        }
        var isInViews = false
        if recorded.terms.replaces != nil {
            recorded = try triedWithoutReplaced(recorded, isForced: isForced)
        } else {
            recorded = try withInverse(recorded, &fold)
            if !isForced { isInViews = try fold.offer(UnsettledIntent(recorded)) }
        }
        return appendEntry(
            .intent(recorded), time: time, subjects: subjects, isInViews: isInViews)
    }

    /// Tries an intent on the views without the intent that it replaces (F16).
    ///
    /// - Returns: the intent with its inverse on these views.
    /// - Throws: `.inapplicable`; an error of reading a row. Nothing has changed.
    private func triedWithoutReplaced(
        _ recorded: RecordedIntent, isForced: Bool
    ) throws(CommandError) -> RecordedIntent {
        guard !isForced || fold.undoable != nil, let old = recorded.terms.replaces else {
            return recorded
        }
        var without = fold.leavingOut(old)
        let recorded = try withInverse(recorded, &without)
        if !isForced { _ = try without.offer(UnsettledIntent(recorded)) }
        if let failure = without.failure { throw .log(failure) }
        return recorded
    }

    /// Returns the intent with the event that reverses it on the present views (F21).
    private func withInverse(
        _ recorded: RecordedIntent, _ fold: inout LogFold
    ) throws(CommandError) -> RecordedIntent {
        guard let inverse = fold.inverse(ofNewest: recorded) else { return recorded }
        return recorded.with(
            inverse: RecordedEvent(format: inverse.format, bytes: inverse.bytes))
    }

    /// Changes the log by `body`, or not at all.
    mutating func orNothing(
        _ body: (inout WorkingLog) throws(CommandError) -> Void
    ) throws(CommandError) {
        let before = self
        do throws(CommandError) { try body(&self) } catch {
            self = before  // mutant: all-or-none
            throw error
        }
    }

    /// Appends a decided entry, with its effects on settlements, attempts, and folds.
    ///
    /// - Parameters:
    ///   - subjects: the settled intents that the entry's command names.
    ///   - sequence: the entry's sequence; nil for the next sequence.
    ///   - replica: the replica that wrote the entry; nil for the log's current replica.
    ///   - isInViews: as for ``LogFold/append(_:at:settledIntent:isInViews:)``.
    /// - Returns: the entry's sequence.
    @discardableResult
    package mutating func appendEntry(
        _ entry: Entry, time: Timestamp, subjects: [IntentNumber: SettledIntentRow],
        at sequence: LogSequence? = nil, replica: ReplicaID? = nil, isInViews: Bool = false
    ) -> LogSequence {
        let settledIntent = fold.state.settledIntentNeeded(by: entry).flatMap {
            subjects[$0]?.intent.recorded
        }
        let effects = fold.append(
            entry, at: sequence ?? fold.state.sequence.next, settledIntent: settledIntent,
            isInViews: isInViews)
        applySettlements(effects, subjects)
        return writeRecord(of: entry, time, replica: replica)
    }

    /// Adds the record of the entry that was appended last to the batch.
    ///
    /// - Returns: the entry's sequence.
    private mutating func writeRecord(
        of entry: Entry, _ time: Timestamp, replica: ReplicaID? = nil
    ) -> LogSequence {
        let sequence = fold.state.sequence
        var info: [String: String] = [:]
        if case .intent(let recorded) = entry { info = recorded.info }
        let record = Record(
            stamp: Stamp(sequence: sequence, time: time), replica: replica ?? replicas.current,
            info: info, entry: entry)
        fold.extendChain(
            by: batch.writeRecord(record, predecessor: fold.chain, replicas: replicas))
        return sequence
    }

    /// Adds a row of a checkpoint to the batch. The log itself does not change.
    mutating func writeCheckpointRow(_ row: CheckpointRow) { batch.writeCheckpointRow(row) }

    mutating func removeCheckpointRows(_ keys: [CheckpointKey]) {
        for key in keys { batch.removeCheckpointRow(at: key) }
    }

    /// Records the attempts of intents that are still pending, and returns these intents in order.
    package mutating func recordAttempts(_ attempts: [IntentNumber: Attempt]) -> [IntentNumber] {
        let kept = fold.state.noteAttempts(attempts)
        for (number, attempt) in kept { batch.writeAttempt(attempt, of: number) }
        return kept.map(\.number)
    }

    private mutating func applySettlements(
        _ effects: Effects, _ subjects: [IntentNumber: SettledIntentRow]
    ) {
        for number in effects.answered { noteAnswered(number) }
        var settlements = SettlementBook(subjects.mapValues { $0.row })
        let changed = settlements.apply(effects, at: fold.state.sequence)
        precondition(
            changed.count == effects.settlements.count + effects.reopened.count,
            "an intent that entry \(fold.state.sequence) settles was not read before")
        for (number, row) in changed {  // mutant: verdict-write
            batch.writeSettlement(row, of: number)
        }
    }

    /// Notes that an intent is answered. The transaction of an answer also removes the intent's
    /// attempt (L4).
    private mutating func noteAnswered(_ number: IntentNumber) {
        answered.append(number)
        if fold.state.endAttempts(of: number) {  // mutant: attempts-end
            batch.removeAttempt(of: number)
        }
    }

    /// Notes that the newest entry, which is plain, confirms an intent: its answer and settlement.
    private mutating func noteConfirmed(_ recorded: RecordedIntent) {
        noteAnswered(recorded.number)
        let row = SettlementRow(
            settlement: .confirmed, intentSequence: recorded.sequence,
            settlementSequence: fold.state.sequence)
        batch.writeSettlement(row, of: recorded.number)  // mutant: plain-verdict
    }
}
