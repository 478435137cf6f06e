/// One thing that is to have gone otherwise: see ``RecordedHistory/branch(_:)``.
public enum HistoryEdit<Event: Sendable>: Sendable {
    /// The entry was never there; with an intent go the answers to it, and its events from batches.
    case drop(LogSequence)
    /// The intent was recorded with another event. What the server confirmed in its own words stays.
    case edit(IntentNumber, LoggedEvent<Event>)
    /// One more intent was recorded behind the entry; 0 is before the first.
    case record(LoggedEvent<Event>, behind: LogSequence)
    /// The two entries came in the other order.
    case swap(LogSequence, LogSequence)
    /// The server refused the intent, at the place of its answer; behind the last entry where it had none. Its
    /// events in batches never came.
    case reject(IntentNumber, Rejection)
    /// The server acknowledged the intent instead of refusing it or it was withdrawn, at the same place. Batches
    /// stay as they are: in a downlink log the intent is accepted until one of them confirms it.
    case acknowledge(IntentNumber)
}

/// A history in which something went otherwise, beside the one that it was made of.
public struct HistoryBranch<Event: Sendable>: Sendable {
    public let history: RecordedHistory<Event>
    /// Of each of its entries, the one that it was; nil for those that are new.
    public let origins: [LogSequence: LogSequence]
    /// Of each of its intents, the number that it had; none for those that are new.
    public let intents: [IntentNumber: IntentNumber]
    /// Numbers of the new ones, in order.
    public let inserted: [IntentNumber]
    /// Of each of its entries, at whose place in the other history it stands; nil for those that are new.
    let slots: [LogSequence: LogSequence]
    /// Entries that no longer follow from those before them, and are not in it.
    public let leftOut: [LogSequence]
}

extension RecordedHistory {
    /// What would have been: this history with `edits`, one after the other. The log knows nothing of it.
    ///
    /// Entries keep their sequences and intents their numbers where they can. Two that are swapped get each other's;
    /// behind one that is new both may be higher. So may ids that projections make of a context (F12): what an event
    /// says of such an id then is of another. ``HistoryBranch/intents`` has the numbers.
    ///
    /// - Throws: `.beyondEnd` for a sequence, `.unknownIntent` for an intent, that the history does not have.
    /// - Complexity: O(n log n) in entries.
    public func branch(
        _ edits: [HistoryEdit<Event>]
    ) throws(FoldbackError) -> HistoryBranch<Event> {
        var draft = BranchDraft(entries, replica)
        for edit in edits { try draft.make(edit) }
        let numbered = draft.numbered()
        let history = following(numbered.entries.map { Record($0) })
        let kept = Set(history.sequences)
        let there = Set(numbered.origins.filter { kept.contains($0.key) }.values)
        return HistoryBranch(
            history: history, origins: numbered.origins.filter { kept.contains($0.key) },
            intents: numbered.intents, inserted: numbered.inserted, slots: numbered.slots,
            leftOut: sequences.filter { !there.contains($0) && !draft.dropped.contains($0) })
    }
}

/// A branch's entries, numbered.
private struct NumberedDraft<Event: Sendable> {
    var entries: [LogEntry<Event>] = []
    var origins: [LogSequence: LogSequence] = [:]
    var intents: [IntentNumber: IntentNumber] = [:]
    var inserted: [IntentNumber] = []
    var slots: [LogSequence: LogSequence] = [:]
}

/// The entries of a branch while it is made.
private struct BranchDraft<Event: Sendable> {
    /// A place of the history, and the number that it gave.
    private struct Slot {
        let sequence: LogSequence
        let number: IntentNumber?
    }

    private struct Draft {
        /// Nil for one that is new.
        let origin: LogSequence?
        /// Where it stands; nil: where nothing was.
        var slot: Slot?
        var entry: LogEntry<Event>

        var isInsertedIntent: Bool {
            if case .intent = entry.content { origin == nil } else { false }
        }
    }

    private var drafts: [Draft]
    private(set) var dropped: Set<LogSequence> = []
    private let replica: ReplicaID

    init(_ entries: [LogEntry<Event>], _ replica: ReplicaID) {
        drafts = entries.map { entry in
            var number: IntentNumber?
            if case .intent(let own, _, _, _, _) = entry.content { number = own }
            let slot = Slot(sequence: entry.sequence, number: number)
            return Draft(origin: entry.sequence, slot: slot, entry: entry)
        }
        self.replica = replica
    }

    mutating func make(_ edit: HistoryEdit<Event>) throws(FoldbackError) {
        switch edit {
        case .drop(let sequence):
            let entry = drafts.remove(at: try place(of: sequence)).entry
            dropped.insert(sequence)
            guard case .intent(let number, _, _, _, _) = entry.content else { return }
            _ = takeAnswers(to: IntentID(replica: entry.replica, number: number), withEvents: true)
        case .swap(let a, let b):
            let (a, b) = (try place(of: a), try place(of: b))
            (drafts[a].slot, drafts[b].slot) = (drafts[b].slot, drafts[a].slot)
            drafts.swapAt(a, b)
        case .edit(let number, let event):
            let place = try place(ofIntent: number)
            guard
                case .intent(_, _, let isConfirmOnly, let once, let retries) = drafts[place].entry
                    .content
            else { return }
            drafts[place].entry = drafts[place].entry.replacing(
                .intent(
                    number, event, isConfirmOnly: isConfirmOnly, once: once, retries: retries))
        case .record(let event, let sequence):
            let place = sequence == 0 ? 0 : try place(of: sequence) + 1
            // Numbered behind all others for now; ``numbered()`` finds its own.
            insert(
                .intent(0, event, isConfirmOnly: false, once: nil, retries: nil), at: place)
        case .reject(let number, let rejection):
            try answer(number, with: .rejected(number, rejection), withEvents: true)
        case .acknowledge(let number):
            try answer(
                number, with: .acknowledged(number, position: nil, replacement: nil),
                withEvents: false)
        }
    }

    private mutating func insert(
        _ content: LogEntry<Event>.Content, at place: Int, _ origin: LogSequence? = nil
    ) {
        let near = drafts.isEmpty ? nil : drafts[max(0, place - 1)].entry
        let entry = LogEntry<Event>(
            sequence: near?.sequence ?? 0, time: near?.time ?? Timestamp(millisecondsSince1970: 0),
            replica: replica, info: [:], content: content)
        let slot = origin.map { Slot(sequence: $0, number: nil) }
        drafts.insert(Draft(origin: origin, slot: slot, entry: entry), at: place)
    }

    /// Takes out what the log says of the intent, and says this instead.
    private mutating func answer(
        _ number: IntentNumber, with content: LogEntry<Event>.Content, withEvents: Bool
    ) throws(FoldbackError) {
        let own = drafts[try place(ofIntent: number)].entry
        let id = IntentID(replica: own.replica, number: number)
        let answers = takeAnswers(to: id, withEvents: withEvents)
        insert(content, at: answers.first ?? drafts.count, answers.origin)
    }

    /// - Parameter withEvents: whether its events go from batches as well; the batches stay.
    /// - Returns: the place of the first; and which entry that was, where it is gone.
    private mutating func takeAnswers(
        to id: IntentID, withEvents: Bool
    ) -> (first: Int?, origin: LogSequence?) {
        var first: Int?
        var origin: LogSequence?
        for place in drafts.indices.reversed() {
            switch drafts[place].entry.content {
            case .acknowledged(id.number, _, _), .rejected(id.number, _), .withdrawn(id.number),
                .dismissed(id.number):
                origin = drafts.remove(at: place).origin
                first = place
            case .confirmed(let events, let through)
            where withEvents && events.contains { $0.origin == id }:
                drafts[place].entry = drafts[place].entry.replacing(
                    .confirmed(events.filter { $0.origin != id }, through: through))
                origin = nil
                first = place
            default: break
            }
        }
        return (first, origin)
    }

    /// Sequences and numbers that rise again.
    func numbered() -> NumberedDraft<Event> {
        var renumbering = Renumbering()
        var numbered = NumberedDraft<Event>()
        var last: IntentNumber = 0
        for draft in drafts {
            guard case .intent(let number, _, _, _, _) = draft.entry.content else { continue }
            last = max(draft.slot?.number ?? 0, last.next)
            if draft.origin == nil {
                numbered.inserted.append(last)
            } else {
                renumbering.number(draft.entry, last)
                numbered.intents[last] = number
            }
        }
        var inserted = numbered.inserted[...]
        var sequence: LogSequence = 0
        for draft in drafts {
            sequence = max(draft.slot?.sequence ?? 0, sequence.next)
            numbered.origins[sequence] = draft.origin
            numbered.slots[sequence] = draft.slot?.sequence
            let own = draft.isInsertedIntent ? inserted.popFirst() : nil
            numbered.entries.append(renumbering.made(of: draft.entry, at: sequence, own))
        }
        return numbered
    }

    private func place(of sequence: LogSequence) throws(FoldbackError) -> Int {
        guard let place = drafts.firstIndex(where: { $0.origin == sequence }) else {
            throw .beyondEnd(sequence, last: drafts.compactMap(\.origin).max() ?? 0)
        }
        return place
    }

    private func place(ofIntent number: IntentNumber) throws(FoldbackError) -> Int {
        let place = drafts.firstIndex { draft in
            guard case .intent(number, _, _, _, _) = draft.entry.content else { return false }
            return draft.origin != nil
        }
        guard let place else { throw .unknownIntent(number) }
        return place
    }
}

extension LogEntry {
    fileprivate func replacing(_ content: Content) -> LogEntry {
        LogEntry(
            sequence: sequence, time: time, replica: replica, info: info, content: content)
    }
}
