/// The log as the transaction being prepared will leave it: ahead of what is published until the
/// commit. After a failed commit it is worthless, and the store takes no more commands (L6).
package struct WorkingLog: Sendable {
    package private(set) var fold: LogFold
    package private(set) var batch = WriteBatch()
    /// Intents whose state this transaction changes.
    package private(set) var answered: [IntentNumber] = []
    /// Of pending intents alone.
    package private(set) var attempts: Attempts
    private let replicas: ReplicaTable
    /// The intent that the folds already have, from having been tried (F9).
    private var appliedIntent: IntentNumber?

    package init(_ fold: LogFold, attempts: Attempts, replicas: ReplicaTable) {
        self.fold = fold
        self.attempts = attempts
        self.replicas = replicas
    }

    /// - Parameter isWatched: whether somebody wants to know which rows change.
    package mutating func beginTransaction(isWatched: Bool) {
        batch = WriteBatch()
        answered = []
        for index in fold.rows.indices { fold.rows[index].beginTransaction(isWatched: isWatched) }
    }

    /// Brings the views up to date and adds what stored projections write (L4), once for all entries of the
    /// transaction. Views are rolled back here: those that had an intent which left the overlay or changed are
    /// taken back to before it, and the rest of the overlay is applied again (F10).
    ///
    /// - Returns: what readers are to see once the transaction is committed.
    mutating func prepareToPublish() -> PublishedState {
        let published = fold.makePublishedState()
        for fold in fold.rows { batch.writeRows(of: fold.batch()) }
        return published
    }

    /// Tries a new intent on every view. Why it cannot be recorded, nil if it can; the views are then
    /// those with the intent.
    ///
    /// A confirm-only intent is not folded before it is confirmed, so nothing can be said (F13).
    package mutating func tryApply(_ entry: Entry) -> String? {
        guard case .intent(let recorded) = entry, !recorded.isConfirmOnly else { return nil }
        let intent = UnsettledIntent(recorded)
        var reason: String?
        for index in fold.folds.indices {
            fold.folds[index].rebaseView(over: fold.state.overlay)
            if let error = fold.folds[index].applyNewest(intent) { reason = reason ?? "\(error)" }
        }
        for index in fold.rows.indices {
            fold.rows[index].rebaseView(over: fold.state.overlay)
            if let error = fold.rows[index].applyNewest(intent) { reason = reason ?? "\(error)" }
        }
        if reason == nil {
            appliedIntent = recorded.number
        } else {
            for index in fold.folds.indices { fold.folds[index].rollBackLast(recorded.number) }
            for index in fold.rows.indices { fold.rows[index].rollBackLast(recorded.number) }
        }
        return reason
    }

    /// Appends an entry that was decided on.
    /// - Parameters:
    ///   - subjects: the settled intents that its command names.
    ///   - sequence: nil: the next one.
    ///   - replica: that wrote it; nil: the log's present one.
    package mutating func appendEntry(
        _ entry: Entry, time: Timestamp, subjects: [IntentNumber: SettledIntentRow],
        at sequence: LogSequence? = nil, replica: ReplicaID? = nil
    ) {
        let sequence = sequence ?? fold.state.sequence.next
        var info: [String: String] = [:]
        if case .intent(let recorded) = entry { info = recorded.info }
        let record = Record(
            stamp: Stamp(sequence: sequence, time: time), replica: replica ?? replicas.current,
            info: info,
            entry: entry)
        let (bytes, checksum) = record.encoded(predecessor: fold.chain, replicas: replicas)
        batch.writeRecord(bytes, at: sequence)
        let settledIntent = fold.state.settledIntentNeeded(by: entry).flatMap {
            subjects[$0]?.intent.recorded
        }
        let effects = fold.advance(
            entry, at: sequence, checksum: checksum, bytes: bytes.count,
            settledIntent: settledIntent)
        applySettlements(effects, subjects)
        perform(effects.fold)
    }

    /// Changes what is kept of checkpoints; the log stays as it is.
    mutating func writeCheckpointRow(_ row: CheckpointRow) { batch.writeCheckpointRow(row) }

    mutating func removeCheckpointRows(_ keys: [CheckpointKey]) {
        for key in keys { batch.removeCheckpointRow(at: key) }
    }

    /// Notes attempts of those intents that are pending still, and says which.
    package mutating func recordAttempts(_ attempts: [IntentNumber: Attempt]) -> [IntentNumber] {
        let pending = attempts.keys.sorted()
            .filter { fold.state.overlay[$0]?.state == .pending }
        for number in pending {
            guard let attempt = attempts[number] else { continue }
            self.attempts[number] = attempt
            batch.writeAttempt(attempt, of: number)
        }
        return pending
    }

    private mutating func applySettlements(
        _ effects: Effects, _ subjects: [IntentNumber: SettledIntentRow]
    ) {
        answered += effects.answered
        // An answer ends the attempts, in its own transaction.
        if !attempts.isEmpty {
            for number in effects.answered where attempts[number] != nil {
                attempts[number] = nil
                batch.removeAttempt(of: number)
            }
        }
        var settlements = SettlementBook(subjects.mapValues { $0.row })
        let changed = settlements.apply(effects, at: fold.state.sequence)
        precondition(
            changed.count == effects.settlements.count + effects.reopened.count,
            "an intent that entry \(fold.state.sequence) settles was not looked up")
        for (number, row) in changed {  // mutant: verdict-write
            batch.writeSettlement(row, of: number)
        }
    }

    private mutating func perform(_ plan: FoldPlan) {
        var plan = plan
        if case .apply(let intent) = plan.view, intent.recorded.number == appliedIntent {
            plan.view = .unchanged
        }
        appliedIntent = nil
        fold.perform(plan)
    }
}
