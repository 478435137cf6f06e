extension LogState {
    /// An intent that a command names, in the state that decides the command.
    enum IntentLookup {
        case pending
        case accepted
        case settled(SettledIntent)

        var state: IntentState {
            switch self {
            case .pending: .pending
            case .accepted: .accepted
            case .settled(let intent): intent.settlement.state
            }
        }
    }

    /// Decides a command. The state stays as it is.
    ///
    /// A command about one intent is decided by the intent's state:
    ///
    /// | command | pending | accepted | rejected, withdrawn | confirmed |
    /// |---|---|---|---|---|
    /// | acknowledge | append (F3, F4) | ignore (F7) | append: it overrides (F7) | ignore (F7) |
    /// | reject | append | ignore (F7) | ignore (F7) | ignore (F7) |
    /// | withdraw | append if there was no attempt, else refuse (F7) | refuse | refuse | refuse |
    /// | abandon | append (F19) | refuse | refuse | refuse |
    /// | dismiss, retry | refuse | refuse | append if listed, else refuse (F14) | refuse |
    /// | release | append if held, else refuse (F22) | refuse | refuse | refuse |
    ///
    /// A rejection is listed until it is dismissed or retried (F14). The commands on all intents that
    /// were recorded together, and undo and redo, are in the files beside this one.
    ///
    /// An intent whose sending has begun can only be abandoned (F7, F19). An answer is also refused if
    /// ``refusal(ofAuthority:)`` refuses its authority.
    ///
    /// An entry that settles an intent, or brings it back, is followed by entries on the intents that
    /// undo it (F21): ``lapses(of:)`` and ``restorations(of:_:)``.
    ///
    /// - Parameters:
    ///   - time: the time to record for a new intent.
    ///   - isTouched: whether an intent of the overlay shares a key with a later one, or may (F16).
    ///   - settled: finds the intents that are not in the overlay.
    /// - Throws: the errors of `settled`.
    package func decision(
        for command: Command, at time: Timestamp,
        isTouched: (IntentNumber) -> Bool = { _ in true }, settled: SettledIntents
    ) throws(LogError) -> Decision {
        switch command {
        case .record(let proposal): return recordingDecision(proposal, isTouched, time)
        case .recordAll(let proposals): return recordingDecision(proposals, time)
        case .confirm(let events, let through):
            return try batchDecision(events, through, settled)
        case .acknowledge(let number, let position, let replacement):
            if let refusal = refusal(of: position) { return .refuse(refusal) }
            return try decision(on: number, settled) { intent throws(LogError) in
                try acknowledgementDecision(on: number, intent, position, replacement, settled)
            }
        case .reject(let number, let rejection):
            return try decision(on: number, settled) { intent in
                switch intent {
                case .pending: settling(number, .rejected(rejection))
                case .accepted, .settled: .ignore(intent.state)  // mutant: late-rejection
                }
            }
        case .retry(let number, let payload):
            return try decision(on: number, settled) { intent throws(LogError) in
                try retryDecision(on: number, intent, with: payload, time, settled)
            }
        case .change(let number, let command):
            return try decision(on: number, settled) { intent throws(LogError) in
                try decision(for: command, on: number, intent, time, settled)
            }
        }
    }

    private func decision(
        for command: IntentCommand, on number: IntentNumber, _ intent: IntentLookup,
        _ time: Timestamp, _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        switch command {
        case .withdraw:
            if facts.mayHaveLeft(number) {  // mutant: withdrawal
                return .refuse(.mayHaveLeft(number))
            }
            return requirePending(number, intent, .withdrawn)
        case .abandon: return requirePending(number, intent, .abandoned)  // mutant: abandoned
        case .dismiss:
            if let refusal = refusalUnlessListed(number, intent) { return .refuse(refusal) }
            return .append([.changed(number, .dismissed)])
        case .retry: return try retryDecision(on: number, intent, with: nil, time, settled)
        case .release:
            guard drafts[number] == .held else {  // mutant: released-held
                return .refuse(.notHeld(number, intent.state))
            }
            return .append([.changed(number, .released)])
        case .undo: return try undoDecision(on: number, intent.state, settled)
        case .redo: return try redoDecision(on: number, intent.state, settled)
        case .withdrawAll: return try withdrawAllDecision(on: number, settled)
        case .retryAll: return try retryAllDecision(on: number, intent.state, time, settled)
        }
    }

    private func requirePending(
        _ number: IntentNumber, _ intent: IntentLookup, _ change: IntentChange
    ) -> Decision {
        switch intent {
        case .pending: settling(number, change)
        case .accepted, .settled: .refuse(.notPending(number, intent.state))
        }
    }

    /// Takes a pending intent out of the overlay, and with it what undoes it (F21).
    private func settling(_ number: IntentNumber, _ change: IntentChange) -> Decision {
        .append([.changed(number, change)] + lapses(of: number))
    }

    /// Finds the intent and decides on it. An intent that was never recorded here is refused.
    private func decision(
        on number: IntentNumber, _ settled: SettledIntents,
        _ decide: (IntentLookup) throws(LogError) -> Decision
    ) throws(LogError) -> Decision {
        guard wasRecorded(number) else { return .refuse(.unknownIntent(number)) }
        if let intent = overlay[number] {
            return try decide(intent.acceptance == nil ? .pending : .accepted)
        }
        guard let intent = try settled.find(number) else {
            preconditionFailure("the caller did not find the settled intent \(number)")
        }
        return try decide(.settled(intent))
    }

    // MARK: Rejections

    /// Refuses any intent but a rejected one whose rejection is still listed (F14).
    func refusalUnlessListed(_ number: IntentNumber, _ intent: IntentLookup) -> Refusal? {
        guard case .settled(let settled) = intent,
            case .rejected(let isDismissed) = settled.settlement
        else { return .notRejected(number, intent.state, isDismissed: false) }
        return isDismissed ? .notRejected(number, .rejected, isDismissed: true) : nil
    }

    /// Records the event again, or the edited event, under the same terms. The same entry dismisses
    /// the rejection (F14).
    ///
    /// If the once key is in use, the intent that has it is the retry, and so is an intent that has
    /// undone the same intent since (F21). Then the entry only dismisses.
    private func retryDecision(
        on number: IntentNumber, _ intent: IntentLookup, with edited: Payload?, _ time: Timestamp,
        _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        if let refusal = refusalUnlessListed(number, intent) { return .refuse(refusal) }
        guard case .settled(let found) = intent else {
            preconditionFailure("the rejected intent \(number) is in the overlay")
        }
        let old = try found.requireRecorded()
        if let joined = joined(by: old.once) ?? overlayIntent(undoing: old.terms.undoes) {
            return .join(
                joined, appending: [.changed(number, .dismissed)] + release(of: joined))
        }
        let payload = edited ?? old.payload  // mutant: edited-event
        let proposal = Proposal(again: old, payload: payload, terms: old.terms.ofRetry)
        return .append([.intent(newIntent(proposal, retrying: number, time))])
    }

    // MARK: Answers

    /// Refuses a position below 1, and any position in an acknowledgement log (F4).
    private func refusal(of position: Position?) -> Refusal? {
        guard let position else { return nil }
        guard position >= 1 else { return .positionBelowOne }
        return kind == .acknowledgement ? .positionInAcknowledgementLog : nil
    }

    /// The settlement rule: decides an acknowledgement by the intent's state (F7).
    ///
    /// - A pending intent is acknowledged.
    /// - A rejected or withdrawn intent is acknowledged as if it were pending, even if the
    ///   rejection is dismissed. The acknowledgement overrides, and is delivered as a second
    ///   answer.
    /// - An accepted or confirmed intent stays as it is, so a repeated acknowledgement is harmless.
    ///
    /// `settles` says whether the entry confirms the intent at once. It does in an acknowledgement
    /// log (F4), and in a downlink log whose `through` covers the position already (F3).
    private func acknowledgementDecision(
        on number: IntentNumber, _ intent: IntentLookup, _ position: Position?,
        _ replacement: Payload?, _ settled: SettledIntents
    ) throws(LogError) -> Decision {
        switch intent {
        case .accepted: return .ignore(.accepted)  // mutant: repeated-acknowledgement
        case .pending: break  // mutant: answer-order
        case .settled(let found):
            switch found.settlement {
            case .confirmed: return .ignore(.confirmed)
            // It was taken back before it was sent, so no authority has it (C4).
            case .withdrawn where found.isCompacted: return .ignore(.withdrawn)
            // The server decides, so the late acknowledgement wins (F7).
            case .rejected, .withdrawn: break  // mutant: late-acknowledgement
            }
        }
        let settles =
            switch kind {
            case .downlink: position.map { $0 <= through } ?? false
            case .acknowledgement: true
            }
        let answer = Acknowledged(  // mutant: recorded-bytes
            number: number, position: position, replacement: replacement, settles: settles)
        return .append([.acknowledged(answer)] + (try restorations(of: number, settled)))
    }
}

/// Finds settled intents that a decision depends on.
package struct SettledIntents {
    /// Whether a replica id is, or was, this log's. Intents of others are not looked up.
    let isOwn: (ReplicaID) -> Bool
    /// Returns the intent; nil only in a history that lacks it.
    let find: (IntentNumber) throws(LogError) -> SettledIntent?

    package init(
        isOwn: @escaping (ReplicaID) -> Bool,
        find: @escaping (IntentNumber) throws(LogError) -> SettledIntent?
    ) {
        self.isOwn = isOwn
        self.find = find
    }

    /// Finds among these intents.
    package init(among intents: [IntentNumber: SettledIntent]) {
        self.init(isOwn: { _ in true }) { intents[$0] }
    }
}
