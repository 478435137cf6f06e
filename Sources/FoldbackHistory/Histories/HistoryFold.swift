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

    /// Returns the record as ``decided(_:)`` does, but nil if it does not follow. A retry whose
    /// rejection is gone retries nothing.
    package func following(_ record: Record) -> Record? {
        var record = record
        if case .intent(let intent) = record.entry, let old = intent.retries,
            fold.state.rejections[old] == nil
        {
            record = record.replacing(.intent(intent.replacing(retries: nil)))
        }
        do throws(InvalidSequel) { return try decided(record) } catch { return nil }
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
        case .confirmed(let batch):
            let named = batch.events.compactMap { $0.origin?.number }
            return try decided(
                .confirm(batch.events, through: batch.through), naming: named, time)
        }
    }

    private func check(_ intent: RecordedIntent) throws(InvalidSequel) {
        let state = fold.state
        guard intent.number >= state.nextNumber, intent.number.value < .max else {
            throw InvalidSequel(
                "the intent's number is \(intent.number), and it must be at least \(state.nextNumber)"
            )
        }
        if let joined = state.joined(by: intent.once) {
            throw InvalidSequel("intent \(joined) in the overlay has the same once key")
        }
        if let old = intent.retries, state.rejections[old] == nil {
            throw InvalidSequel("it retries intent \(old), which is not in the list of rejections")
        }
    }

    /// Treats a removed number as never recorded. ``LogState`` cannot know which numbers were
    /// removed.
    private func decided(
        _ command: Command, on number: IntentNumber, _ time: Timestamp
    ) throws(InvalidSequel) -> Entry {
        guard recorded[number] != nil else { throw InvalidSequel(.unknownIntent(number)) }
        return try decided(command, naming: [number], time)
    }

    private func decided(
        _ command: Command, naming numbers: [IntentNumber], _ time: Timestamp
    ) throws(InvalidSequel) -> Entry {
        var settled: [IntentNumber: SettledIntent] = [:]
        for number in numbers where fold.state.overlay[number] == nil {
            guard let intent = recorded[number], let settlement = settlements[number]?.settlement
            else {
                continue
            }
            settled[number] = SettledIntent(recorded: intent, settlement: settlement)
        }
        switch fold.state.decision(for: command, settled: settled, time: time) {
        case .append(let entry): return entry
        case .join(let number, _): throw InvalidSequel("intent \(number) has the same once key")
        case .ignore(let state): throw InvalidSequel("the intent is already \(state.rawValue)")
        case .ignoreBatch: throw InvalidSequel("the batch brings nothing new")
        case .refuse(let refusal): throw InvalidSequel(refusal)
        }
    }
}

/// Why an entry does not follow from the entries before it.
package struct InvalidSequel: Error {
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ refusal: Refusal) { reason = "\(CommandError(refusal))" }
}
