import Foldback

extension RecordedHistory {
    /// Returns how the states would differ without each of some intents: as if the intent, its
    /// answers and its events in batches had not been there, and everything else had.
    ///
    /// A report has no code that could fold a branch, so it needs these answers in advance.
    /// ``branch(_:)`` answers for any edits.
    ///
    /// - Parameters:
    ///   - numbers: intents that the history records. Others have no answer.
    ///   - projection: the projection whose states are compared.
    ///   - also: the log's other projections. Those that share conflicts with it are folded too.
    ///   - stepsMax: how many steps all answers may take together. A step is an entry, or an intent of
    ///     the overlay after it. The intents that need more have no answer.
    /// - Complexity: folds the history once. For each intent, folds and compares the entries from its
    ///   own on, until neither it nor an intent that depends on it can make a difference.
    /// - Throws: `.lacksProjections` if `also` lacks a projection that shares conflicts.
    package func divergences<P: Projection>(
        withoutEachOf numbers: Set<IntentNumber>, in projection: P.Type,
        also: [AdditionalProjection<Event>] = [], stepsMax: Int = .max
    ) throws(LogError) -> [IntentNumber: Divergences] where P.Event == Event {
        guard !numbers.isEmpty else { return [:] }
        var stepsLeft = stepsMax
        let mentions = lastMentions
        var own = try snapshots(of: projection, also: also)
        own.startTracking()
        var open: [Absence<P>] = []
        var found: [IntentNumber: Divergences] = [:]
        for record in records {
            if case .intent(let intent) = record.entry, numbers.contains(intent.number) {
                let links = LogEntry<Event>(record).intentNumbers
                open.append(Absence(of: intent.id, linkedTo: links, own))
            }
            guard let snapshot = own.next() else { break }
            guard !open.isEmpty else { continue }
            let touched = own.touched
            stepsLeft -= open.count * (1 + own.openCount)
            guard stepsLeft >= 0 else { return found }
            for place in open.indices {
                open[place].take(record, beside: snapshot, touched)
            }
            open.removeAll { absence in
                guard absence.isOver(after: record.stamp.sequence, own, mentions) else {
                    return false
                }
                found[absence.id.number] = absence.divergences(at: snapshot.sequence)
                return true
            }
        }
        let last = sequences.last ?? 0
        for absence in open { found[absence.id.number] = absence.divergences(at: last) }
        return found
    }

    /// The last entry that records, answers or names each intent of this log.
    private var lastMentions: [IntentNumber: LogSequence] {
        var mentions: [IntentNumber: LogSequence] = [:]
        var ids: [IntentNumber: IntentID] = [:]
        for record in records {
            let entry = LogEntry<Event>(record)
            for number in entry.intentNumbers { mentions[number] = entry.sequence }
            if case .intent(let intent) = record.entry { ids[intent.number] = intent.id }
            for origin in entry.origins where ids[origin.number] == origin {
                mentions[origin.number] = entry.sequence
            }
        }
        return mentions
    }
}

/// The fold of a history without one of its intents, beside the fold with it.
private struct Absence<P: Projection> {
    let id: IntentID
    private var states: HistorySnapshots<P>
    private var seen: Snapshot<P>
    private var differing = DifferenceTracker()
    private var found: [Divergence] = []
    /// The intent, those that it retries, replaces or undoes, and those whose entries are other ones
    /// without it.
    private var involved: Set<IntentNumber>

    /// - Parameter states: the states before the entry that recorded the intent.
    init(of id: IntentID, linkedTo links: [IntentNumber], _ states: HistorySnapshots<P>) {
        self.id = id
        self.states = states
        seen = self.states.snapshot
        involved = Set(links).union([id.number])
    }

    /// Takes the next record of the history.
    ///
    /// - Parameters:
    ///   - snapshot: the states with the intent, after the record.
    ///   - touched: the places of these states that the record may have changed.
    mutating func take(_ record: Record, beside snapshot: Snapshot<P>, _ touched: TouchedPlaces) {
        var touched = touched
        if let rest = record.without(id) {
            let following = states.following(rest)
            if following.map({ $0.links != rest.links }) ?? true {
                involved.formUnion(LogEntry<P.Event>(record).intentNumbers)
            }
            if let following {
                seen = states.take(following)
                touched.unite(states.touched)
            }
        }
        if let divergence = differing.look(snapshot, seen, at: touched) { found.append(divergence) }
    }

    /// Whether nothing can differ any more.
    ///
    /// - Parameter own: the states with the intent.
    func isOver(
        after sequence: LogSequence, _ own: HistorySnapshots<P>,
        _ mentions: [IntentNumber: LogSequence]
    ) -> Bool {
        !differing.isStateDifferent && !differing.hasConflicts
            && involved.allSatisfy {
                mentions[$0, default: 0] <= sequence && !own.isOpen($0) && !states.isOpen($0)
            }
    }

    func divergences(at end: LogSequence) -> Divergences {
        Divergences(entries: found, end: differing.whole(at: end))
    }
}

extension Record {
    /// Returns the record without an intent; nil if it is about the intent alone.
    fileprivate func without(_ id: IntentID) -> Record? {
        switch entry {
        case .intent(let intent): intent.number == id.number ? nil : self
        case .acknowledged(let answer): answer.number == id.number ? nil : self
        case .changed(let number, _): number == id.number ? nil : self
        case .confirmed(let batch):
            batch.events.contains { $0.origin == id }
                ? replacing(
                    .confirmed(batch.replacing(events: batch.events.filter { $0.origin != id })))
                : self
        }
    }

    /// The links whose loss changes what an intent does. A retry that retries nothing is the same
    /// intent.
    fileprivate var links: [IntentNumber?] {
        guard case .intent(let intent) = entry else { return [] }
        return [intent.terms.replaces, intent.terms.group, intent.terms.undoes]
    }
}
