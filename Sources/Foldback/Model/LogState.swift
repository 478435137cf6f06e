import HashTreeCollections

/// Which source confirms; chosen when a log is created (F2).
public enum LogKind: String, Hashable, Sendable, CaseIterable {
    /// Only confirmed batches change confirmed state; they bring this replica's own effects too.
    case downlink
    /// Acknowledgements confirm at once, in order of arrival: a server that only answers requests.
    case acknowledgement
}

/// Pending and accepted intents, in order of number.
package typealias Overlay = NumberMap<IntentNumber, UnsettledIntent>

/// The semantics of a log, without file or thread: numbering, the overlay, the order of answers, and
/// what has to be folded. Everything that a log means is decided here.
///
/// ```
///  command ─▶ decision(for:) ─▶ entry ─▶ apply(_:) ─▶ effects: verdicts, answers, fold plan
/// ```
///
/// Any intent may be answered before any other (F8). `decision` looks and changes nothing; `apply` believes its entry and looks nothing up. Opening a log
/// is `apply` for each entry; working on one is both in turn. What an intent's verdict was is kept by
/// the log, not here: whoever asks for a decision brings it along (`settled`).
///
/// Sequences and numbers rise; in a log by one, which ``contradiction(in:)`` holds. In a history entries
/// may have been taken out, and whoever asks there for a decision knows which numbers are left.
///
/// Invariants:
/// - the overlay holds exactly the pending and accepted intents, in order of number (section 1);
/// - in an acknowledgement log nothing is ever accepted, and `through` stays 0 (F2, F4);
/// - no accepted intent has a position at or below `through` (F3);
/// - `rejections` holds exactly the rejected intents that are neither dismissed nor retried (F14).
package struct LogState: Sendable {
    package let kind: LogKind
    /// Whose number the next intent gets; an older intent of a copied log may have another (L11).
    package let replica: ReplicaID
    package private(set) var sequence: LogSequence = 0
    package private(set) var nextNumber: IntentNumber = 1
    package private(set) var through: Position = 0
    package private(set) var overlay = Overlay()
    package private(set) var rejections = NumberMap<IntentNumber, LogSequence>()
    package private(set) var acceptedCount = 0
    /// Numbers in the overlay by once key, ascending. More than one only where the server brought a
    /// rejected intent back after its key had been used again.
    private var onceKeys: TreeDictionary<ExactString, [IntentNumber]> = [:]
    /// Accepted intents by the position that will confirm them: all between two fetches may share one.
    private var awaited = NumberMap<Position, TreeSet<IntentNumber>>()

    package init(kind: LogKind, replica: ReplicaID) {
        self.kind = kind
        self.replica = replica
    }

    /// The state as a checkpoint has it, by the numbers that it cannot derive.
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
        for intent in overlay { insert(intent) }
    }

    // MARK: What is known

    package func wasRecorded(_ number: IntentNumber) -> Bool {
        1 <= number && number < nextNumber
    }

    /// The first intent in the overlay with that key (F14).
    package func joined(by once: ExactString?) -> IntentNumber? {
        once.flatMap { onceKeys[$0]?.first }  // mutant: once-key
    }

    /// Accepted intents whose effect has come once everything up to `through` has (F3).
    package func accepted(upTo through: Position) -> [IntentNumber] {
        var numbers: [IntentNumber] = []
        for (position, waiting) in awaited {
            guard position <= through else { break }  // mutant: accepted-through
            numbers.append(contentsOf: waiting)
        }
        return numbers
    }

    /// The settled intent whose event has to come back from the log before `entry` can be applied.
    package func settledIntentNeeded(by entry: Entry) -> IntentNumber? {
        guard case .acknowledged(let answer) = entry, overlay[answer.number] == nil else {
            return nil
        }
        return answer.number
    }

    // MARK: Applying an entry

    /// Takes the log's next entry in.
    ///
    /// - Parameter recalled: the intent named by ``settledIntentNeeded(by:)``.
    package mutating func apply(
        _ entry: Entry, at sequence: LogSequence, settledIntent: RecordedIntent? = nil
    ) -> Effects {
        precondition(sequence > self.sequence, "entry \(sequence) after \(self.sequence)")
        self.sequence = sequence
        var effects = Effects()
        switch entry {
        case .intent(let recorded): record(recorded, &effects)
        case .acknowledged(let answer):
            switch kind {
            case .downlink: accept(answer, settledIntent, &effects)
            case .acknowledgement: confirm(answer, settledIntent, &effects)
            }
        case .changed(let number, .rejected):
            settle(number, .rejected(isDismissed: false), &effects)
            rejections[number] = sequence
        case .changed(let number, .withdrawn): settle(number, .withdrawn, &effects)
        case .changed(let number, .dismissed): dismiss(number, &effects)
        case .confirmed(let batch): confirm(batch, &effects)
        }
        return effects
    }

    private mutating func record(_ recorded: RecordedIntent, _ effects: inout Effects) {
        precondition(recorded.number >= nextNumber, "\(recorded.number) is below \(nextNumber)")
        nextNumber = recorded.number.next
        if let old = recorded.retries { dismiss(old, &effects) }  // mutant: retry-dismisses
        let intent = UnsettledIntent(recorded)
        insert(intent)
        if intent.isOptimistic { effects.fold.view = .apply(intent) }
    }

    private mutating func dismiss(_ number: IntentNumber, _ effects: inout Effects) {
        rejections[number] = nil
        effects.verdicts.append(
            SettlementChange(
                number: number, verdict: .rejected(isDismissed: true),
                intentSequence: nil, verdictSequence: nil))
    }

    /// Rejected or withdrawn: what was folded is folded no longer, and what came after is folded
    /// again (F10).
    private mutating func settle(
        _ number: IntentNumber, _ verdict: Settlement, _ effects: inout Effects
    ) {
        let intent = remove(number, verdict, &effects)
        if let intent, intent.isOptimistic { effects.fold.view = .rollBack(from: number) }
    }

    /// An acknowledgement where the downlink confirms (F3), overriding a rejection (F7).
    private mutating func accept(
        _ answer: Acknowledged, _ settledIntent: RecordedIntent?,
        _ effects: inout Effects
    ) {
        let number = answer.number
        if answer.settles {
            // Its effect has come already; nothing is applied for it, and the overlay loses it.
            settle(number, .confirmed, &effects)
            return
        }
        let acceptance = Acceptance(
            position: answer.position, replacement: answer.replacement, sequence: sequence)
        let inOverlay = overlay[number]
        let recorded = expect(inOverlay?.recorded ?? settledIntent, number)
        let intent = UnsettledIntent(recorded, acceptance: acceptance)
        if inOverlay == nil {
            rejections[number] = nil
            effects.reopened.append(number)
        }
        insert(intent)
        effects.answered.append(number)
        let changesView = inOverlay == nil || answer.replacement != nil
        if intent.isOptimistic, changesView { effects.fold.view = .rollBack(from: number) }
    }

    /// An acknowledgement that confirms by itself: the server's words, or else the intent's own (F4).
    private mutating func confirm(
        _ answer: Acknowledged, _ settledIntent: RecordedIntent?,
        _ effects: inout Effects
    ) {
        let number = answer.number
        let isHead = firstFolded == number
        let intent = remove(number, .confirmed, &effects)
        let recorded = expect(intent?.recorded ?? settledIntent, number)
        effects.fold.confirm = [
            Folded(
                payload: answer.replacement ?? recorded.payload,  // mutant: confirmed-payload
                context: EventContext(.intent(recorded.id)))
        ]
        effects.fold.view = isHead && answer.replacement == nil ? .unchanged : .rebase
    }

    /// A batch: what is beyond `through` is applied in order of position, and what it names or
    /// reaches is confirmed (F5, F6).
    private mutating func confirm(
        _ batch: ConfirmedBatch, _ effects: inout Effects
    ) {
        let newEvents = Self.newEvents(in: batch.events, after: through)
        let isFastForward = isFastForward(newEvents, settling: batch.settled)
        through = max(through, batch.through)
        for number in batch.settled { _ = remove(number, .confirmed, &effects) }
        effects.fold.confirm = newEvents.map {  // mutant: batch-effects
            Folded(payload: $0.payload, context: $0.context)
        }
        effects.fold.view = isFastForward ? .unchanged : .rebase
    }

    /// The events beyond `through`, in order of position; those of one position in batch order (F5).
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

    /// Whether the batch brings just the overlay's head as it is folded there, each intent once, and
    /// settles just those: then the list that the view folds stays the same.
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

    private var firstFolded: IntentNumber? { overlay.first { $0.value.isOptimistic }?.key }

    private mutating func insert(_ intent: UnsettledIntent) {
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

    /// Takes the intent out of the overlay, if it is there, and notes its verdict.
    private mutating func remove(
        _ number: IntentNumber, _ verdict: Settlement, _ effects: inout Effects
    ) -> UnsettledIntent? {
        let intent = overlay[number]
        overlay[number] = nil
        rejections[number] = nil
        if let once = intent?.recorded.once {
            let others = (onceKeys[once] ?? []).filter { $0 != number }
            onceKeys[once] = others.isEmpty ? nil : others
        }
        if let acceptance = intent?.acceptance {
            acceptedCount -= 1
            if let position = acceptance.position {
                var others = awaited[position] ?? []
                others.remove(number)
                awaited[position] = others.isEmpty ? nil : others
            }
        }
        effects.verdicts.append(
            SettlementChange(
                number: number, verdict: verdict, intentSequence: intent?.recorded.sequence,
                verdictSequence: sequence))
        effects.answered.append(number)
        if intent != nil { effects.fold.removed.append(number) }
        return intent
    }

    private func expect(
        _ recorded: RecordedIntent?, _ number: IntentNumber
    ) -> RecordedIntent {
        guard let recorded else {
            preconditionFailure("intent \(number) was not recalled for entry \(sequence)")
        }
        return recorded
    }
}
