/// What a log that begins at a base has, beside what is copied from the log before it (C1 to C4).
struct BasedLog {
    let base: LogBase
    /// The checkpoint at the base, and perhaps one at the end.
    let checkpoints: [CheckpointRows]
    /// The intents before the base whose records are kept (C4).
    let kept: Set<IntentNumber>
    /// What the base changes of the facts that are copied.
    var facts: [TableWrite] = []
    /// The last entry.
    let last: LogSequence

    /// Writes the log beside the log that it is made from, as ``CompactedLog/path(of:)``.
    ///
    /// - Parameter tables: the tables that are copied whole.
    func write(
        from log: LMDBLog, copying tables: [LogTable], freshReplica: () -> ReplicaID
    ) throws(LogError) {
        let names = log.header.replicas.names
        let new = try LMDBLog.open(
            CompactedLog.path(of: log.path), kind: nil, newKind: log.header.kind,
            replica: .exactly(log.header.replicas.current), newBase: base,
            earlier: Array(names.dropLast()), options: Durability.relaxed.options,
            freshReplica: freshReplica)
        defer { new.close() }
        var copy = BoundedCopy(to: new)
        try writeBase(to: &copy)
        for table in tables {
            try log.eachRow(of: table) { key, value throws(LogError) in
                guard table != .log || key.isSharedByForms else { return }
                try copy.put(TableWrite(table, key, value))
            }
        }
        for fact in facts { try copy.put(fact) }
        func keep(_ sequence: LogSequence, _ bytes: [UInt8]) throws(LogError) {
            let entry = try log.entry(bytes, at: sequence, codec: RawCodec())
            guard entry.isAbout(kept) else { return }
            try copy.put(TableWrite(.kept, LogKey(sequence), bytes))
        }
        try log.scan(.kept, keep)
        var records = RecordReader(log, after: log.baseSequence)
        while let (sequence, bytes) = try records.next() {
            if sequence <= base.sequence {
                try keep(sequence, bytes)
            } else {
                try copy.put(TableWrite(.entries, LogKey(sequence), bytes))
            }
        }
        try copy.finish()
    }

    /// Writes a log that no log was before.
    ///
    /// - Parameter path: where a log will be: it is written as ``CompactedLog/path(of:)``.
    func write(
        for path: String, kind: LogKind, replica: NewReplica, freshReplica: () -> ReplicaID
    ) throws(LogError) {
        let new = try LMDBLog.open(
            CompactedLog.path(of: path), kind: kind, newKind: kind, replica: replica,
            newBase: base, options: Durability.relaxed.options, freshReplica: freshReplica)
        defer { new.close() }
        var copy = BoundedCopy(to: new)
        try writeBase(to: &copy)
        for fact in facts { try copy.put(fact) }
        try copy.finish()
    }

    private func writeBase(to copy: inout BoundedCopy) throws(LogError) {
        for row in checkpoints.flatMap({ Array($0.rows) }) {
            try copy.put(TableWrite(.checkpoints, LogKey(row.key), row.bytes))
        }
    }

    /// Checks that the log that was written is sound: folding it from its base gives the states and rows
    /// at its last entry, which were copied from the log before it (C7).
    ///
    /// - Parameter path: the log that it is to replace.
    /// - Throws: `.notProven`.
    func prove(
        _ path: String, _ projections: ProjectionSet, _ codec: any PayloadCodec
    ) throws(LogError) {
        let new = try LMDBLog.openReadOnly(CompactedLog.path(of: path))
        defer { new.close() }
        var verifier = try Verifier(new, projections, codec: codec)
        let verification = try verifier.verification()
        if let finding = verification.findings.first {
            throw .notProven(path: path, reason: "\(finding)")
        }
        let given = Set(projections.members.map(\.identity.name.string))
        if let name = verification.notCompared.first(where: given.contains) {
            throw .notProven(
                path: path,
                reason: "the states or rows of \(name) cannot be compared; open the log once with "
                    + "this code, or make the states Equatable")
        }
        guard verifier.fold.state.sequence == last else {
            throw .notProven(path: path, reason: "it ends at entry \(verifier.fold.state.sequence)")
        }
    }
}

// MARK: What is kept

extension LMDBLog {
    /// Returns the intents before a base whose records are kept: all that were not confirmed there,
    /// except those that were taken back before they were sent (C4).
    ///
    /// With them come those that were recorded together with one of them, and those that one of them
    /// undoes: undo and redo look at them (F21). And those that were brought from another log, so that
    /// bringing them again doubles nothing (N6).
    ///
    /// - Parameter also: more intents that are kept.
    func intentsToKeep(
        _ overlay: Overlay, _ settlements: SettlementBook, also: Set<IntentNumber> = [],
        through last: LogSequence
    ) throws(LogError) -> Set<IntentNumber> {
        var kept = also.union(overlay.keys)
        for number in settlements.numbers {
            guard let row = settlements[number], row.settlement != .confirmed else { continue }
            if row.settlement == .withdrawn, try wasTakenBack(at: row.settlementSequence) {
                continue
            }
            kept.insert(number)  // mutant: kept-settled
        }
        return try withRelated(kept, through: last)
    }

    private func withRelated(
        _ numbers: Set<IntentNumber>, through last: LogSequence
    ) throws(LogError) -> Set<IntentNumber> {
        var (related, groups) = (numbers, Set<IntentNumber>())
        func eachIntent(_ body: (RecordedIntent) -> Void) throws(LogError) {
            func take(_ entry: Entry) { if case .intent(let intent) = entry { body(intent) } }
            try scan(.kept) { (sequence: LogSequence, bytes) throws(LogError) in
                take(try entry(bytes, at: sequence, codec: RawCodec()))
            }
            try scanEntries(from: baseSequence.next, upTo: last) { entry, _ in take(entry) }
        }
        try eachIntent { intent in
            if let once = intent.once, !CarriedName.ids(in: once.string).isEmpty {
                related.insert(intent.number)
            }
            guard numbers.contains(intent.number) else { return }
            if let group = intent.terms.group { groups.insert(group) }
            if let undone = intent.terms.undoes { related.insert(undone) }
        }
        guard !groups.isEmpty else { return related }
        try eachIntent { intent in
            if let group = intent.terms.group, groups.contains(group) {
                related.insert(intent.number)
            }
        }
        return related
    }

    /// Whether an entry withdrew an intent, or replaced it, before it was sent.
    private func wasTakenBack(at sequence: LogSequence) throws(LogError) -> Bool {
        let bytes: [UInt8]?
        do throws(LogError) { bytes = try record(at: sequence) } catch .compacted {
            // An earlier compaction has not kept it, for that reason.
            return true
        }
        guard let bytes else { throw missing(sequence) }
        switch try entry(bytes, at: sequence, codec: RawCodec()) {
        case .intent, .changed(_, .withdrawn): return true
        case .changed, .acknowledged, .confirmed: return false
        }
    }

    /// Returns the first intent of each replica id in the entries up to this one.
    func firstIntents(through last: LogSequence) throws(LogError) -> [LogBase.First] {
        var firsts = base?.replicas ?? []
        try scanEntries(from: baseSequence.next, upTo: last) { entry, _ in
            guard case .intent(let recorded) = entry,
                let place = header.replicas.index(of: recorded.id.replica),
                firsts.last?.place != place
            else { return }
            firsts.append(LogBase.First(number: recorded.number, place: place))
        }
        return firsts
    }

    /// Checks that no projection is left out that was on the log in the last 30 days (C6).
    ///
    /// - Parameter given: the names of those that have a state at the base, or need none.
    /// - Throws: `.lacksProjections`.
    func requireProjections(_ given: Set<String>, at now: Timestamp) throws(LogError) {
        let lacking = try registeredProjections().filter { projection in
            let age = now.millisecondsSince1970.subtractingReportingOverflow(
                projection.lastOpened.millisecondsSince1970
            ).partialValue
            return age < Limits.projectionMillisecondsMax
                && !given.contains(projection.identity.name.string)
        }
        guard lacking.isEmpty else {
            throw .lacksProjections(
                path: path, names: Set(lacking.map(\.identity.name.string)).sorted())
        }
    }
}

extension Entry {
    /// Whether the entry records one of these intents, or says what became of it.
    fileprivate func isAbout(_ numbers: Set<IntentNumber>) -> Bool {
        switch self {
        case .intent(let recorded): numbers.contains(recorded.number)
        case .acknowledged(let answer): numbers.contains(answer.number)
        case .changed(let number, _): numbers.contains(number)
        case .confirmed: false
        }
    }
}
