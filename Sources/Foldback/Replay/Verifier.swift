/// Checks a whole log against itself: every record, every verdict and every checkpoint against a fold
/// from the first entry on.
struct Verifier {
    private let storage: any LogStorage
    private let codec: any PayloadCodec
    private var fold: LogFold
    private var findings: [Verification.Finding] = []
    private var verdicts: [IntentNumber: VerdictRow] = [:]
    private var checkpointsCompared = 0
    /// Every entry could be folded.
    private var isWhole = true

    private static let findingsMax = 100

    init(_ storage: any LogStorage, folds: [any AnyFold], codec: any PayloadCodec) {
        self.storage = storage
        self.codec = codec
        fold = LogFold(of: storage, folds: folds)
    }

    /// - Parameter published: what an open store shows; nil without one.
    /// - Complexity: O(n) in entries; memory O(n) in settled intents.
    /// - Throws: where the log cannot be read for other reasons than damage.
    mutating func verification(
        against published: (() -> Published)? = nil
    ) throws(FoldbackError) -> Verification {
        let end = published?()
        try noting { verifier throws(FoldbackError) in
            for (page, what) in try verifier.storage.damagedPages() {
                verifier.find(.file, "page \(page): \(what)")
            }
        }
        try noting { verifier throws(FoldbackError) in
            try verifier.foldAll(upTo: end?.sequence)
            try verifier.compareVerdicts(now: published)
        }
        if let end { try compare(end) }
        return Verification(
            entriesFolded: Int(clamping: fold.state.sequence.value),
            checkpointsCompared: checkpointsCompared, findings: findings)
    }

    private mutating func find(_ place: Verification.Place, _ what: String) {
        guard findings.count < Self.findingsMax else { return }
        findings.append(Verification.Finding(place: place, what: what))
    }

    /// Damage is a finding; what else is thrown ends the check.
    private mutating func noting(
        _ body: (inout Verifier) throws(FoldbackError) -> Void
    ) throws(FoldbackError) {
        do throws(FoldbackError) { try body(&self) } catch {
            switch error {
            case .damaged(_, let sequence, let reason):
                find(sequence.map { .entry($0) } ?? .file, reason)
            case .newerFormat(_, let sequence?, let found):
                find(.entry(sequence), "a newer Foldback wrote it: \(found)")
            default: throw error
            }
        }
    }

    // MARK: Entries and checkpoints

    private mutating func foldAll(upTo last: LogSequence?) throws(FoldbackError) {
        var sequences: [LogSequence] = []
        try noting { verifier throws(FoldbackError) in
            sequences = try verifier.storage.checkpointSequences(upTo: last)
        }
        var checkpoints = sequences[...]
        isWhole = false
        var fold = fold
        defer { self.fold = fold }
        try noting { verifier throws(FoldbackError) in
            try fold.replay(verifier.storage, codec: verifier.codec, upTo: last) {
                fold, effects throws(FoldbackError) in
                verifier.note(effects, fold)
                guard checkpoints.first == fold.state.sequence else { return }
                checkpoints.removeFirst()
                verifier.compareCheckpoint(&fold)
            }
            for sequence in checkpoints {
                verifier.find(.checkpoint(sequence), "it lies beyond the last entry")
            }
            verifier.isWhole = true
        }
        if !isWhole { try checkRecords(behind: fold.state.sequence.next, upTo: last) }
    }

    /// Behind an entry that cannot be folded, records can still be looked at one by one.
    private mutating func checkRecords(
        behind damaged: LogSequence, upTo last: LogSequence?
    ) throws(FoldbackError) {
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

    private mutating func compareCheckpoint(_ fold: inout LogFold) {
        let sequence = fold.state.sequence
        do throws(CheckpointRefusal) {
            guard let manifest = try storage.checkpointManifest(at: sequence) else { return }
            let log = try storage.checkpointedLog(of: manifest, codec: codec)
            checkpointsCompared += 1
            let published = fold.published()
            let replicas = storage.header.replicas
            if log.encoded(replicas: replicas)
                != published.logSection.encoded(replicas: replicas)
            {
                find(.checkpoint(sequence), "its overlay or numbers are not those of the entries")
            }
            for (index, view) in published.views.enumerated() {
                let identity = fold.folds[index].identity
                guard manifest.sections.contains(where: { $0.projection == identity }) else {
                    continue
                }
                let section = try storage.checkpointedProjection(identity, of: manifest)
                do {
                    guard try view.differs(from: section) else { continue }
                    find(
                        .checkpoint(sequence),
                        "its state of \(identity) is not what folding the entries gives; "
                            + "if apply was changed, give the projection another version")
                } catch {
                    find(.checkpoint(sequence), "its state of \(identity) cannot be read: \(error)")
                }
            }
        } catch {
            find(.checkpoint(sequence), "\(error.reason)")
        }
    }

    // MARK: Verdicts

    private mutating func note(_ effects: Effects, _ fold: LogFold) {
        for change in effects.verdicts {
            let old = verdicts[change.number]
            guard let intent = change.intentSequence ?? old?.intentSequence,
                let verdict = change.verdictSequence ?? old?.verdictSequence
            else { continue }
            verdicts[change.number] = VerdictRow(
                verdict: change.verdict, intentSequence: intent, verdictSequence: verdict)
        }
        for number in effects.reopened {
            guard let old = verdicts[number] else { continue }
            verdicts[number] = VerdictRow(
                verdict: nil, intentSequence: old.intentSequence,
                verdictSequence: fold.state.sequence)
        }
    }

    private mutating func compareVerdicts(now published: (() -> Published)?) throws(FoldbackError) {
        // What was not folded says nothing of verdicts.
        guard isWhole else { return }
        var wrong = try wrongVerdicts()
        // An open store may have gone on meanwhile: fold what came, and look at those again.
        while !wrong.isEmpty, let last = published?().sequence, last > fold.state.sequence {
            try foldAll(upTo: last)
            for number in wrong.keys {
                wrong[number] = try flaw(in: try storage.verdict(of: number), of: number)
            }
        }
        for (number, what) in wrong.sorted(by: { $0.key < $1.key }) { find(.verdict(number), what) }
    }

    private func wrongVerdicts() throws(FoldbackError) -> [IntentNumber: String] {
        var wrong: [IntentNumber: String] = [:]
        var found = 0
        var next: IntentNumber = 0
        while true {
            let rows = try storage.verdicts(from: next)
            guard let last = rows.last?.0 else { break }
            for (number, bytes) in rows {
                found += verdicts[number] == nil ? 0 : 1
                if let flaw = try flaw(in: bytes, of: number) { wrong[number] = flaw }
            }
            guard last.value < .max else { break }
            next = last.next
        }
        guard found < verdicts.count else { return wrong }
        for number in verdicts.keys where try storage.verdict(of: number) == nil {
            wrong[number] = "it is missing"
        }
        return wrong
    }

    private func flaw(
        in bytes: [UInt8]?, of number: IntentNumber
    ) throws(FoldbackError) -> String? {
        guard let bytes else { return verdicts[number] == nil ? nil : "it is missing" }
        do throws(FormatError) {
            let row = try VerdictRow(decoding: bytes, for: number)
            return row == verdicts[number] ? nil : "it is not what the entries say"
        } catch {
            return "\(error)"
        }
    }

    // MARK: The view

    private mutating func compare(_ end: Published) throws(FoldbackError) {
        guard fold.state.sequence == end.sequence else { return }
        let published = fold.published()
        for (index, view) in published.views.enumerated() {
            let name = fold.folds[index].identity.name.string
            do {
                guard try view.differs(from: end.views[index]) else { continue }
                find(
                    .view(projection: name),
                    "it is not what folding the entries gives; apply may depend on more than the "
                        + "event and its context (F12), or has changed without another version")
            } catch {
                find(.view(projection: name), "it cannot be compared: \(error)")
            }
        }
    }
}
