/// The source that confirms a log's intents, fixed when the log is created (F2).
public enum LogKind: String, Hashable, Sendable, CaseIterable {
    /// Only confirmed batches change confirmed state. They also carry the effects of this replica's
    /// own intents.
    case downlink
    /// Acknowledgements confirm at once, in order of arrival. This fits a server that only answers
    /// requests.
    case acknowledgement
}

/// The rules of a log as a pure value, without file, thread or clock.
///
/// It numbers entries and intents, keeps the overlay, decides commands, and derives fold plans.
///
/// ```
///  Command
///     │
///     ▼
///  decision(for:settled:…)         reads the state, changes nothing
///     │
///     ├──▶ refuse, ignore, join    no new intent (joining may release a draft, or dismiss)
///     ▼
///  Entries ──▶ the log on disk
///     │
///     ▼
///  apply(_:at:settledIntent:)      changes the state, trusts the entry
///     │
///     ▼
///  Effects                         settlements  new settlements to store
///                                  reopened     intents back in the overlay
///                                  answered     intents whose callers get an answer
///                                  fold         work of projections: confirm, roll back, rebase
/// ```
///
/// Opening a log applies each of its entries. The writer decides and applies in turns. A decision's
/// result is in the entry, so replay decides nothing again.
///
/// | file | question | rules |
/// |---|---|---|
/// | LogState+Decisions.swift | Which entries does a command append? | F2 to F7, F14, F19, F22 |
/// | LogState+Recording.swift | What is recorded, and what does it replace? | F14, F16, F20, F22 |
/// | LogState+Undoing.swift | What do undo and redo do, and what follows an answer? | F21 |
/// | LogState+Plain.swift | Which commands take a lean path? | |
/// | LogState+Batches.swift | What does a batch confirm, and what is new in it? | F3, F5, F6 |
/// | LogState.swift | What does an entry change? | F3 to F8, F10, F13, F14 |
/// | LogFacts.swift | What do attempts and the authority's name forbid? | F7, N6 |
/// | LogState+Contradictions.swift | Can an entry from disk follow this state? | L5 |
///
/// For a late acknowledgement of a rejected intent, read `acknowledgementDecision` in
/// LogState+Decisions.swift (F7). Then read `accept` and `confirmByAcknowledgement` in this file, and
/// `settleAndRollBack` for an acknowledgement whose position `through` already covers.
///
/// Intents may be answered in any order (F8). The settlements of settled intents are in the log's
/// table `verdicts`, not here. `decision` asks its caller for those that it needs.
///
/// Sequences and intent numbers rise. In a log they rise by one: ``contradiction(in:)`` checks the
/// numbers, and the reader of records checks the sequences. A history may have gaps where entries
/// were removed. There the caller of `decision` must know which numbers are left.
///
/// Invariants:
/// - The overlay holds exactly the pending and accepted intents, in order of number.
/// - In an acknowledgement log no intent is ever accepted, and `through` stays 0 (F2, F4).
/// - No accepted intent has a position at or below `through` (F3).
/// - `rejections` holds exactly the rejected intents that are neither dismissed nor retried (F14).
package struct LogState: Sendable {
    package let kind: LogKind
    /// The replica of the next intent. An older intent of a copied log may have another (L11).
    package let replica: ReplicaID
    /// The sequence of the newest entry; 0 before the first.
    package private(set) var sequence: LogSequence = 0
    package private(set) var nextNumber: IntentNumber = 1
    /// The highest position that confirmed state covers.
    package private(set) var through: Position = 0
    private var unsettled = UnsettledIntents()
    /// For each intent that was undone, the newest intent that undoes it, whatever became of that
    /// (F21). It grows with each undo.
    package private(set) var undoneBy = UndoLinks()
    /// The rejections that are listed, each with the sequence of the entry that rejected the
    /// intent.
    package private(set) var rejections = NumberMap<IntentNumber, LogSequence>()
    /// What is known beside the entries. No entry is needed to change it.
    package var facts = LogFacts()

    package init(kind: LogKind, replica: ReplicaID) {
        self.kind = kind
        self.replica = replica
    }

    /// Restores the state at a checkpoint. Everything else is derived from these values.
    package init(
        kind: LogKind, replica: ReplicaID, sequence: LogSequence, nextNumber: IntentNumber,
        through: Position, overlay: [UnsettledIntent],
        rejections: NumberMap<IntentNumber, LogSequence>, undoneBy: UndoLinks = UndoLinks(),
        released: Drafts = Drafts()
    ) {
        self.init(kind: kind, replica: replica)
        self.undoneBy = undoneBy
        self.sequence = sequence
        self.nextNumber = nextNumber  // mutant: checkpoint-number
        self.through = through
        self.rejections = rejections
        for intent in overlay { unsettled.set(intent) }
        for (number, draft) in released {
            if case .released(let sequence) = draft { unsettled.release(number, at: sequence) }
        }
    }

    // MARK: Reading

    /// Returns whether the number is below the next number. A history with gaps may lack the
    /// intent.
    package func wasRecorded(_ number: IntentNumber) -> Bool {
        1 <= number && number < nextNumber
    }

    /// The pending and accepted intents.
    package var overlay: Overlay { unsettled.byNumber }

    /// The number of accepted intents in the overlay.
    package var acceptedCount: Int { unsettled.acceptedCount }

    /// The intents of the overlay that were recorded as drafts, held or released (F22).
    package var drafts: Drafts { unsettled.drafts }

    /// The intents of the overlay that undo each intent (F21).
    package var undoers: Undoers { unsettled.undoers }

    /// Returns the first intent in the overlay with this once key (F14).
    package func joined(by once: ExactString?) -> IntentNumber? { unsettled.joined(by: once) }

    /// Returns the newest intent in the overlay with this replacing key (F16).
    func newest(replaceableBy key: ExactString) -> IntentNumber? {
        unsettled.newest(replaceableBy: key)
    }

    /// Returns the accepted intents that a batch up to `through` confirms by their position (F3).
    package func accepted(upTo through: Position) -> [IntentNumber] {
        unsettled.accepted(upTo: through)
    }

    /// Returns the settled intent that the caller must read from the log before it applies `entry`.
    ///
    /// Only an acknowledgement that overrides a rejection or withdrawal needs one (F7), and an entry
    /// that restores an intent (F21).
    package func settledIntentNeeded(by entry: Entry) -> IntentNumber? {
        switch entry {
        case .acknowledged(let answer): overlay[answer.number] == nil ? answer.number : nil
        case .changed(let number, .restored): number
        case .intent, .changed, .confirmed: nil
        }
    }

    /// Takes an intent out of the overlay, to see what the log would be without it (F16).
    mutating func leaveOut(_ number: IntentNumber) { _ = unsettled.remove(number) }

    // MARK: Applying an entry

    /// Applies the log's next entry, and returns its effects.
    ///
    /// - Parameter settledIntent: the intent that ``settledIntentNeeded(by:)`` names.
    /// - Precondition: the entry was decided on this state, or ``contradiction(in:)`` returned nil.
    package mutating func apply(
        _ entry: Entry, at sequence: LogSequence, settledIntent: RecordedIntent? = nil
    ) -> Effects {
        precondition(
            sequence > self.sequence, "entry \(sequence) is not after entry \(self.sequence)")
        self.sequence = sequence
        var effects = Effects()
        switch entry {
        case .intent(let recorded): appendToOverlay(recorded, &effects)
        case .acknowledged(let answer):
            switch kind {
            case .downlink where answer.settles:
                // Confirmed state already covers its position. The intent's effect is there, so
                // only its prediction leaves the view (F3).
                settleAndRollBack(answer.number, .confirmed, &effects)
            case .downlink: accept(answer, settledIntent, &effects)
            case .acknowledgement: confirmByAcknowledgement(answer, settledIntent, &effects)
            }
        case .changed(let number, .rejected):
            settleAndRollBack(number, .rejected(isDismissed: false), &effects)
            rejections[number] = sequence
        case .changed(let number, .withdrawn), .changed(let number, .abandoned),
            .changed(let number, .undone), .changed(let number, .lapsed):
            settleAndRollBack(number, .withdrawn, &effects)
        case .changed(let number, .dismissed): dismiss(number, &effects)
        case .changed(let number, .released): unsettled.release(number, at: sequence)
        case .changed(let number, .restored):
            restore(required(settledIntent, number), &effects)
        case .confirmed(let batch): confirmByBatch(batch, &effects)
        }
        return effects
    }

    /// Applies the log's next entry if it is plain: the lean path of ``apply(_:at:settledIntent:)``.
    ///
    /// - Returns: the work of projections. The other effects follow from the entry alone: an
    ///   acknowledgement and a batch answer their intents, and confirm them unless the
    ///   acknowledgement only accepts.
    package mutating func apply(_ plain: PlainEntry) -> FoldPlan {
        sequence = sequence.next
        var plan = FoldPlan()
        switch plain {
        case .intent(let intent):
            let recorded = intent.recorded
            precondition(
                recorded.sequence == sequence && recorded.number == nextNumber,
                "intent \(recorded.number) of entry \(recorded.sequence) is not the next")
            nextNumber = recorded.number.next
            unsettled.append(intent)
            if intent.isOptimistic { plan.view = .apply(intent) }  // mutant: plain-view
        case .acceptance(let intent, let position):
            let acceptance = Acceptance(position: position, replacement: nil, sequence: sequence)
            let accepted = UnsettledIntent(intent.recorded, acceptance: acceptance)
            unsettled.set(accepted)  // mutant: plain-acceptance
        case .confirmation(let intent):
            let recorded = intent.recorded
            unsettled.removeFirst(recorded)
            plan.confirm = [  // mutant: plain-confirmation
                Folded(payload: recorded.payload, context: EventContext(.intent(recorded.id)))
            ]
            if recorded.payload.isUnreadable { plan.unread = [0] }
            plan.removed = [recorded.number]
        case .batch(let batch, let intents):
            through = batch.through  // mutant: plain-through
            for recorded in intents { unsettled.removeFirst(recorded) }
            plan.confirm = batch.events.map { Folded(payload: $0.payload, context: $0.context) }
            plan.unread = batch.events.indices.filter { batch.events[$0].payload.isUnreadable }
            plan.removed = batch.settled
        }
        return plan
    }

    /// Adds a new intent at the end of the overlay. A retry dismisses the rejection that it retries
    /// (F14). A confirm-only intent leaves the view as it is (F13).
    private mutating func appendToOverlay(_ recorded: RecordedIntent, _ effects: inout Effects) {
        precondition(
            recorded.number >= nextNumber, "intent \(recorded.number) is below \(nextNumber)")
        nextNumber = recorded.number.next
        if let old = recorded.retries { dismiss(old, &effects) }  // mutant: retry-dismisses
        if let undone = recorded.terms.undoes {
            undoneBy[undone] = recorded.number  // mutant: undo-link
        }
        let intent = UnsettledIntent(recorded)
        if let old = recorded.terms.replaces {
            replace(old, by: intent, &effects)
        } else {
            unsettled.set(intent)
            if intent.isOptimistic { effects.fold.view = .apply(intent) }  // mutant: recorded-view
        }
    }

    /// Withdraws an intent, and adds the intent that replaces it: one change of the view (F16).
    private mutating func replace(
        _ old: IntentNumber, by intent: UnsettledIntent, _ effects: inout Effects
    ) {
        settleAndRollBack(old, .withdrawn, &effects)
        unsettled.set(intent)
        guard intent.isOptimistic else { return }
        switch effects.fold.view {
        case .rollBack(let from):
            effects.fold.view = .replace(from: from, by: intent)  // mutant: replaced-view
        case .unchanged, .apply, .rebase, .replace: effects.fold.view = .apply(intent)
        }
    }

    /// Brings a lapsed intent back at its number, because the intent that it undoes came back (F21).
    private mutating func restore(_ recorded: RecordedIntent, _ effects: inout Effects) {
        let intent = UnsettledIntent(recorded)
        unsettled.set(intent)
        effects.reopened.append(recorded.number)
        if intent.isOptimistic { effects.fold.view = .rollBack(from: recorded.number) }
    }

    /// Takes a rejection out of the list (F14).
    private mutating func dismiss(_ number: IntentNumber, _ effects: inout Effects) {
        rejections[number] = nil
        effects.settlements.append(
            SettlementChange(
                number: number, settlement: .rejected(isDismissed: true),
                intentSequence: nil, settlementSequence: nil))
    }

    /// Settles the intent and takes it out of the view. The intents after it are folded again
    /// (F10).
    private mutating func settleAndRollBack(
        _ number: IntentNumber, _ settlement: Settlement, _ effects: inout Effects
    ) {
        let intent = settle(number, settlement, &effects)
        if let intent, intent.isOptimistic { effects.fold.view = .rollBack(from: number) }
    }

    /// Accepts an intent in a downlink log: it stays in the overlay, with the server's words, until
    /// the downlink delivers its effect (F3). A rejected or withdrawn intent returns to the overlay
    /// at its number (F7).
    private mutating func accept(
        _ answer: Acknowledged, _ settledIntent: RecordedIntent?,
        _ effects: inout Effects
    ) {
        let number = answer.number
        let acceptance = Acceptance(
            position: answer.position, replacement: answer.replacement, sequence: sequence)
        let known = overlay[number]
        let recorded = required(known?.recorded ?? settledIntent, number)
        let intent = UnsettledIntent(recorded, acceptance: acceptance)
        if known == nil {
            rejections[number] = nil
            effects.reopened.append(number)
        }
        unsettled.set(intent)
        effects.answered.append(number)
        // A replacement that is equal to the intent's event changes nothing.
        let changesView =
            known.map { answer.replacement?.isSame(as: $0.payload) == false } ?? true
        if intent.isOptimistic, changesView { effects.fold.view = .rollBack(from: number) }
    }

    /// Confirms an intent in an acknowledgement log: applies the server's words to confirmed state,
    /// or else the intent's own event (F4). A rejected or withdrawn intent is confirmed as well
    /// (F7).
    ///
    /// The view stays the same if this is the first optimistic intent of the overlay and the server
    /// sent no other event (fast-forward).
    private mutating func confirmByAcknowledgement(
        _ answer: Acknowledged, _ settledIntent: RecordedIntent?,
        _ effects: inout Effects
    ) {
        let number = answer.number
        let isHead = firstOptimistic == number
        let isReplaced =
            answer.replacement.map { words in
                overlay[number].map { !words.isSame(as: $0.payload) } ?? true
            } ?? false
        let intent = settle(number, .confirmed, &effects)
        let recorded = required(intent?.recorded ?? settledIntent, number)
        let payload = answer.replacement ?? recorded.payload  // mutant: confirmed-payload
        effects.fold.confirm = [
            Folded(payload: payload, context: EventContext(.intent(recorded.id)))
        ]
        if payload.isUnreadable { effects.fold.unread = [0] }
        effects.fold.view = isHead && !isReplaced ? .unchanged : .rebase
    }

    /// Applies a batch's new events to confirmed state, in order of position, and confirms the
    /// intents in `batch.settled` (F5, F6).
    private mutating func confirmByBatch(
        _ batch: ConfirmedBatch, _ effects: inout Effects
    ) {
        let newEvents = Self.newEvents(in: batch.events, after: through)
        let isFastForward = isFastForward(newEvents, settling: batch.settled)
        effects.fold.unread = batch.events.indices.filter {
            batch.events[$0].position > through && batch.events[$0].payload.isUnreadable
        }
        through = max(through, batch.through)
        for number in batch.settled { _ = settle(number, .confirmed, &effects) }
        effects.fold.confirm = newEvents.map {  // mutant: batch-effects
            Folded(payload: $0.payload, context: $0.context)
        }
        effects.fold.view = isFastForward ? .unchanged : .rebase
    }

    // MARK: The overlay

    private var firstOptimistic: IntentNumber? { overlay.first { $0.value.isOptimistic }?.key }

    /// Settles the intent: takes it out of the overlay and the list of rejections, and adds its
    /// settlement and answer to the effects. The fold plan's view stays as it is.
    ///
    /// - Returns: the intent, or nil if it was not in the overlay (F7).
    private mutating func settle(
        _ number: IntentNumber, _ settlement: Settlement, _ effects: inout Effects
    ) -> UnsettledIntent? {
        let intent = unsettled.remove(number)
        rejections[number] = nil
        effects.settlements.append(
            SettlementChange(
                number: number, settlement: settlement, intentSequence: intent?.recorded.sequence,
                settlementSequence: sequence))
        effects.answered.append(number)
        if intent != nil { effects.fold.removed.append(number) }
        return intent
    }

    private func required(
        _ recorded: RecordedIntent?, _ number: IntentNumber
    ) -> RecordedIntent {
        guard let recorded else {
            preconditionFailure("intent \(number) was not read from the log for entry \(sequence)")
        }
        return recorded
    }
}

/// The newest intent that undoes each intent (F21).
package typealias UndoLinks = NumberMap<IntentNumber, IntentNumber>
