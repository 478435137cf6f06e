import HashTreeCollections

/// The source that confirms a log's intents, fixed when the log is created (F2).
public enum LogKind: String, Hashable, Sendable, CaseIterable {
    /// Only confirmed batches change confirmed state. They also carry the effects of this replica's
    /// own intents.
    case downlink
    /// Acknowledgements confirm at once, in order of arrival. This fits a server that only answers
    /// requests.
    case acknowledgement
}

/// Pending and accepted intents, in order of number.
package typealias Overlay = NumberMap<IntentNumber, UnsettledIntent>

/// The rules of a log as a pure value, without file, thread or clock.
///
/// It numbers entries and intents, keeps the overlay, decides commands, and derives fold plans.
///
/// ```
///  Command
///     │
///     ▼
///  decision(for:settled:time:)     reads the state, changes nothing
///     │
///     ├──▶ refuse, ignore, join    no entry (a retry that joins appends one)
///     ▼
///  Entry ──▶ the log on disk
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
/// | LogState+Decisions.swift | Which entry does a command append? | F2 to F7, F14 |
/// | LogState.swift | What does an entry change? | F3 to F8, F10, F13, F14 |
/// | LogState+Contradictions.swift | Can an entry from disk follow this state? | L5 |
///
/// For a late acknowledgement of a rejected intent, read `acknowledgementDecision` in
/// LogState+Decisions.swift (F7). Then read `accept` and `confirmByAcknowledgement` in this file.
///
/// Intents may be answered in any order (F8). The settlements of settled intents are in the log's
/// table `verdicts`, not here. A caller of `decision` looks them up and passes them as `settled`.
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
    package private(set) var overlay = Overlay()
    /// The rejections that are listed, each with the sequence of the entry that rejected the
    /// intent.
    package private(set) var rejections = NumberMap<IntentNumber, LogSequence>()
    /// The number of accepted intents in the overlay.
    package private(set) var acceptedCount = 0
    /// The numbers in the overlay by once key, ascending. A key has more than one number only if
    /// the server accepted a rejected intent after its key had been used again (F7).
    private var onceKeys: TreeDictionary<ExactString, [IntentNumber]> = [:]
    /// Accepted intents by the position that will confirm them. Several can share a position.
    private var awaited = NumberMap<Position, TreeSet<IntentNumber>>()

    package init(kind: LogKind, replica: ReplicaID) {
        self.kind = kind
        self.replica = replica
    }

    /// Restores the state at a checkpoint. Everything else is derived from these values.
    package init(
        kind: LogKind, replica: ReplicaID, sequence: LogSequence, nextNumber: IntentNumber,
        through: Position, overlay: [UnsettledIntent],
        rejections: NumberMap<IntentNumber, LogSequence>
    ) {
        self.init(kind: kind, replica: replica)
        self.sequence = sequence
        self.nextNumber = nextNumber  // mutant: checkpoint-number
        self.through = through
        self.rejections = rejections
        for intent in overlay { setInOverlay(intent) }
    }

    // MARK: Reading

    /// Returns whether the number is below the next number. A history with gaps may lack the
    /// intent.
    package func wasRecorded(_ number: IntentNumber) -> Bool {
        1 <= number && number < nextNumber
    }

    /// Returns the first intent in the overlay with this once key (F14).
    package func joined(by once: ExactString?) -> IntentNumber? {
        once.flatMap { onceKeys[$0]?.first }  // mutant: once-key
    }

    /// Returns the accepted intents that a batch up to `through` confirms by their position (F3).
    package func accepted(upTo through: Position) -> [IntentNumber] {
        var numbers: [IntentNumber] = []
        for (position, waiting) in awaited {
            guard position <= through else { break }  // mutant: accepted-through
            numbers.append(contentsOf: waiting)
        }
        return numbers
    }

    /// Returns the settled intent that the caller must read from the log before it applies `entry`.
    ///
    /// Only an acknowledgement that overrides a rejection or withdrawal needs one (F7).
    package func settledIntentNeeded(by entry: Entry) -> IntentNumber? {
        guard case .acknowledged(let answer) = entry, overlay[answer.number] == nil else {
            return nil
        }
        return answer.number
    }

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
        case .changed(let number, .withdrawn), .changed(let number, .abandoned):
            settleAndRollBack(number, .withdrawn, &effects)
        case .changed(let number, .dismissed): dismiss(number, &effects)
        case .confirmed(let batch): confirmByBatch(batch, &effects)
        }
        return effects
    }

    /// Applies the next entry if it is an intent without a once key that retries nothing: the lean
    /// path of ``apply(_:at:settledIntent:)``. The entry's only effect is that views apply the
    /// intent, unless it is confirm-only.
    package mutating func apply(plain intent: UnsettledIntent) {
        let recorded = intent.recorded
        precondition(
            recorded.sequence > sequence && recorded.number >= nextNumber,
            "entry \(recorded.sequence), intent \(recorded.number), is not after \(sequence)")
        precondition(
            recorded.once == nil && recorded.retries == nil, "\(recorded.number) is not plain")
        sequence = recorded.sequence
        nextNumber = recorded.number.next
        overlay.append(intent, at: recorded.number)
    }

    /// Adds a new intent at the end of the overlay. A retry dismisses the rejection that it retries
    /// (F14). A confirm-only intent leaves the view as it is (F13).
    private mutating func appendToOverlay(_ recorded: RecordedIntent, _ effects: inout Effects) {
        precondition(
            recorded.number >= nextNumber, "intent \(recorded.number) is below \(nextNumber)")
        nextNumber = recorded.number.next
        if let old = recorded.retries { dismiss(old, &effects) }  // mutant: retry-dismisses
        let intent = UnsettledIntent(recorded)
        setInOverlay(intent)
        if intent.isOptimistic { effects.fold.view = .apply(intent) }  // mutant: recorded-view
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
        let unsettled = overlay[number]
        let recorded = required(unsettled?.recorded ?? settledIntent, number)
        let intent = UnsettledIntent(recorded, acceptance: acceptance)
        if unsettled == nil {
            rejections[number] = nil
            effects.reopened.append(number)
        }
        setInOverlay(intent)
        effects.answered.append(number)
        // A replacement that is equal to the intent's event changes nothing.
        let changesView =
            unsettled.map { answer.replacement?.isSame(as: $0.payload) == false } ?? true
        if intent.isOptimistic, changesView { effects.fold.view = .rollBack(from: number) }
    }

    /// Applies the entry of a plain acknowledgement: the lean path of
    /// ``apply(_:at:settledIntent:)``. An acknowledgement that settles removes the overlay's head and
    /// applies its event to confirmed state. Any other only adds the acceptance to its intent.
    package mutating func apply(plain answer: PlainAcknowledgement) -> FoldPlan {
        sequence = sequence.next
        let recorded = answer.intent.recorded
        var plan = FoldPlan()
        guard answer.entry.settles else {
            let acceptance = Acceptance(
                position: answer.entry.position, replacement: nil, sequence: sequence)
            setInOverlay(UnsettledIntent(recorded, acceptance: acceptance))
            return plan
        }
        removeHead(recorded)
        plan.confirm = [
            Folded(payload: recorded.payload, context: EventContext(.intent(recorded.id)))
        ]
        if recorded.payload.isUnreadable { plan.unread = [0] }
        plan.removed = [recorded.number]
        return plan
    }

    /// Applies the entry of a plain batch: the lean path of ``apply(_:at:settledIntent:)``. Removes
    /// the overlay's first intents, and applies the batch's events to confirmed state.
    package mutating func apply(plain batch: PlainBatch) -> FoldPlan {
        sequence = sequence.next
        through = batch.entry.through
        for recorded in batch.intents {
            if let acceptance = overlay.first?.value.acceptance {
                removeAcceptance(acceptance, of: recorded.number)
            }
            removeHead(recorded)
        }
        var plan = FoldPlan()
        plan.confirm = batch.entry.events.map {
            Folded(payload: $0.payload, context: $0.context)
        }
        plan.unread = batch.entry.events.indices.filter {
            batch.entry.events[$0].payload.isUnreadable
        }
        plan.removed = batch.entry.settled
        return plan
    }

    /// Removes the overlay's first intent, which the entry of a lean path names.
    private mutating func removeHead(_ recorded: RecordedIntent) {
        precondition(
            overlay.first?.key == recorded.number,
            "intent \(recorded.number) is not the head of the overlay")
        overlay.removeFirst()
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

    /// Returns the events after `through`, in order of position. Events that share a position keep
    /// their order in the batch (F5).
    package static func newEvents(
        in events: [Confirmed], after through: Position
    ) -> [Confirmed] {
        let newEvents = events.filter { $0.position > through }  // mutant: applied-once
        let isSorted = zip(newEvents, newEvents.dropFirst()).allSatisfy {
            $0.position <= $1.position
        }
        if isSorted { return newEvents }  // mutant: batch-order
        return newEvents.enumerated()
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .map(\.element)
    }

    /// Returns whether the batch confirms the head of the overlay exactly as the view folds it.
    ///
    /// The new events must be the first optimistic intents, in order and with equal payloads, and
    /// the batch must settle these intents only. Then the view folds the same list of events as
    /// before.
    private func isFastForward(_ newEvents: [Confirmed], settling: [IntentNumber]) -> Bool {
        guard newEvents.count == settling.count else { return false }
        var settling = settling.makeIterator()
        var events = newEvents.makeIterator()
        for (number, intent) in overlay where intent.isOptimistic {
            guard let event = events.next() else { return true }
            guard settling.next() == number, event.origin == intent.recorded.id,
                event.payload.isSame(as: intent.payload)
            else { return false }
        }
        return events.next() == nil
    }

    // MARK: The overlay

    private var firstOptimistic: IntentNumber? { overlay.first { $0.value.isOptimistic }?.key }

    /// Adds the intent at its number, or replaces it there once it is accepted.
    private mutating func setInOverlay(_ intent: UnsettledIntent) {
        let recorded = intent.recorded
        if overlay[recorded.number] == nil, let once = recorded.once {
            let numbers = (onceKeys[once] ?? []) + [recorded.number]
            onceKeys[once] = numbers.sorted()
        }
        overlay[recorded.number] = intent
        guard let acceptance = intent.acceptance else { return }
        acceptedCount += 1
        if let position = acceptance.position {
            var waiting = awaited[position] ?? []
            waiting.insert(recorded.number)
            awaited[position] = waiting
        }
    }

    /// Settles the intent: takes it out of the overlay and the list of rejections, and adds its
    /// settlement and answer to the effects. The fold plan's view stays as it is.
    ///
    /// - Returns: the intent, or nil if it was not in the overlay (F7).
    private mutating func settle(
        _ number: IntentNumber, _ settlement: Settlement, _ effects: inout Effects
    ) -> UnsettledIntent? {
        let intent = overlay[number]
        overlay[number] = nil
        rejections[number] = nil
        if let once = intent?.recorded.once {
            let others = (onceKeys[once] ?? []).filter { $0 != number }
            onceKeys[once] = others.isEmpty ? nil : others
        }
        if let acceptance = intent?.acceptance { removeAcceptance(acceptance, of: number) }
        effects.settlements.append(
            SettlementChange(
                number: number, settlement: settlement, intentSequence: intent?.recorded.sequence,
                settlementSequence: sequence))
        effects.answered.append(number)
        if intent != nil { effects.fold.removed.append(number) }
        return intent
    }

    private mutating func removeAcceptance(_ acceptance: Acceptance, of number: IntentNumber) {
        acceptedCount -= 1
        guard let position = acceptance.position else { return }
        var others = awaited[position] ?? []
        others.remove(number)
        awaited[position] = others.isEmpty ? nil : others
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
