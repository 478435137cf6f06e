/// One thing that is to have gone otherwise: see ``RecordedHistory/branch(_:)``.
public enum HistoryEdit<Event: Sendable>: Sendable {
    /// The entry was never there; with an intent go the answers to it.
    case drop(LogSequence)
    /// The intent was recorded with another event. What the server confirmed in its own words stays.
    case edit(IntentNumber, LoggedEvent<Event>)
    /// One more intent was recorded behind the entry; 0 is before the first.
    case record(LoggedEvent<Event>, behind: LogSequence)
    /// The two entries came in the other order.
    case swap(LogSequence, LogSequence)
    /// The server refused the intent, at the place of its answer; behind the last entry where it had none.
    case reject(IntentNumber, Rejection)
    /// The server acknowledged the intent, at the same place.
    case acknowledge(IntentNumber)
}

/// A history in which something went otherwise, beside the one that it was made of.
public struct HistoryBranch<Event: Sendable>: Sendable {
    public let history: RecordedHistory<Event>
    /// Of each of its entries, the one that it was; nil for those that are new.
    public let origins: [LogSequence: LogSequence]
    /// Entries that no longer follow from those before them, and are not in it.
    public let leftOut: [LogSequence]
}

extension RecordedHistory {
    /// What would have been: this history with `edits`, one after the other. The log knows nothing of it.
    ///
    /// Entries keep their sequences and intents their numbers where they can; behind one that is new or moved,
    /// both may be higher, and so may ids that projections make of a context (F12).
    ///
    /// - Throws: `.beyondEnd` for a sequence, `.unknownIntent` for an intent, that the history does not have.
    /// - Complexity: O(n log n) in entries.
    public func branch(
        _ edits: [HistoryEdit<Event>]
    ) throws(FoldbackError) -> HistoryBranch<Event> {
        var draft = BranchDraft(entries, replica)
        for edit in edits { try draft.make(edit) }
        let (entries, origins) = draft.numbered()
        let history = following(entries.map { Record($0) })
        let kept = Set(history.sequences)
        return HistoryBranch(
            history: history, origins: origins.filter { kept.contains($0.key) },
            leftOut: entries.map(\.sequence).filter { !kept.contains($0) }
                .compactMap { origins[$0] })
    }
}

/// The entries of a branch while it is made.
private struct BranchDraft<Event: Sendable> {
    private struct Draft {
        /// Nil for one that is new.
        let origin: LogSequence?
        var entry: LogEntry<Event>
    }

    private var drafts: [Draft]
    private let replica: ReplicaID
    private let replicas: Set<ReplicaID>

    init(_ entries: [LogEntry<Event>], _ replica: ReplicaID) {
        drafts = entries.map { Draft(origin: $0.sequence, entry: $0) }
        self.replica = replica
        replicas = Set(entries.map(\.replica) + [replica])
    }

    mutating func make(_ edit: HistoryEdit<Event>) throws(FoldbackError) {
        switch edit {
        case .drop(let sequence): drafts.remove(at: try place(of: sequence))
        case .swap(let a, let b): drafts.swapAt(try place(of: a), try place(of: b))
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
            try answer(number, with: .rejected(number, rejection))
        case .acknowledge(let number):
            try answer(number, with: .acknowledged(number, position: nil, replacement: nil))
        }
    }

    private mutating func insert(
        _ content: LogEntry<Event>.Content, at place: Int, _ origin: LogSequence? = nil
    ) {
        let near = drafts.isEmpty ? nil : drafts[max(0, place - 1)].entry
        let entry = LogEntry<Event>(
            sequence: near?.sequence ?? 0, time: near?.time ?? Timestamp(millisecondsSince1970: 0),
            replica: replica, info: [:], content: content)
        drafts.insert(Draft(origin: origin, entry: entry), at: place)
    }

    /// Takes out what the log says of the intent, and says this instead.
    private mutating func answer(
        _ number: IntentNumber, with content: LogEntry<Event>.Content
    ) throws(FoldbackError) {
        let own = try place(ofIntent: number)
        let id = IntentID(replica: drafts[own].entry.replica, number: number)
        var first: Int?
        // What is said instead stands for the first answer; a batch stays, without the intent's event.
        var origin: LogSequence?
        for place in drafts.indices.dropFirst(own + 1).reversed() {
            switch drafts[place].entry.content {
            case .acknowledged(number, _, _), .rejected(number, _), .withdrawn(number),
                .dismissed(number):
                origin = drafts.remove(at: place).origin
                first = place
            case .confirmed(let events, let through) where events.contains { $0.origin == id }:
                drafts[place].entry = drafts[place].entry.replacing(
                    .confirmed(events.filter { $0.origin != id }, through: through))
                origin = nil
                first = place
            default: break
            }
        }
        insert(content, at: first ?? drafts.count, origin)
    }

    /// Sequences and numbers that rise again.
    func numbered() -> (entries: [LogEntry<Event>], origins: [LogSequence: LogSequence]) {
        var numbers: [IntentNumber: IntentNumber] = [:]
        var fresh: [Int: IntentNumber] = [:]
        var last: IntentNumber = 0
        for (place, draft) in drafts.enumerated() {
            guard case .intent(let number, _, _, _, _) = draft.entry.content else { continue }
            last = max(number, last.next)
            if draft.origin == nil { fresh[place] = last } else { numbers[number] = last }
        }
        var entries: [LogEntry<Event>] = []
        var origins: [LogSequence: LogSequence] = [:]
        var sequence: LogSequence = 0
        for (place, draft) in drafts.enumerated() {
            sequence = max(draft.origin ?? 0, sequence.next)
            origins[sequence] = draft.origin
            entries.append(
                draft.entry.numbered(sequence, numbers, fresh[place], replicas: replicas))
        }
        return (entries, origins)
    }

    private func place(of sequence: LogSequence) throws(FoldbackError) -> Int {
        guard let place = drafts.firstIndex(where: { $0.origin == sequence }) else {
            throw .beyondEnd(sequence, last: drafts.compactMap(\.origin).max() ?? 0)
        }
        return place
    }

    private func place(ofIntent number: IntentNumber) throws(FoldbackError) -> Int {
        let place = drafts.firstIndex { draft in
            if case .intent(number, _, _, _, _) = draft.entry.content { true } else { false }
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

    /// - Parameter own: the number of the entry's own intent, where it is new.
    func numbered(
        _ sequence: LogSequence, _ numbers: [IntentNumber: IntentNumber], _ own: IntentNumber?,
        replicas: Set<ReplicaID>
    ) -> LogEntry {
        func new(_ number: IntentNumber) -> IntentNumber { numbers[number] ?? number }
        let content: Content =
            switch content {
            case .intent(let number, let event, let isConfirmOnly, let once, let retries):
                .intent(
                    own ?? new(number), event, isConfirmOnly: isConfirmOnly, once: once,
                    retries: retries.map(new))
            case .acknowledged(let number, let position, let replacement):
                .acknowledged(new(number), position: position, replacement: replacement)
            case .rejected(let number, let rejection): .rejected(new(number), rejection)
            case .withdrawn(let number): .withdrawn(new(number))
            case .dismissed(let number): .dismissed(new(number))
            case .confirmed(let events, let through):
                .confirmed(
                    events.map { event in
                        ConfirmedEvent(
                            position: event.position, event: event.event,
                            origin: event.origin.map { origin in
                                replicas.contains(origin.replica)
                                    ? IntentID(replica: origin.replica, number: new(origin.number))
                                    : origin
                            })
                    }, through: through)
            }
        return LogEntry(
            sequence: sequence, time: time, replica: replica, info: info, content: content)
    }
}
