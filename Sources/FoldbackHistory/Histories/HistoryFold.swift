import Foldback

/// The fold of a history up to an entry. It has the semantics of a log, and some entries may be
/// missing.
///
/// ``LogState`` decides again which intents an entry settles, and whether the entry changes
/// anything at its place. It decides from the command, answer or batch that the entry holds. A
/// history therefore has the same meaning as a log that received the same commands, answers and
/// batches. The difference is that its numbers and sequences may have gaps.
package struct HistoryFold: Sendable {
    private var fold: LogFold
    private var recorded: [IntentNumber: RecordedIntent] = [:]
    /// The latest settlement of each intent. It is valid only while the intent is not in the
    /// overlay.
    private var settlements = SettlementBook()

    /// Creates the fold at the state before the first entry.
    package init(
        kind: LogKind, replica: ReplicaID, _ projections: ProjectionSet = ProjectionSet(),
        sharing shared: SharedConflicts = SharedConflicts()
    ) {
        fold = LogFold(kind: kind, replica: replica, projections, sharing: shared)
    }

    /// Returns the present states, to be shared with readers.
    package mutating func makePublishedState() -> PublishedState { fold.makePublishedState() }

    /// Lets the projections share their conflicts as they do at a later sequence, which the history
    /// may lack.
    package mutating func share(asAt sequence: LogSequence) { fold.share(asAt: sequence) }

    // MARK: Applying entries

    /// Applies a record that ``decided(_:)`` returned.
    @discardableResult
    package mutating func append(_ record: Record) -> FoldPlan {
        var settledIntent: RecordedIntent?
        if case .intent(let intent) = record.entry { recorded[intent.number] = intent }
        if let number = fold.state.settledIntentNeeded(by: record.entry) {
            settledIntent = recorded[number]
        }
        let effects = fold.append(
            record.entry, at: record.stamp.sequence, settledIntent: settledIntent)
        settlements.apply(effects, at: record.stamp.sequence)
        return effects.fold
    }

    var overlay: Overlay { fold.state.overlay }
    var sequence: LogSequence { fold.state.sequence }
    /// A tracker of what the entries after this touch.
    var tracker: TouchTracker { TouchTracker(fold) }

    /// Returns the record as a log with the same entries would append it here.
    ///
    /// - Throws: if such a log would append no record.
    package func decided(_ record: Record) throws(InvalidSequel) -> Record {
        guard record.stamp.sequence > fold.state.sequence else {
            throw InvalidSequel(
                "sequences must rise, and the previous sequence is \(fold.state.sequence)")
        }
        return record.replacing(try decided(record.entry, record.stamp.time))
    }

    /// Returns the record as ``decided(_:)`` does, but nil if it does not follow. An intent loses
    /// each link to an intent that cannot have it any more: a retry whose rejection is gone retries
    /// nothing.
    package func following(_ record: Record) -> Record? {
        var record = record
        if case .intent(let intent) = record.entry {
            record = record.replacing(.intent(linked(intent)))
        }
        do throws(InvalidSequel) { return try decided(record) } catch { return nil }
    }

    /// Returns the intent with those of its links that a log could record here.
    private func linked(_ intent: RecordedIntent) -> RecordedIntent {
        var links = intent.links
        links.removeAll { flaw(in: $0, of: intent) == nil }
        guard !links.isEmpty else { return intent }
        var (retries, terms) = (intent.retries, intent.terms)
        for link in links {
            switch link {
            case .retries: retries = nil
            case .replaces: terms.replaces = nil
            case .group: terms.group = nil
            case .undoes: terms.undoes = nil
            }
        }
        return intent.replacing(retries: retries).replacing(terms: terms)
    }

    private func decided(_ entry: Entry, _ time: Timestamp) throws(InvalidSequel) -> Entry {
        switch entry {
        case .intent(let intent):
            try check(intent)
            return entry
        case .acknowledged(let answer):
            return try decided(
                .acknowledge(
                    answer.number, position: answer.position, replacement: answer.replacement),
                on: answer.number, time)
        case .changed(let number, .rejected(let rejection)):
            return try decided(.reject(number, rejection), on: number, time)
        case .changed(let number, .withdrawn):
            return try decided(.change(number, .withdraw), on: number, time)
        case .changed(let number, .abandoned):
            return try decided(.change(number, .abandon), on: number, time)
        case .changed(let number, .dismissed):
            return try decided(.change(number, .dismiss), on: number, time)
        case .changed(let number, .released):
            return try decided(.change(number, .release), on: number, time)
        case .changed(let number, .undone):
            _ = try decided(.change(number, .withdraw), on: number, time)
            return entry
        case .changed(let number, .lapsed):
            _ = try decided(.change(number, .withdraw), on: number, time)
            try checkLapse(of: number)
            return entry
        case .changed(let number, .restored):
            try checkRestoration(of: number)
            return entry
        case .confirmed(let batch):
            return try decided(.confirm(batch.events, through: batch.through), time)
        }
    }

    /// Requires that the intent undoes one that is rejected or withdrawn (F21).
    private func checkLapse(of number: IntentNumber) throws(InvalidSequel) {
        guard let undone = recorded[number]?.terms.undoes else {
            throw InvalidSequel("intent \(number) undoes no intent, so it cannot lapse")
        }
        switch fold.state.overlay[undone] == nil ? settlements[undone]?.settlement : nil {
        case .rejected, .withdrawn: break
        case .confirmed, nil:
            throw InvalidSequel(
                "intent \(number) undoes intent \(undone), which is neither rejected nor withdrawn")
        }
    }

    /// Requires that the intent is withdrawn: a log restores an intent that has lapsed (F21).
    private func checkRestoration(of number: IntentNumber) throws(InvalidSequel) {
        guard recorded[number] != nil else { throw InvalidSequel(.unknownIntent(number)) }
        guard fold.state.overlay[number] == nil, settlements[number]?.settlement == .withdrawn
        else { throw InvalidSequel("intent \(number) is not withdrawn, so it cannot be restored") }
    }

    private func check(_ intent: RecordedIntent) throws(InvalidSequel) {
        let state = fold.state
        guard intent.number >= state.nextNumber, intent.number.value < .max else {
            throw InvalidSequel(
                "the intent's number is \(intent.number), and it must be at least \(state.nextNumber)"
            )
        }
        if let joined = state.joined(by: intent.once), joined != intent.terms.replaces {
            throw InvalidSequel("intent \(joined) in the overlay has the same once key")
        }
        for link in intent.links {
            if let flaw = flaw(in: link, of: intent) { throw InvalidSequel(flaw) }
        }
    }

    /// Returns why the intent cannot have the link here, or nil if it can.
    private func flaw(in link: IntentLink, of intent: RecordedIntent) -> String? {
        let state = fold.state
        switch link {
        case .retries(let old):
            return state.rejections[old] != nil
                ? nil : "it retries intent \(old), which is not in the list of rejections"
        case .replaces(let old):
            return state.overlay[old]?.state == .pending
                ? nil : "it replaces intent \(old), which is not pending"
        case .group(let first):
            let isFirst = first == intent.number
            return isFirst || recorded[first]?.terms.group == first
                ? nil : "it is together with intent \(first), which does not begin a group"
        case .undoes(let undone):
            return recorded[undone] != nil
                ? nil : "it undoes intent \(undone), which was not recorded before it"
        }
    }

    /// Treats a removed number as never recorded. ``LogState`` cannot know which numbers were
    /// removed.
    private func decided(
        _ command: Command, on number: IntentNumber, _ time: Timestamp
    ) throws(InvalidSequel) -> Entry {
        guard recorded[number] != nil else { throw InvalidSequel(.unknownIntent(number)) }
        return try decided(command, time)
    }

    /// A log may append further entries after the first: on intents that lapse or return. A history
    /// has them as records of their own.
    private func decided(
        _ command: Command, _ time: Timestamp
    ) throws(InvalidSequel) -> Entry {
        let settled = SettledIntents(isOwn: { _ in true }) { number in
            guard let intent = recorded[number], let settlement = settlements[number]?.settlement
            else { return nil }
            return SettledIntent(recorded: intent, settlement: settlement)
        }
        let decision: Decision
        do throws(LogError) {
            decision = try fold.state.decision(for: command, at: time, settled: settled)
        } catch {
            throw InvalidSequel(error.description)
        }
        switch decision {
        case .append(let entries): return entries[0]
        case .reverse:
            preconditionFailure("\(command) is not a command that an entry of a history stands for")
        case .join(let number, _): throw InvalidSequel("intent \(number) has the same once key")
        case .ignore(let state): throw InvalidSequel("the intent is already \(state.rawValue)")
        case .ignoreBatch: throw InvalidSequel("the batch brings nothing new")
        case .refuse(let refusal): throw InvalidSequel(refusal)
        }
    }
}

/// An intent's link to an earlier intent.
private enum IntentLink {
    case retries(IntentNumber)
    case replaces(IntentNumber)
    case group(IntentNumber)
    case undoes(IntentNumber)
}

extension RecordedIntent {
    fileprivate var links: [IntentLink] {
        let terms = terms
        return [
            retries.map { .retries($0) }, terms.replaces.map { .replaces($0) },
            terms.group.map { .group($0) }, terms.undoes.map { .undoes($0) },
        ].compactMap { $0 }
    }
}

/// Why an entry does not follow from the entries before it.
package struct InvalidSequel: Error {
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ refusal: Refusal) { reason = "\(CommandError(refusal))" }
}
