/// How a command becomes an entry of the transaction in preparation.
///
/// ```
///  command ─┬─ plainEntry ─▶ append(_:)        entry ─▶ fold plan                         lean path
///           └─ nil ────────▶ carryOutAny(_:)   decision ─▶ entry ─▶ effects ─▶ fold plan
/// ```
///
/// Both paths give the same bytes and the same state. ``PlainEntry`` says which commands take the
/// lean path.
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
    ) throws(CommandError) -> RequestResult {
        if let plain = fold.state.plainEntry(for: command, at: time) {
            return try append(plain, isForced: isForced, time: time)
        }
        return try carryOutAny(
            command, isForced: isForced, at: time, reading: storage, codec)
    }

    /// Carries out any command: decides it, and appends the entry if there is one.
    ///
    /// Parameters and errors are those of ``carryOut(_:isForced:at:reading:_:)``.
    package mutating func carryOutAny(
        _ command: Command, isForced: Bool, at time: Timestamp,
        reading storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(CommandError) -> RequestResult {
        let subjects = try CommandError.converting { () throws(LogError) in
            try lookUpSettled(command.named(in: storage.header.replicas), in: storage, codec)
        }
        let decision = fold.state.decision(
            for: command, settled: subjects.mapValues(\.intent), time: time)
        func append(_ entry: Entry) throws(CommandError) -> LogSequence {
            try self.append(entry, isForced: isForced, time: time, subjects: subjects)
        }
        switch decision {
        case .append(.intent(let recorded)):
            return .recorded(recorded.id, try append(.intent(recorded)))
        case .append(.confirmed(let batch)):
            let sequence = try append(.confirmed(batch))
            return .confirmed(sequence, through: fold.state.through)
        case .append(let entry): return .appended(try append(entry))
        case .join(let number, let entry):
            guard let joined = fold.state.overlay[number]?.recorded else {
                preconditionFailure("joined intent \(number) is not in the overlay")
            }
            let sequence = try entry.map { entry throws(CommandError) in try append(entry) }
            return .joined(joined.id, sequence ?? joined.sequence)
        case .ignore(let state): return .ignored(state)
        case .ignoreBatch: return .batchIgnored(through: fold.state.through)
        case .refuse(let refusal): throw CommandError(refusal)
        }
    }
}
