import Foldback

/// A history folded up to some entry: the semantics of a log over entries of which some may have been
/// taken out.
///
/// Whom an entry settles, and whether it means anything where it stands, is decided anew by
/// ``LogState``, from what it said when it came in. So a history means what a log would that got the same
/// commands, answers and batches, but that numbers and sequences may have gaps.
package struct HistoryFold: Sendable {
    private var fold: LogFold
    private var recorded: [IntentNumber: RecordedIntent] = [:]
    /// The latest of each intent; it holds while the intent is not in the overlay.
    private var settlements = SettlementBook()

    /// Before the first entry.
    package init(kind: LogKind, replica: ReplicaID, folds: [any AnyFold]) {
        fold = LogFold(kind: kind, replica: replica, folds: folds)
    }

    /// The states as they are now, to be shared with readers.
    package mutating func makePublishedState() -> PublishedState { fold.makePublishedState() }

    // MARK: Taking entries in

    /// Takes in a record that ``decided(_:)`` gave.
    @discardableResult
    package mutating func append(_ record: Record) -> FoldPlan {
        var settledIntent: RecordedIntent?
        if case .intent(let intent) = record.entry { recorded[intent.number] = intent }
        if let number = fold.state.settledIntentNeeded(by: record.entry) {
            settledIntent = recorded[number]
        }
        let effects = fold.state.apply(
            record.entry, at: record.stamp.sequence, settledIntent: settledIntent)
        settlements.apply(effects, at: record.stamp.sequence)
        fold.perform(effects.fold)
        return effects.fold
    }

    var overlay: Overlay { fold.state.overlay }

    /// The record as a log has it that stands where this does.
    ///
    /// - Throws: where such a log would have no record of it.
    package func decided(_ record: Record) throws(InvalidSequel) -> Record {
        guard record.stamp.sequence > fold.state.sequence else {
            throw InvalidSequel("sequences rise, and the one before is \(fold.state.sequence)")
        }
        return record.replacing(try decided(record.entry, record.stamp.time))
    }

    /// The same, leaving out what does not follow: nil where nothing is left. An intent whose rejection
    /// is gone retries nothing.
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
                "intent \(intent.number) comes where \(state.nextNumber) or more should")
        }
        if let joined = state.joined(by: intent.once) {
            throw InvalidSequel("intent \(joined) is in the overlay with its once key")
        }
        if let old = intent.retries, state.rejections[old] == nil {
            throw InvalidSequel("intent \(old), which it retries, is not in the list of rejections")
        }
    }

    /// Numbers that were taken out count as never recorded, which ``LogState`` cannot know.
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
            guard let intent = recorded[number], let verdict = settlements[number]?.verdict else {
                continue
            }
            settled[number] = SettledIntent(recorded: intent, verdict: verdict)
        }
        switch fold.state.decision(for: command, settled: settled, time: time) {
        case .append(let entry): return entry
        case .join(let number, _): throw InvalidSequel("intent \(number) has its once key")
        case .ignore(let state): throw InvalidSequel("the intent is \(state.rawValue) already")
        case .ignoreBatch: throw InvalidSequel("the batch brings nothing new")
        case .refuse(let refusal): throw InvalidSequel(refusal)
        }
    }
}

/// Why an entry does not follow from those before it.
package struct InvalidSequel: Error {
    package let reason: String

    init(_ reason: String) { self.reason = reason }

    init(_ refusal: Refusal) { reason = "\(FoldbackError(refusal))" }
}
