/// What a compaction notes of the entries that it folds, so that it folds them once.
struct BaseNotes {
    /// The entry at which the base is to be.
    let end: LogSequence
    /// The states at that entry.
    private(set) var base: PublishedState?
    /// The settlements at that entry, except of confirmed intents.
    private(set) var settlements = SettlementBook()
    /// The first intent of each replica id up to that entry.
    private(set) var firsts: [LogBase.First]
    /// The intents whose settlement a later entry changes: folding these entries needs their records. And
    /// those that a later intent undoes.
    private(set) var answered: Set<IntentNumber> = []
    /// The entries that are about each intent, unless the intent is confirmed.
    private var entries: [IntentNumber: [LogSequence]] = [:]
    private var groups: [IntentNumber: IntentNumber] = [:]
    private var undone: [IntentNumber: IntentNumber] = [:]
    /// The intents that were brought from another log (N6).
    private var brought: Set<IntentNumber> = []
    /// The intents that were withdrawn or replaced before they were sent.
    private var takenBack: Set<IntentNumber> = []
    private let replicas: ReplicaTable
    private let earlierBase: LogSequence

    /// Begins where the log begins.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.storage`.
    init(of log: LMDBLog, at end: LogSequence) throws(LogError) {
        self.end = end
        replicas = log.header.replicas
        earlierBase = log.baseSequence
        firsts = log.base?.replicas ?? []
        guard let base = log.base else { return }
        var known = SettlementBook()
        try log.scanSettlements(before: base) {
            if $1.settlement != .confirmed { known.add($1, of: $0) }
        }
        settlements = known
        try log.scan(.kept) { (sequence: LogSequence, bytes) throws(LogError) in
            take(try log.entry(bytes, at: sequence, codec: RawCodec()), at: sequence)
        }
        firsts = base.replicas
    }

    /// Takes the next entry, after the fold has applied it.
    mutating func take(_ fold: inout LogFold, _ record: Record, _ effects: Effects) {
        let sequence = record.stamp.sequence
        guard sequence <= end else {
            answered.formUnion(effects.reopened)
            answered.formUnion(effects.settlements.map(\.number))
            if case .intent(let intent) = record.entry, let other = intent.terms.undoes {
                answered.insert(other)
            }
            return
        }
        take(record.entry, at: sequence)
        settlements.apply(effects, at: sequence)
        for change in effects.settlements where change.settlement == .confirmed {
            settlements.remove(change.number)
            if !isRelated(change.number) { entries[change.number] = nil }
        }
        if sequence == end { base = fold.makePublishedState() }
    }

    private mutating func take(_ entry: Entry, at sequence: LogSequence) {
        switch entry {
        case .intent(let intent):
            entries[intent.number] = [sequence]
            if let place = replicas.index(of: intent.id.replica), firsts.last?.place != place {
                firsts.append(LogBase.First(number: intent.number, place: place))
            }
            if let group = intent.terms.group { groups[intent.number] = group }
            if let other = intent.terms.undoes { undone[intent.number] = other }
            if let other = intent.terms.replaces { takenBack.insert(other) }
            if let once = intent.once, !CarriedName.ids(in: once.string).isEmpty {
                brought.insert(intent.number)
            }
        case .acknowledged(let answer): entries[answer.number]?.append(sequence)
        case .changed(let number, let change):
            entries[number]?.append(sequence)
            if case .withdrawn = change { takenBack.insert(number) }
            if case .restored = change { takenBack.remove(number) }
        case .confirmed: break
        }
    }

    private func isRelated(_ number: IntentNumber) -> Bool {
        groups[number] != nil || undone[number] != nil || brought.contains(number)
    }

    // MARK: What is kept

    /// Returns the intents before the base whose records are kept: all that were not confirmed there,
    /// except those that were taken back before they were sent (C4).
    ///
    /// With them come those that were recorded together with one of them, and those that one of them
    /// undoes: undo and redo look at them (F21). And those that were brought from another log, so that
    /// bringing them again doubles nothing (N6).
    func kept(_ overlay: Overlay, _ settlements: SettlementBook) -> Set<IntentNumber> {
        var kept = answered.union(overlay.keys)
        for number in settlements.numbers {
            guard let row = settlements[number] else { continue }
            if row.settlement == .withdrawn, wasTakenBack(number, row) { continue }
            kept.insert(number)  // mutant: kept-settled
        }
        // An intent that is kept for one reason has relations of its own.
        var count = -1
        while count < kept.count {
            count = kept.count
            kept.formUnion(kept.compactMap { undone[$0] })
            let groups = Set(kept.compactMap { self.groups[$0] })
            for (number, group) in self.groups where groups.contains(group) { kept.insert(number) }
        }
        return kept.union(brought)
    }

    private func wasTakenBack(_ number: IntentNumber, _ row: SettlementRow) -> Bool {
        // An earlier compaction has kept nothing of those that were taken back.
        takenBack.contains(number)
            || row.settlementSequence <= earlierBase && entries[number] == nil
    }

    /// Returns the entries up to the base that may be about these intents, ascending.
    ///
    /// - Parameter log: tells when intents were confirmed that nothing needed until later.
    func entries(
        about kept: Set<IntentNumber>, in log: LMDBLog
    ) throws(LogError) -> [LogSequence] {
        var sequences: Set<LogSequence> = []
        for number in kept {
            if let known = entries[number] {
                sequences.formUnion(known)
            } else if let row = try log.settlementRow(of: number), row.intentSequence <= end {
                // What is about it is in between.
                let last = min(row.settlementSequence, end).value
                sequences.formUnion(
                    (row.intentSequence.value...max(row.intentSequence.value, last)).lazy.map {
                        LogSequence($0)
                    })
            }
        }
        return sequences.filter { $0 > earlierBase }.sorted()
    }
}
