/// What a log that begins at a base has, beside what is copied from the log before it (C1 to C4).
struct BasedLog {
    let base: LogBase
    /// The checkpoint at the base, and perhaps one at the end.
    let checkpoints: [CheckpointRows]
    /// The intents before the base whose records are kept (C4).
    let kept: Set<IntentNumber>
    /// The entries up to the base that may be about them.
    let keptEntries: [LogSequence]
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
        let replicas = log.header.replicas
        try write(
            for: log.path, kind: log.header.kind, replica: .exactly(replicas.current),
            earlier: Array(replicas.names.dropLast()), freshReplica: freshReplica
        ) { copy throws(LogError) in
            for table in tables {
                try log.eachRow(of: table) { key, value throws(LogError) in
                    guard table != .log || key.isSharedByForms else { return }
                    try copy.put(TableWrite(table, key, value))
                }
            }
            try copyEntries(of: log, to: &copy)
        }
    }

    /// Writes the log for a path where no log is, as ``CompactedLog/path(of:)``.
    ///
    /// - Parameter fill: writes more, before the facts that the base changes.
    func write(
        for path: String, kind: LogKind, replica: NewReplica, earlier: [ReplicaID] = [],
        freshReplica: () -> ReplicaID,
        _ fill: (inout BoundedCopy) throws(LogError) -> Void = { _ in }
    ) throws(LogError) {
        let new = try LMDBLog.open(
            CompactedLog.path(of: path), kind: kind, newKind: kind, replica: replica,
            newBase: base, earlier: earlier, options: Durability.relaxed.options,
            freshReplica: freshReplica)
        defer { new.close() }
        var copy = BoundedCopy(to: new)
        for row in checkpoints.flatMap({ Array($0.rows) }) {
            try copy.put(TableWrite(.checkpoints, LogKey(row.key), row.bytes))
        }
        try fill(&copy)
        for fact in facts { try copy.put(fact) }
        try copy.finish()
    }

    /// Copies the records that are kept, and the entries after the base.
    private func copyEntries(
        of log: LMDBLog, to copy: inout BoundedCopy
    ) throws(LogError) {
        func keep(_ sequence: LogSequence, _ bytes: [UInt8]) throws(LogError) {
            let entry = try log.entry(bytes, at: sequence, codec: RawCodec())
            guard entry.isAbout(kept) else { return }
            try copy.put(TableWrite(.kept, LogKey(sequence), bytes))
        }
        try log.scan(.kept, keep)
        for sequence in keptEntries {
            guard let bytes = try log.record(at: sequence) else { throw log.missing(sequence) }
            try keep(sequence, bytes)
        }
        var records = RecordReader(log, after: base.sequence)
        while let (sequence, bytes) = try records.next() {
            try copy.put(TableWrite(.entries, LogKey(sequence), bytes))
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

extension LMDBLog {
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
