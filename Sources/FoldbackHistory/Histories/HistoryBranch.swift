import Foldback

/// A hypothetical change to a history: see ``RecordedHistory/branch(_:)``.
public enum HistoryEdit<Event: Sendable>: Sendable {
    /// The entry did not happen. If it is an intent, its answers and its events in batches did not
    /// happen either. Intents that retried, replaced or undid it stay without that link.
    case drop(LogSequence)
    /// The intent was recorded with another event, and without the inverse of the old event. Events
    /// that the server confirmed in its own words stay.
    case edit(IntentNumber, LoggedEvent<Event>)
    /// One more intent was recorded after the entry; 0 is before the first entry.
    case record(LoggedEvent<Event>, after: LogSequence)
    /// The two entries came in the other order.
    case swap(LogSequence, LogSequence)
    /// The server rejected the intent. The rejection takes the place of the first answer to the
    /// intent. Without an answer it comes after the last entry. The intent's events in batches did
    /// not happen.
    case reject(IntentNumber, Rejection)
    /// The server acknowledged the intent. The acknowledgement replaces all other answers, such as
    /// a rejection or a withdrawal, at the place of the first. Without an answer it comes after the
    /// last entry. Batches stay as they are: in a downlink log the intent is accepted until a batch
    /// confirms it.
    case acknowledge(IntentNumber)
}

/// A history with hypothetical changes, and how it relates to the original history.
public struct HistoryBranch<Event: Sendable>: Sendable {
    public let history: RecordedHistory<Event>
    /// For each entry of the branch, its sequence in the original history; nil for a new entry.
    public let origins: [LogSequence: LogSequence]
    /// For each intent of the branch, its number in the original history; nil for a new intent.
    public let intents: [IntentNumber: IntentNumber]
    /// The numbers of the new intents, in order.
    public let inserted: [IntentNumber]
    /// For each entry of the branch, the original entry whose place it takes; nil for an entry at a
    /// new place.
    package let slots: [LogSequence: LogSequence]
    /// Original entries that no longer follow from the entries before them, and are not in the
    /// branch. Dropped entries, and answers dropped with their intent, are not listed.
    public let leftOut: [LogSequence]
    /// Intents, by their original numbers, that retried an intent that is not rejected in the
    /// branch. They stay, and retry nothing.
    public let retryingNothing: [IntentNumber]
}

extension RecordedHistory {
    /// Returns a copy of this history with `edits` applied in order. The log does not change.
    ///
    /// Entries keep their sequences and intents keep their numbers if possible. Swapped entries
    /// exchange theirs. After a new entry, sequences and numbers may be higher. Ids that
    /// projections make from a context (F12) then change too, and an event that names such an id
    /// may mean another object. ``HistoryBranch/intents`` maps the new numbers to the original
    /// numbers.
    ///
    /// - Throws: `.invalidEdit` if the history lacks the entry or intent, or an earlier edit removed
    ///   it; `.log(.beyondEnd)` for a sequence after the last entry; `.log(.unknownIntent)` for an
    ///   intent that was not recorded yet.
    /// - Complexity: O(n log n) in entries.
    public func branch(
        _ edits: [HistoryEdit<Event>]
    ) throws(HistoryError) -> HistoryBranch<Event> {
        var draft = BranchDraft(entries, replica)
        for edit in edits { try draft.make(edit) }
        let numbered = draft.numbered()
        let history = following(
            numbered.entries.map { Record($0) },
            sharing: shared.moved { start in
                // The last entry at or before the start, where the branch has it.
                let before = numbered.slots.filter { $0.value <= start }.keys.max()
                return max(before ?? start, start)
            })
        let kept = Set(history.sequences)
        let origins = numbered.origins.filter { kept.contains($0.key) }
        let there = Set(origins.values)
        return HistoryBranch(
            history: history, origins: origins, intents: numbered.intents,
            inserted: numbered.inserted, slots: numbered.slots.filter { kept.contains($0.key) },
            leftOut: sequences.filter { !there.contains($0) && !draft.dropped.contains($0) },
            retryingNothing: history.retriers(isRetrying: false).compactMap { numbered.intents[$0] }
                .filter(Set(retriers(isRetrying: true)).contains))
    }

    /// The intents in the history that retry another intent, or those that do not.
    private func retriers(isRetrying: Bool) -> [IntentNumber] {
        records.compactMap { record in
            guard case .intent(let intent) = record.entry else { return nil }
            return (intent.retries != nil) == isRetrying ? intent.number : nil
        }
    }
}

/// The entries of a branch with their new sequences and numbers.
private struct NumberedDraft<Event: Sendable> {
    var entries: [LogEntry<Event>] = []
    var origins: [LogSequence: LogSequence] = [:]
    var intents: [IntentNumber: IntentNumber] = [:]
    var inserted: [IntentNumber] = []
    var slots: [LogSequence: LogSequence] = [:]
}

/// The entries of a branch while the edits are applied.
private struct BranchDraft<Event: Sendable> {
    private struct Draft {
        /// The original sequence; nil for a new entry.
        let origin: LogSequence?
        /// The original entry whose place it takes; nil at a new place.
        var slot: LogSequence?
        var entry: LogEntry<Event>

        var isInsertedIntent: Bool {
            if case .intent = entry.content { origin == nil } else { false }
        }
    }

    /// Answers to an intent that were removed.
    private struct Taken {
        /// The index of the first answer.
        var first: Int?
        /// The original sequence and the slot of that answer, if its whole entry was removed.
        var origin: LogSequence?
        var slot: LogSequence?
        var gone: [LogSequence] = []
    }

    private let entries: [LogEntry<Event>]
    private var drafts: [Draft]
    private(set) var dropped: Set<LogSequence> = []
    private let replica: ReplicaID

    init(_ entries: [LogEntry<Event>], _ replica: ReplicaID) {
        self.entries = entries
        drafts = entries.map { Draft(origin: $0.sequence, slot: $0.sequence, entry: $0) }
        self.replica = replica
    }

    mutating func make(_ edit: HistoryEdit<Event>) throws(HistoryError) {
        switch edit {
        case .drop(let sequence):
            let entry = drafts.remove(at: try place(of: sequence)).entry
            dropped.insert(sequence)
            guard let number = entry.ownIntent else { return }
            let id = IntentID(replica: entry.replica, number: number)
            dropped.formUnion(takeAnswers(to: id, withEvents: true, withRelease: true).gone)
        case .swap(let a, let b):
            let (a, b) = (try place(of: a), try place(of: b))
            (drafts[a].slot, drafts[b].slot) = (drafts[b].slot, drafts[a].slot)
            drafts.swapAt(a, b)
        case .edit(let number, let event):
            let place = try place(ofIntent: number)
            guard case .intent(var intent) = drafts[place].entry.content else { return }
            intent.event = event
            intent.inverse = nil
            drafts[place].entry = drafts[place].entry.replacing(.intent(intent))
        case .record(let event, let sequence):
            let place = sequence == 0 ? 0 : try place(of: sequence) + 1
            // ``numbered()`` assigns the number.
            insert(.intent(LoggedIntent(0, event)), at: place)
        case .reject(let number, let rejection):
            try answer(number, with: .changed(number, .rejected(rejection)), withEvents: true)
        case .acknowledge(let number):
            try answer(
                number, with: .acknowledged(number, position: nil, replacement: nil),
                withEvents: false)
        }
    }

    private mutating func insert(
        _ content: LogEntry<Event>.Content, at place: Int, insteadOf taken: Taken? = nil
    ) {
        let near = drafts.isEmpty ? nil : drafts[max(0, place - 1)].entry
        let entry = LogEntry<Event>(
            sequence: near?.sequence ?? 0, time: near?.time ?? Timestamp(millisecondsSince1970: 0),
            replica: replica, info: [:], content: content)
        drafts.insert(Draft(origin: taken?.origin, slot: taken?.slot, entry: entry), at: place)
    }

    /// Replaces all answers to an intent by one entry.
    private mutating func answer(
        _ number: IntentNumber, with content: LogEntry<Event>.Content, withEvents: Bool
    ) throws(HistoryError) {
        let own = drafts[try place(ofIntent: number)].entry
        let id = IntentID(replica: own.replica, number: number)
        let answers = takeAnswers(to: id, withEvents: withEvents, withRelease: false)
        insert(content, at: answers.first ?? drafts.count, insteadOf: answers)
    }

    /// Removes the answers to an intent.
    ///
    /// - Parameters:
    ///   - withEvents: whether to remove the intent's events from batches too. The batches stay.
    ///   - withRelease: whether to remove the release of a draft too, which is not an answer.
    private mutating func takeAnswers(
        to id: IntentID, withEvents: Bool, withRelease: Bool
    ) -> Taken {
        var taken = Taken()
        for place in drafts.indices.reversed() {
            switch drafts[place].entry.content {
            case .changed(id.number, .released) where !withRelease: break
            case .acknowledged(id.number, _, _), .changed(id.number, _):
                let gone = drafts.remove(at: place)
                (taken.origin, taken.slot) = (gone.origin, gone.slot)
                if let origin = gone.origin { taken.gone.append(origin) }
                taken.first = place
            case .confirmed(let events, let through)
            where withEvents && events.contains { $0.origin == id }:
                drafts[place].entry = drafts[place].entry.replacing(
                    .confirmed(events.filter { $0.origin != id }, through: through))
                (taken.origin, taken.slot) = (nil, nil)
                taken.first = place
            default: break
            }
        }
        return taken
    }

    /// Returns the entries with sequences and numbers that rise again.
    func numbered() -> NumberedDraft<Event> {
        var renumbering = Renumbering()
        var numbered = NumberedDraft<Event>()
        var last: IntentNumber = 0
        // The old numbers are assigned again in rising order, because swapped intents changed
        // places.
        var numbers = drafts.filter { !$0.isInsertedIntent }.compactMap(\.entry.ownIntent)
            .sorted()[...]
        for draft in drafts {
            guard let number = draft.entry.ownIntent else { continue }
            if draft.isInsertedIntent {
                last = last.next
                numbered.inserted.append(last)
            } else {
                last = max(numbers.popFirst() ?? 0, last.next)
                renumbering.number(draft.entry, last)
                numbered.intents[last] = number
            }
        }
        var inserted = numbered.inserted[...]
        var sequence: LogSequence = 0
        for draft in drafts {
            sequence = max(draft.slot ?? 0, sequence.next)
            numbered.origins[sequence] = draft.origin
            numbered.slots[sequence] = draft.slot
            let own = draft.isInsertedIntent ? inserted.popFirst() : nil
            numbered.entries.append(renumbering.made(of: draft.entry, at: sequence, own))
        }
        return numbered
    }

    private func place(of sequence: LogSequence) throws(HistoryError) -> Int {
        if let place = drafts.firstIndex(where: { $0.origin == sequence }) { return place }
        let last = entries.last?.sequence ?? 0
        guard sequence <= last else { throw .log(.beyondEnd(sequence, last: last)) }
        let isTaken = entries.contains { $0.sequence == sequence }
        throw .missing("entry \(sequence)", isTaken: isTaken)
    }

    private func place(ofIntent number: IntentNumber) throws(HistoryError) -> Int {
        let place = drafts.firstIndex { $0.origin != nil && $0.entry.ownIntent == number }
        if let place { return place }
        let numbers = entries.compactMap(\.ownIntent)
        guard number > 0, number <= numbers.max() ?? 0 else { throw .log(.unknownIntent(number)) }
        throw .missing("intent \(number)", isTaken: numbers.contains(number))
    }
}

extension HistoryError {
    /// - Parameter isTaken: whether an earlier edit removed it.
    fileprivate static func missing(_ what: String, isTaken: Bool) -> HistoryError {
        .invalidEdit(
            reason: isTaken
                ? "\(what) was taken out by another edit already"
                : "\(what) is not in this history")
    }
}

extension LogEntry {
    fileprivate var ownIntent: IntentNumber? {
        guard case .intent(let intent) = content else { return nil }
        return intent.number
    }

    fileprivate func replacing(_ content: Content) -> LogEntry {
        LogEntry(
            sequence: sequence, time: time, replica: replica, info: info, content: content)
    }
}
