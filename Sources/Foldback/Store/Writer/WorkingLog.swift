/// The log as it will be after the transaction that is being prepared. Until the commit, it is
/// ahead of the published state. After a failed commit, the writer discards it: the writer restores
/// the earlier value, or latches the store (L6).
package struct WorkingLog: Sendable {
    package private(set) var fold: LogFold
    package private(set) var batch = WriteBatch()
    /// Intents whose state this transaction changes.
    package private(set) var answered: [IntentNumber] = []
    /// The attempts of pending intents.
    package private(set) var attempts: Attempts
    /// The lineage of the authority that the log has answers from; nil if none was named yet.
    package private(set) var lineage: Lineage?
    /// The position up to which the log shares events with an authority that an answer of this
    /// transaction came from, and that supersedes the log; nil if there is none (N6).
    private(set) var superseded: Position?
    /// The finding that the authority has lost events; nil if it was not made.
    private var lostData: LostData?
    private let replicas: ReplicaTable
    /// Notes of projections that the next transaction writes too.
    private var renewed: [RegisteredProjection]
    /// The time of the entries of requests that came together; nil if none has asked for it.
    private var time: Timestamp?
    /// The intent that ``tryApply(_:)`` has already applied to the folds (F9).
    private var appliedIntent: IntentNumber?

    package init(
        _ fold: LogFold, attempts: Attempts, lineage: Lineage?, lostData: LostData?,
        replicas: ReplicaTable, renewing renewed: [RegisteredProjection] = []
    ) {
        self.fold = fold
        self.attempts = attempts
        self.lineage = lineage
        self.lostData = lostData
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
    package func requireSame(_ named: Lineage?) throws(FoldbackError) {
        if let lostData { throw .superseded(shared: lostData.shared) }
        if let named, named.isOther(than: lineage) { throw .superseded(shared: 0) }
    }

    /// Notes the refusal of a request if it says that the log is superseded.
    mutating func noteRefusal(_ error: FoldbackError) {
        if case .superseded(let shared) = error { superseded = shared }
    }

    /// Notes the first lineage that an answer names.
    package mutating func noteLineage(_ named: Lineage?) {
        guard lineage == nil, let named else { return }
        lineage = named
        batch.writeLineage(named)
    }

    /// Notes, or with nil forgets, that the authority has lost events.
    package mutating func noteLostData(_ lostData: LostData?) {
        guard lostData != self.lostData else { return }
        self.lostData = lostData
        batch.writeLostData(lostData)
    }

    /// Updates the views, and adds the writes of stored projections to the batch (L4). Called once
    /// for all entries of the transaction.
    ///
    /// This is where views roll back (F10): if an intent of a view left the overlay or changed, the
    /// view returns to its state before the intent, and the rest of the overlay is applied again.
    ///
    /// - Returns: The state that readers see after the commit.
    package mutating func prepareToPublish() -> PublishedState {
        var published = fold.makePublishedState()
        published.attempts = attempts
        published.lineage = lineage
        for fold in fold.rows { batch.writeRows(of: fold.batch()) }
        return published
    }

    /// Adds the renewed notes of projections to a transaction that writes anyway.
    mutating func writeRenewedNotes() {
        guard !batch.isEmpty else { return }
        for projection in renewed { batch.writeRegistered(projection) }
        renewed = []
    }

    /// Applies a new intent to every view. If one view cannot apply it, takes it out of all views
    /// again (F9).
    ///
    /// A confirm-only intent is not tried, because it is not folded before it is confirmed (F13).
    ///
    /// - Returns: The refusal of the first view that cannot apply it; nil if all can.
    package mutating func tryApply(_ entry: Entry) -> Inapplicable? {
        guard case .intent(let recorded) = entry, !recorded.isConfirmOnly else { return nil }
        if let (name, error) = fold.tryNewest(UnsettledIntent(recorded)) {
            return Inapplicable(projection: name.string, error: error)
        }
        appliedIntent = recorded.number
        return nil
    }

    /// Appends a plain entry: the lean path of ``appendEntry(_:time:subjects:at:replica:)``.
    ///
    /// - Parameter isForced: as for ``carryOut(_:isForced:at:reading:_:)``.
    /// - Throws: `.inapplicable`; nothing has changed.
    mutating func append(
        _ plain: PlainEntry, isForced: Bool, at time: Timestamp
    ) throws(FoldbackError) -> RequestResult {
        let entry = plain.entry
        if !isForced, let refusal = tryApply(entry) { throw .inapplicable(refusal) }
        let sequence = fold.state.sequence.next
        let (checksum, bytes) = writeRecord(of: entry, at: sequence, time)
        perform(fold.advance(plain, checksum: checksum, bytes: bytes))
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

    /// Appends a decided entry, with its effects on settlements, attempts, and folds.
    ///
    /// - Parameters:
    ///   - subjects: The settled intents that the entry's command names.
    ///   - sequence: The entry's sequence; nil for the next sequence.
    ///   - replica: The replica that wrote the entry; nil for the log's current replica.
    package mutating func appendEntry(
        _ entry: Entry, time: Timestamp, subjects: [IntentNumber: SettledIntentRow],
        at sequence: LogSequence? = nil, replica: ReplicaID? = nil
    ) {
        let sequence = sequence ?? fold.state.sequence.next
        let (checksum, bytes) = writeRecord(of: entry, at: sequence, time, replica: replica)
        let settledIntent = fold.state.settledIntentNeeded(by: entry).flatMap {
            subjects[$0]?.intent.recorded
        }
        let effects = fold.advance(
            entry, at: sequence, checksum: checksum, bytes: bytes,
            settledIntent: settledIntent)
        applySettlements(effects, subjects)
        perform(effects.fold)
    }

    /// Adds the record of the log's next entry to the batch.
    ///
    /// - Returns: the record's checksum, and the count of its bytes.
    mutating func writeRecord(
        of entry: Entry, at sequence: LogSequence, _ time: Timestamp, replica: ReplicaID? = nil
    ) -> (checksum: UInt64, bytes: Int) {
        var info: [String: String] = [:]
        if case .intent(let recorded) = entry { info = recorded.info }
        let record = Record(
            stamp: Stamp(sequence: sequence, time: time), replica: replica ?? replicas.current,
            info: info, entry: entry)
        return batch.writeRecord(record, predecessor: fold.chain, replicas: replicas)
    }

    /// Adds a row of a checkpoint to the batch. The log itself does not change.
    mutating func writeCheckpointRow(_ row: CheckpointRow) { batch.writeCheckpointRow(row) }

    mutating func removeCheckpointRows(_ keys: [CheckpointKey]) {
        for key in keys { batch.removeCheckpointRow(at: key) }
    }

    /// Records the attempts of intents that are still pending, and returns these intents in order.
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
        guard !attempts.isEmpty, attempts[number] != nil else { return }
        attempts[number] = nil
        batch.removeAttempt(of: number)
    }

    /// Notes that the newest entry, which is plain, confirms an intent: its answer and settlement.
    private mutating func noteConfirmed(_ recorded: RecordedIntent) {
        noteAnswered(recorded.number)
        let row = SettlementRow(
            settlement: .confirmed, intentSequence: recorded.sequence,
            settlementSequence: fold.state.sequence)
        batch.writeSettlement(row, of: recorded.number)  // mutant: plain-verdict
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
