/// How a command becomes an entry of the transaction in preparation.
///
/// ```
///  command ─┬─ plain intent ───────────▶ record(plain:)   one object, one `apply`, one record
///           ├─ plain acknowledgement ──▶ append(plain:)   entry ─▶ fold plan
///           ├─ plain batch ────────────▶ append(plain:)   entry ─▶ fold plan
///           └─ anything else ──────────▶ carryOutAny(_:)  decision ─▶ entry ─▶ effects ─▶ fold plan
/// ```
///
/// All give the same bytes and the same state. The lean paths leave out what a plain command cannot
/// have: settled intents to look up, reasons to refuse it, several settlements.
extension WorkingLog {
    /// Carries out a command.
    ///
    /// - Parameters:
    ///   - isForced: whether an intent is recorded even if `apply` throws (F9).
    ///   - time: the time of the entry.
    ///   - storage: the log, for settled intents that the command names.
    /// - Throws: the command's refusal, or an error of reading the log; nothing has changed.
    package mutating func carryOut(
        _ command: Command, isForced: Bool, at time: Timestamp,
        reading storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(FoldbackError) -> RequestResult {
        switch command {
        case .record(let proposal) where proposal.isPlain:
            return try record(plain: proposal, isForced: isForced, at: time)
        case .acknowledge(let number, let position, let replacement):
            let plain = fold.state.plainAcknowledgement(
                of: number, position: position, replacement: replacement)
            guard let plain else { break }
            append(plain: plain, time: time)
            return .appended(fold.state.sequence)
        case .confirm(let events, let through):
            guard let plain = fold.state.plainBatch(events, through: through) else { break }
            append(plain: plain, time: time)
            return .confirmed(fold.state.sequence, through: fold.state.through)
        case .record, .change, .retry, .reject: break
        }
        return try carryOutAny(
            command, isForced: isForced, at: time, reading: storage, codec)
    }

    /// Records a plain intent: the lean path of ``carryOutAny(_:isForced:at:reading:_:)``.
    ///
    /// - Throws: `.inapplicable`; nothing has changed.
    package mutating func record(
        plain proposal: Proposal, isForced: Bool, at time: Timestamp
    ) throws(FoldbackError) -> RequestResult {
        let recorded = fold.state.newIntent(proposal, retrying: nil, time)
        let intent = UnsettledIntent(recorded)
        let isTried = intent.isOptimistic && !isForced
        if isTried, let refusal = tryNewest(intent) { throw .inapplicable(refusal) }
        let (checksum, bytes) = writeRecord(of: .intent(recorded), at: recorded.sequence, time)
        applyToFold(plain: intent, isTried: isTried, checksum: checksum, bytes: bytes)
        return .recorded(recorded.id, recorded.sequence)
    }

    /// Carries out any command: decides it, and appends the entry if there is one.
    ///
    /// Parameters and errors are those of ``carryOut(_:isForced:at:reading:_:)``.
    package mutating func carryOutAny(
        _ command: Command, isForced: Bool, at time: Timestamp,
        reading storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(FoldbackError) -> RequestResult {
        let subjects = try lookUpSettled(
            command.named(in: storage.header.replicas), in: storage, codec)
        let decision = fold.state.decision(
            for: command, settled: subjects.mapValues(\.intent), time: time)
        func append(_ entry: Entry) throws(FoldbackError) -> LogSequence {
            if !isForced, let refusal = tryApply(entry) { throw .inapplicable(refusal) }
            appendEntry(entry, time: time, subjects: subjects)
            return fold.state.sequence
        }
        switch decision {
        case .append(.intent(let recorded)):
            return .recorded(recorded.id, try append(.intent(recorded)))
        case .append(.confirmed(let batch)):
            let sequence = try append(.confirmed(batch))
            return .confirmed(sequence, through: fold.state.through)
        case .append(.changed(let number, .withdrawn))
        where attempts[number] != nil:  // mutant: withdrawal
            throw .mayHaveLeft(number)
        case .append(let entry): return .appended(try append(entry))
        case .join(let number, let entry):
            guard let joined = fold.state.overlay[number]?.recorded else {
                preconditionFailure("joined intent \(number) is not in the overlay")
            }
            let sequence = try entry.map { entry throws(FoldbackError) in try append(entry) }
            return .joined(joined.id, sequence ?? joined.sequence)
        case .ignore(let state): return .ignored(state)
        case .ignoreBatch: return .batchIgnored(through: fold.state.through)
        case .refuse(let refusal): throw FoldbackError(refusal)
        }
    }
}

extension Proposal {
    /// Whether recording it takes the lean path. A retry is another command, so it never does.
    fileprivate var isPlain: Bool { once == nil }
}
