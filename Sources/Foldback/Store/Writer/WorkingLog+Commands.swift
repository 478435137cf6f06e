/// How a command becomes entries of the transaction in preparation.
///
/// ```
///  command ─┬─ plainEntry ─▶ append(plain)                    entry ─▶ fold plan            lean path
///           └─ nil ────────▶ decision(for:) ─▶ append(entries) ─▶ effects ─▶ fold plans      general path
/// ```
///
/// Both paths give the same bytes and the same state. ``PlainEntry`` says which commands take the
/// lean path.
extension WorkingLog {
    /// Carries out a command.
    ///
    /// - Parameters:
    ///   - isForced: whether an intent is recorded even if `apply` throws (F9).
    ///   - time: the time of the entries.
    ///   - storage: the log, for settled intents that the command names.
    /// - Throws: the command's refusal, or an error of reading the log; nothing has changed.
    package mutating func carryOut(
        _ command: Command, isForced: Bool, at time: Timestamp,
        reading storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(CommandError) -> RequestResult {
        if isLean, let plain = fold.state.plainEntry(for: command, at: time) {
            return try append(plain, isForced: isForced, time: time)
        }
        let finder = SettledIntentFinder(in: storage, codec, uncommitted: batch)
        let decision = try decision(for: command, at: time, finder)
        if case .reverse = decision {} else { finder.finish() }
        switch decision {
        case .append(let entries):
            let first = try append(entries, isForced: isForced, time, finder)
            return result(of: entries, from: first)
        case .reverse(let steps): return try reverse(steps, isForced: isForced, time, finder)
        case .join(let number, let entries):
            guard let joined = fold.state.overlay[number]?.recorded else {
                preconditionFailure("joined intent \(number) is not in the overlay")
            }
            guard !entries.isEmpty else { return .joined(joined.id, joined.sequence) }
            return .joined(joined.id, try append(entries, isForced: isForced, time, finder))
        case .ignore(let state): return .ignored(state)
        case .ignoreBatch: return .batchIgnored(through: fold.state.through)
        case .refuse(let refusal): throw CommandError(refusal)
        }
    }

    private mutating func decision(
        for command: Command, at time: Timestamp, _ finder: SettledIntentFinder
    ) throws(CommandError) -> Decision {
        // Which keys an intent touches is known once it was applied.
        if case .record(let proposal) = command, proposal.terms.replacingKey != nil {
            fold.rebaseViews()
        }
        let fold = fold
        return try CommandError.converting { () throws(LogError) in
            try fold.state.decision(
                for: command, at: time, isTouched: fold.isTouchedLater, settled: finder.intents)
        }
    }

    private func result(of entries: [Entry], from first: LogSequence) -> RequestResult {
        switch entries[0] {
        case .intent(let intent) where entries.count == 1: return .recorded(intent.id, first)
        case .intent:
            return .recordedAll(
                entries.compactMap { if case .intent(let intent) = $0 { intent.id } else { nil } },
                first)
        case .confirmed: return .confirmed(first, through: fold.state.through)
        case .acknowledged, .changed: return .appended(first)
        }
    }

    /// Appends the entries of one command, or none of them.
    ///
    /// - Returns: the sequence of the first.
    private mutating func append(
        _ entries: [Entry], isForced: Bool, _ time: Timestamp, _ finder: SettledIntentFinder
    ) throws(CommandError) -> LogSequence {
        let first = fold.state.sequence.next
        if entries.count == 1 {
            try append(entries[0], isForced: isForced, time: time, subjects: finder.found)
            return first
        }
        try orNothing { working throws(CommandError) in
            for entry in entries {
                if working.isLean, case .intent(let intent) = entry,
                    let plain = working.fold.state.plainEntry(intent)
                {
                    _ = try working.append(plain, isForced: isForced, time: time)
                } else {
                    try working.append(
                        entry, isForced: isForced, time: time, subjects: finder.found)
                }
            }
        }
        return first
    }

    /// Takes the steps of undo or redo, or none of them (F21).
    private mutating func reverse(
        _ steps: [Reversal], isForced: Bool, _ time: Timestamp, _ finder: SettledIntentFinder
    ) throws(CommandError) -> RequestResult {
        var reversed = ReversalProgress(
            isOfSeveral: steps.count { if case .undo = $0 { true } else { false } } > 1)
        try orNothing { working throws(CommandError) in
            for step in steps {
                try working.take(step, &reversed, isForced: isForced, time, finder)
            }
        }
        return .reversed(withdrawn: reversed.withdrawn, recorded: reversed.recorded)
    }

    /// What undo or redo has done so far.
    private struct ReversalProgress {
        let isOfSeveral: Bool
        var withdrawn: [IntentNumber] = []
        var recorded: [(id: IntentID, sequence: LogSequence)] = []
        /// The first of several intents that undo.
        var group: IntentNumber?
    }

    private mutating func take(
        _ step: Reversal, _ reversed: inout ReversalProgress, isForced: Bool, _ time: Timestamp,
        _ finder: SettledIntentFinder
    ) throws(CommandError) {
        let intent: RecordedIntent
        switch step {
        case .takeBack(let number):
            let lapses = fold.state.lapses(of: number)
            for entry in [.changed(number, .undone)] + lapses {
                try append(entry, isForced: true, time: time, subjects: finder.found)
            }
            reversed.withdrawn.append(number)
            return
        case .undo(let undone, let undoing):
            let payload = try inverse(of: undone, undoing, finder)
            if reversed.isOfSeveral, reversed.group == nil {
                reversed.group = fold.state.nextNumber
            }
            intent = fold.state.newIntent(
                Proposal(
                    payload: payload, isConfirmOnly: undone.isConfirmOnly, once: nil, info: [:],
                    terms: IntentTerms(group: reversed.group, undoes: undone.number)), time)
        case .again(let undone, let number, let takenBack, let keepsOnce):
            var terms = IntentTerms(
                replacingKey: undone.terms.replacingKey, group: undone.terms.group, undoes: number)
            if let takenBack {
                terms.isHeld = try CommandError.converting { () throws(LogError) in
                    try finder.wasHeld(takenBack)
                }
            }
            intent = fold.state.newIntent(
                Proposal(
                    again: undone, payload: undone.payload, keepsOnce: keepsOnce, terms: terms),
                time)
        }
        try append(.intent(intent), isForced: isForced, time: time, subjects: finder.found)
        reversed.recorded.append((intent.id, intent.sequence))
    }

    /// Returns the event that undoes an intent.
    ///
    /// - Throws: `.notUndoable`, `.reworded`; an error of reading the log.
    private mutating func inverse(
        of undone: RecordedIntent, _ undoing: Reversal.Undoing, _ finder: SettledIntentFinder
    ) throws(CommandError) -> Payload {
        var inverse = undone.terms.inverse.map(finder.payload(of:))
        switch undoing {
        case .ofOverlay:
            fold.rebaseViews()
            if fold.isFoldedByUndoable(undone.number) {
                inverse = fold.inverse(ofFolded: undone.number)  // mutant: folded-inverse
                if let failure = fold.failure { throw .log(failure) }
            }
        case .ofConfirmed:
            let isReworded = try CommandError.converting { () throws(LogError) in
                try finder.wasReworded(undone.number)
            }
            if isReworded { throw .reworded(undone.number) }  // mutant: reworded
        }
        guard let inverse else { throw .notUndoable(undone.number) }
        return inverse
    }

    /// Returns settled intents with their rows. Numbers that are in the overlay, or were never
    /// recorded, are left out.
    ///
    /// - Throws: as ``SettledIntentFinder/find(_:)``.
    package func lookUpSettled(
        _ named: [IntentNumber], in storage: any LogStorage, _ codec: any PayloadCodec
    ) throws(LogError) -> [IntentNumber: SettledIntentRow] {
        let finder = SettledIntentFinder(in: storage, codec, uncommitted: batch)
        for number in named
        where fold.state.wasRecorded(number) && fold.state.overlay[number] == nil {
            _ = try finder.find(number)
        }
        return finder.found
    }
}
