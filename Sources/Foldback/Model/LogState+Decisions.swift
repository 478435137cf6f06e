extension LogState {
    /// An intent that a command names, in the state that decides the command.
    private enum IntentLookup {
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
    ///
    /// A rejection is listed until it is dismissed or retried (F14).
    ///
    /// An intent whose sending has begun can only be abandoned (F7, F19). An answer is also refused if
    /// ``refusal(ofAuthority:)`` refuses its authority.
    ///
    /// - Parameters:
    ///   - settled: the intents of ``Command/named(in:)`` that were recorded and are not in the
    ///     overlay.
    ///   - time: the time to record for a new intent.
    package func decision(
        for command: Command, settled: [IntentNumber: SettledIntent],
        time: Timestamp
    ) -> Decision {
        switch command {
        case .record(let proposal):
            if let joined = joined(by: proposal.once) { return .join(joined, appending: nil) }
            return .append(.intent(newIntent(proposal, retrying: nil, time)))
        case .confirm(let events, let through): return batchDecision(events, through, settled)
        case .acknowledge(let number, let position, let replacement):
            if let refusal = refusal(of: position) { return .refuse(refusal) }
            return decisionOnIntent(number, settled) {
                acknowledgementDecision(on: number, $0, position, replacement)
            }
        case .reject(let number, let rejection):
            return decisionOnIntent(number, settled) {
                switch $0 {
                case .pending: .append(.changed(number, .rejected(rejection)))
                case .accepted, .settled: .ignore($0.state)  // mutant: late-rejection
                }
            }
        case .retry(let number, let payload):
            return decisionOnIntent(number, settled) {
                requireListedRejection(number, $0) {
                    retryDecision(on: $0.recorded, with: payload, time)
                }
            }
        case .change(let number, let command):
            return decisionOnIntent(number, settled) {
                decision(for: command, on: number, $0, time)
            }
        }
    }

    private func decision(
        for command: IntentCommand, on number: IntentNumber, _ intent: IntentLookup,
        _ time: Timestamp
    ) -> Decision {
        switch command {
        case .withdraw:
            if facts.attempts[number] != nil {  // mutant: withdrawal
                .refuse(.mayHaveLeft(number))
            } else {
                requirePending(number, intent, .withdrawn)
            }
        case .abandon: requirePending(number, intent, .abandoned)  // mutant: abandoned
        case .dismiss:
            requireListedRejection(number, intent) { _ in .append(.changed(number, .dismissed)) }
        case .retry:
            requireListedRejection(number, intent) {
                retryDecision(on: $0.recorded, with: nil, time)
            }
        }
    }

    private func requirePending(
        _ number: IntentNumber, _ intent: IntentLookup, _ change: IntentChange
    ) -> Decision {
        switch intent {
        case .pending: .append(.changed(number, change))
        case .accepted, .settled: .refuse(.notPending(number, intent.state))
        }
    }

    /// Finds the intent and decides on it. An intent that was never recorded here is refused.
    private func decisionOnIntent(
        _ number: IntentNumber, _ settled: [IntentNumber: SettledIntent],
        _ decide: (IntentLookup) -> Decision
    ) -> Decision {
        guard wasRecorded(number) else { return .refuse(.unknownIntent(number)) }
        if let intent = overlay[number] {
            return decide(intent.acceptance == nil ? .pending : .accepted)
        }
        guard let intent = settled[number] else {
            preconditionFailure("the caller did not look up the settled intent \(number)")
        }
        return decide(.settled(intent))
    }

    // MARK: Recording

    /// Returns the intent as its entry has it, with the next number.
    func newIntent(
        _ proposal: Proposal, retrying old: IntentNumber?, _ time: Timestamp
    ) -> RecordedIntent {
        RecordedIntent(
            id: IntentID(replica: replica, number: nextNumber), payload: proposal.payload,
            isConfirmOnly: proposal.isConfirmOnly, once: proposal.once, retries: old,
            info: proposal.info, sequence: sequence.next, time: time)
    }

    /// Decides on a rejected intent if its rejection is still listed, and refuses any other (F14).
    private func requireListedRejection(
        _ number: IntentNumber, _ intent: IntentLookup,
        _ decide: (SettledIntent) -> Decision
    ) -> Decision {
        switch intent {
        case .pending, .accepted:
            return .refuse(.notRejected(number, intent.state, isDismissed: false))
        case .settled(let settled):
            switch settled.settlement {
            case .rejected(isDismissed: false): return decide(settled)
            case .rejected(isDismissed: true):
                return .refuse(.notRejected(number, .rejected, isDismissed: true))
            case .confirmed, .withdrawn:
                return .refuse(.notRejected(number, intent.state, isDismissed: false))
            }
        }
    }

    /// Records the event again, or the edited event, under the same terms. The same entry dismisses
    /// the rejection (F14).
    ///
    /// If the once key is in use, the intent that has it is the retry. Then the entry only
    /// dismisses.
    private func retryDecision(
        on old: RecordedIntent, with edited: Payload?, _ time: Timestamp
    ) -> Decision {
        if let joined = joined(by: old.once) {
            return .join(joined, appending: .changed(old.number, .dismissed))
        }
        let payload = edited ?? old.payload  // mutant: edited-event
        let proposal = Proposal(
            payload: payload, isConfirmOnly: old.isConfirmOnly, once: old.once, info: old.info)
        return .append(.intent(newIntent(proposal, retrying: old.number, time)))
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
        _ replacement: Payload?
    ) -> Decision {
        switch intent {
        case .accepted: return .ignore(.accepted)  // mutant: repeated-acknowledgement
        case .pending: break  // mutant: answer-order
        case .settled(let settled):
            switch settled.settlement {
            case .confirmed: return .ignore(.confirmed)
            // The server decides, so the late acknowledgement wins (F7).
            case .rejected, .withdrawn: break  // mutant: late-acknowledgement
            }
        }
        let settles =
            switch kind {
            case .downlink: position.map { $0 <= through } ?? false
            case .acknowledgement: true
            }
        return .append(  // mutant: recorded-bytes
            .acknowledged(
                Acknowledged(
                    number: number, position: position, replacement: replacement,
                    settles: settles)))
    }
}
