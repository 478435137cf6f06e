/// Checks a whole log: folds it from the first entry or the base on, and compares every record,
/// settlement, stored row and checkpoint with that fold.
package struct Verifier {
    let storage: any LogStorage
    let codec: any PayloadCodec
    /// The projections before the first entry.
    let projections: ProjectionSet
    var fold: LogFold
    private var findings: [Verification.Finding] = []
    /// The settlements of all intents, from the entries folded so far.
    private var settlements = SettlementBook()
    private var checkpointsCompared = 0
    var notCompared: Set<String> = []
    /// Whether the place where the log begins can be read.
    private var hasBeginning = false
    /// Whether every entry could be folded.
    private(set) var isWhole = true
    /// Whether the log says which projections share their conflicts. Views depend on it.
    private(set) var isSharingKnown = false

    /// Whether the notes of conflicts are compared. A compaction leaves them out, so their damage must
    /// not hold it up.
    let comparesNotes: Bool
    /// Called after each entry.
    private let applied: (inout LogFold, Record, Effects) -> Void

    private static let findingsMax = 100

    /// - Parameters:
    ///   - comparesNotes: whether the notes of conflicts are compared too.
    ///   - applied: called after each entry that is folded.
    /// - Throws: `.lacksProjections` if the log's views need more projections; `.needsHistory` if the
    ///   log begins at a base that lacks one of these; the errors of reading which these are.
    package init(
        _ storage: any LogStorage, _ projections: ProjectionSet, codec: any PayloadCodec,
        comparingNotes comparesNotes: Bool = true,
        applied: @escaping (inout LogFold, Record, Effects) -> Void = { _, _, _ in }
    ) throws(LogError) {
        self.applied = applied
        self.comparesNotes = comparesNotes
        self.storage = storage
        self.codec = codec
        self.projections = projections.withRows { $1.renumber(as: UInt32($0 + 1)) }
        fold = LogFold(of: storage, self.projections)
        try noting("shared conflicts") { verifier throws(LogError) in
            let shared = try storage.sharedConflicts()
            let last = LogSequence(UInt64(try storage.recordCount()))
            // Without projections, the log alone is checked.
            if !projections.members.isEmpty {
                try shared.require(projections.names, at: last, path: storage.path)
            }
            verifier.fold.share(shared)
            verifier.isSharingKnown = true
        }
        try noting { verifier throws(LogError) in
            verifier.fold = try .beginning(
                of: storage, verifier.projections, codec: codec, sharing: verifier.fold.shared)
            verifier.hasBeginning = true
        }
    }

    /// Checks the log, and returns the findings. Damage is a finding.
    ///
    /// - Parameter end: The state that an open store shows; nil if no store is open.
    /// - Throws: Errors of reading the log, except damage.
    /// - Complexity: O(n) in entries, and O(n) memory in settled intents.
    package mutating func verification(
        against end: PublishedState? = nil
    ) throws(LogError) -> Verification {
        try noting { verifier throws(LogError) in
            for (page, what) in try verifier.storage.damagedPages() {
                verifier.find(.file, "page \(page): \(what)")
            }
        }
        try noting { verifier throws(LogError) in
            guard verifier.hasBeginning else {
                let base = verifier.storage.baseSequence
                return try verifier.checkRecords(after: base, upTo: end?.sequence)
            }
            try verifier.checkBase()
            try verifier.foldAll(upTo: end?.sequence)
            if let end { verifier.compare(end) }
            try verifier.compareVerdicts()
        }
        try noting { verifier throws(LogError) in
            for (number, flaw) in try verifier.storage.flawedAttempts() {
                verifier.find(.attempt(number), "\(flaw)")
            }
        }
        try noting("lineage") { verifier throws(LogError) in
            _ = try verifier.storage.lineage()
        }
        try noting("digest") { verifier throws(LogError) in
            _ = try verifier.storage.digest()
        }
        try noting("lost data") { verifier throws(LogError) in
            _ = try verifier.storage.lostData()
        }
        try noting("seen faults") { verifier throws(LogError) in
            _ = try verifier.storage.seenFaults()
        }
        try noting("continued logs") { verifier throws(LogError) in
            _ = try verifier.storage.continuedIntents()
        }
        try noting { verifier throws(LogError) in
            _ = try verifier.storage.registeredProjections { number, error in
                verifier.find(.file, "registered projection \(number): \(error)")
            }
        }
        try checkRows()
        try noting { verifier throws(LogError) in try verifier.checkRowsWithoutHeader() }
        return Verification(
            entriesFolded: Int(
                clamping: fold.state.sequence.value
                    - min(fold.state.sequence.value, storage.baseSequence.value)),
            checkpointsCompared: checkpointsCompared, findings: findings,
            notCompared: notCompared.sorted())
    }

    mutating func find(_ place: Verification.Place, _ what: String) {
        guard findings.count < Self.findingsMax else { return }
        findings.append(Verification.Finding(place: place, what: what))
    }

    /// Runs `body`, and turns damage and newer formats into findings. Other errors end the check.
    ///
    /// - Parameter subject: what `body` reads, if the reasons of its errors do not say it.
    mutating func noting(
        _ subject: String? = nil, _ body: (inout Verifier) throws(LogError) -> Void
    ) throws(LogError) {
        do throws(LogError) { try body(&self) } catch {
            switch error {
            case .damaged(_, let sequence, let reason):
                find(
                    sequence.map { .entry($0) } ?? .file,
                    subject.map { "\($0): \(reason)" } ?? reason)
            case .newerFormat(_, let sequence?, let found):
                find(.entry(sequence), "a newer Foldback wrote it: \(found)")
            default: throw error
            }
        }
    }

    // MARK: Entries and checkpoints

    private mutating func foldAll(upTo last: LogSequence?) throws(LogError) {
        var sequences: [LogSequence] = []
        try noting { verifier throws(LogError) in
            let done = verifier.fold.state.sequence
            sequences = try verifier.storage.checkpointSequences(upTo: last).filter { $0 > done }
        }
        var checkpoints = sequences[...]
        var notes = ConflictNoteReader()
        if comparesNotes {
            try noting { verifier throws(LogError) in
                notes = try ConflictNoteReader(verifier.storage)
            }
        }
        isWhole = false
        var fold = fold
        defer { self.fold = fold }
        try noting { verifier throws(LogError) in
            try fold.replay(verifier.storage, codec: verifier.codec, upTo: last) {
                fold, record, effects throws(LogError) in
                verifier.settlements.apply(effects, at: fold.state.sequence)
                verifier.applied(&fold, record, effects)
                verifier.compareConflicts(
                    &fold, &notes, isAlways: checkpoints.first == fold.state.sequence)
                guard checkpoints.first == fold.state.sequence else { return }
                checkpoints.removeFirst()
                try verifier.compareCheckpoint(&fold)
            }
            for sequence in checkpoints {
                verifier.find(.checkpoint(sequence), "it is after the last entry")
            }
            verifier.isWhole = true
            verifier.compareConflicts(&fold, &notes, isAlways: true)
        }
        if !isWhole { try checkRecords(after: fold.state.sequence.next, upTo: last) }
    }

    /// Checks the records after an entry that cannot be folded, one by one, without folding them.
    private mutating func checkRecords(
        after damaged: LogSequence, upTo last: LogSequence?
    ) throws(LogError) {
        var next = damaged.next
        while true {
            let records = try storage.records(from: next, countMax: Limits.readCountMax)
            guard let end = records.last?.0 else { return }
            for (sequence, bytes) in records where sequence <= last ?? sequence {
                if sequence != next { find(.entry(next), "the record is missing") }
                next = sequence.next
                do throws(FormatError) {
                    _ = try Record.decoded(
                        bytes, at: sequence, predecessor: nil, replicas: storage.header.replicas,
                        codec: codec)
                } catch {
                    find(.entry(sequence), "\(error)")
                }
            }
            guard end < last ?? end.next, findings.count < Self.findingsMax else { return }
        }
    }

    private mutating func compareCheckpoint(_ fold: inout LogFold) throws(LogError) {
        let sequence = fold.state.sequence
        do throws(CheckpointRefusal) {
            guard let manifest = try storage.checkpointManifest(at: sequence) else { return }
            let log = try storage.checkpointedLog(of: manifest, codec: codec)
            checkpointsCompared += 1
            let published = fold.makePublishedState()
            let replicas = storage.header.replicas
            if log.encoded(replicas: replicas)
                != published.logSection.encoded(replicas: replicas)
            {
                find(.checkpoint(sequence), "its overlay or numbers differ from the entries")
            }
            // Code that read more or fewer events made other states.
            guard manifest.format == codec.format, manifest.hasNotes || !codec.notesMembers,
                try storage.checkpointedUnread(of: manifest) == published.unread,
                try storage.checkpointedPart(of: manifest) == published.partlyRead
            else {
                let names = manifest.sections.compactMap(\.projection?.name)
                for view in published.views where names.contains(view.identity.name) {
                    notCompared.insert(view.identity.name.string)
                }
                return
            }
            for view in published.views {
                let identity = view.identity
                guard manifest.sections.contains(where: { $0.projection == identity }) else {
                    continue
                }
                let section = try storage.checkpointedProjection(identity, of: manifest)
                note(
                    { try view.compared(with: section) }, identity, .checkpoint(sequence),
                    "its state of \(identity) differs from the fold of the entries; "
                        + "if apply was changed, give the projection another version")
            }
        } catch {
            if let failure = error.failure { throw failure }
            guard !isSuperseded(sequence) else { return }
            find(.checkpoint(sequence), "\(error.reason)")
        }
    }

    /// Returns whether an open store has removed the checkpoint in the meantime.
    private func isSuperseded(_ sequence: LogSequence) -> Bool {
        do throws(CheckpointRefusal) {
            return try storage.checkpointManifest(at: sequence) == nil
        } catch {
            return false
        }
    }

    mutating func note(
        _ comparison: () throws -> Comparison, _ identity: ProjectionIdentity,
        _ place: Verification.Place, _ what: String
    ) {
        do {
            switch try comparison() {
            case .same: break
            case .different: find(place, what)
            case .unknown: notCompared.insert(identity.name.string)
            }
        } catch {
            find(place, "the state of \(identity) cannot be read: \(error)")
        }
    }

    // MARK: The base

    /// Checks what a compacted log has of the entries that it lacks, as far as it can be checked, and
    /// takes the settlements at the base from the verdicts.
    private mutating func checkBase() throws(LogError) {
        guard let base = storage.base else { return }
        do throws(CheckpointRefusal) {
            try storage.requireReadableSections(at: base.sequence)
        } catch {
            if let failure = error.failure { throw failure }
            find(.checkpoint(base.sequence), "\(error.reason)")
        }
        var kept: Set<IntentNumber> = []
        try storage.scan(.kept) { (sequence: LogSequence, bytes) throws(LogError) in
            do throws(FormatError) {
                guard sequence <= base.sequence else { throw .damaged("it is after the base") }
                let record = try Record.decoded(
                    bytes, at: sequence, predecessor: nil, replicas: storage.header.replicas,
                    codec: codec
                ).record
                if case .intent(let intent) = record.entry { kept.insert(intent.number) }
            } catch {
                find(.entry(sequence), "the record that was kept: \(error)")
            }
        }
        for intent in fold.state.overlay.keys where !kept.contains(intent) {
            find(.settlement(intent), "its entry was not kept")
        }
        var number: IntentNumber = 1
        try storage.scanVerdicts { found, bytes throws(LogError) in
            guard found < base.nextNumber else { return }
            try missVerdicts(from: number, to: found)
            number = found.next
            guard let row = try? SettlementRow(decoding: bytes, for: found) else { return }
            let isUnsettled = fold.state.overlay[found] != nil
            if row.settlementSequence <= base.sequence, isUnsettled == (row.settlement != nil) {
                find(.settlement(found), "it differs from the base")
            }
            if case .rejected = row.settlement, !kept.contains(found) {
                find(.settlement(found), "its entry was not kept")
            }
            // The entries after the base decide on the others.
            if row.settlementSequence <= base.sequence || !isUnsettled {
                settlements.add(row, of: found)
            }
        }
        try missVerdicts(from: number, to: base.nextNumber)
    }

    /// Finds the intents before the base that are not in its overlay and have no verdict.
    private mutating func missVerdicts(
        from first: IntentNumber, to end: IntentNumber
    ) throws(LogError) {
        var number = first
        while number < end {
            if fold.state.overlay[number] == nil { find(.settlement(number), "it is missing") }
            number = number.next
        }
    }

    // MARK: Verdicts

    private mutating func compareVerdicts() throws(LogError) {
        // Entries that were not folded may have settled intents.
        guard isWhole else { return }
        var wrong = try storage.wrongVerdicts(comparedWith: settlements)
        // A store may have recorded entries in the meantime. Fold the new entries, and check these
        // rows again. If a row is unchanged, it is wrong, because the fold now has every entry that
        // was committed when the row was read.
        while !wrong.isEmpty {
            try foldAll(upTo: nil)
            guard isWhole else { return }
            for (number, old) in wrong.sorted(by: { $0.key < $1.key }) {
                let row = try storage.settlement(of: number)
                let flaw = settlements.flaw(in: row, of: number)
                if let flaw, row == old { find(.settlement(number), flaw) }
                wrong[number] = flaw == nil || row == old ? nil : .some(row)
            }
        }
    }
}
