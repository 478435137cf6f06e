extension LogState {
    /// How an intent stands, for a command that names it.
    private enum IntentLookup {
        case pending
        case accepted
        case settled(SettledIntent)

        var state: IntentState {
            switch self {
            case .pending: .pending
            case .accepted: .accepted
            case .settled(let intent): intent.verdict.state
            }
        }
    }

    /// What becomes of a command; nothing is changed yet.
    ///
    /// - Parameters:
    ///   - settled: those of ``Command/named(in:)`` that were recorded and are not in the overlay.
    ///   - time: when an intent that is recorded now was recorded.
    package func decision(
        for command: Command, settled: [IntentNumber: SettledIntent],
        time: Timestamp
    ) -> Decision {
        switch command {
        case .record(let proposal):
            if let joined = joined(by: proposal.once) { return .join(joined, appending: nil) }
            return .append(.intent(recorded(proposal, retrying: nil, time)))
        case .confirm(let events, let through): return batch(events, through, settled)
        case .acknowledge(let number, let position, let replacement):
            if let refusal = refusal(of: position) { return .refuse(refusal) }
            return decision(on: number, settled) {
                acknowledgement(of: number, $0, position, replacement)
            }
        case .reject(let number, let rejection):
            return decision(on: number, settled) {
                switch $0 {
                case .pending: .append(.changed(number, .rejected(rejection)))
                case .accepted, .settled: .ignore($0.state)  // mutant: late-rejection
                }
            }
        case .change(let number, let command):
            return decision(on: number, settled) { decision(for: command, on: number, $0, time) }
        }
    }

    private func decision(
        for command: IntentCommand, on number: IntentNumber, _ intent: IntentLookup,
        _ time: Timestamp
    ) -> Decision {
        switch command {
        case .withdraw:
            switch intent {
            case .pending: .append(.changed(number, .withdrawn))
            case .accepted, .settled: .refuse(.notPending(number, intent.state))
            }
        case .dismiss:
            undismissed(number, intent) { _ in .append(.changed(number, .dismissed)) }
        case .retry: undismissed(number, intent) { retry(of: $0.recorded, time) }
        }
    }

    private func decision(
        on number: IntentNumber, _ settled: [IntentNumber: SettledIntent],
        _ decide: (IntentLookup) -> Decision
    ) -> Decision {
        guard let standing = standing(of: number, settled) else {
            return .refuse(.unknownIntent(number))
        }
        return decide(standing)
    }

    /// Nil for a number never recorded here.
    private func standing(
        of number: IntentNumber, _ settled: [IntentNumber: SettledIntent]
    ) -> IntentLookup? {
        guard wasRecorded(number) else { return nil }
        if let intent = overlay[number] { return intent.acceptance == nil ? .pending : .accepted }
        guard let intent = settled[number] else {
            preconditionFailure("intent \(number) was not looked up")
        }
        return .settled(intent)
    }

    // MARK: Recording

    private func recorded(
        _ proposal: Proposal, retrying old: IntentNumber?, _ time: Timestamp
    ) -> RecordedIntent {
        RecordedIntent(
            id: IntentID(replica: replica, number: nextNumber), payload: proposal.payload,
            isConfirmOnly: proposal.isConfirmOnly, once: proposal.once, retries: old,
            info: proposal.info, sequence: sequence.next, time: time)
    }

    /// Dismissing and retrying are for rejections that are still in the list (F14).
    private func undismissed(
        _ number: IntentNumber, _ standing: IntentLookup,
        _ decide: (SettledIntent) -> Decision
    ) -> Decision {
        switch standing {
        case .pending, .accepted:
            return .refuse(.notRejected(number, standing.state, isDismissed: false))
        case .settled(let intent):
            switch intent.verdict {
            case .rejected(isDismissed: false): return decide(intent)
            case .rejected(isDismissed: true):
                return .refuse(.notRejected(number, .rejected, isDismissed: true))
            case .confirmed, .withdrawn:
                return .refuse(.notRejected(number, standing.state, isDismissed: false))
            }
        }
    }

    /// Records the event anew under the same terms, and dismisses in the same entry. Where the once
    /// key has been used again meanwhile, the intent that has it is the retry (F14).
    private func retry(of old: RecordedIntent, _ time: Timestamp) -> Decision {
        if let joined = joined(by: old.once) {
            return .join(joined, appending: .changed(old.number, .dismissed))
        }
        let proposal = Proposal(
            payload: old.payload, isConfirmOnly: old.isConfirmOnly, once: old.once, info: old.info)
        return .append(.intent(recorded(proposal, retrying: old.number, time)))
    }

    // MARK: Answers

    private func refusal(of position: Position?) -> Refusal? {
        guard let position else { return nil }
        guard position >= 1 else { return .positionBelowOne }
        return kind == .acknowledgement ? .positionInAcknowledgementLog : nil
    }

    private func acknowledgement(
        of number: IntentNumber, _ standing: IntentLookup, _ position: Position?,
        _ replacement: Payload?
    ) -> Decision {
        switch standing {
        case .accepted: return .ignore(.accepted)  // mutant: repeated-acknowledgement
        case .pending: break  // mutant: answer-order
        case .settled(let intent):
            switch intent.verdict {
            case .confirmed: return .ignore(.confirmed)
            // The server's word is the truth: as if it were pending (F7).
            case .rejected, .withdrawn: break  // mutant: late-acknowledgement
            }
        }
        let settles =
            switch kind {
            case .downlink: position.map { $0 <= through } ?? false
            case .acknowledgement: true
            }
        return .append(
            .acknowledged(
                Acknowledged(
                    number: number, position: position, replacement: replacement,
                    settles: settles)))
    }

    private func batch(
        _ events: [Confirmed], _ named: Position?,
        _ settled: [IntentNumber: SettledIntent]
    ) -> Decision {
        guard kind == .downlink else {  // mutant: batch-source
            return .refuse(.batchInAcknowledgementLog)
        }
        guard events.allSatisfy({ $0.position >= 1 }) else { return .refuse(.positionBelowOne) }
        let highest = events.map(\.position).max() ?? 0
        let through = named ?? highest
        guard through >= highest else {
            return .refuse(.throughBelowPosition(through: through, highest: highest))
        }
        var confirmed = Set(accepted(upTo: through))
        for event in events where confirms(event, settled) {
            confirmed.insert(event.origin!.number)
        }
        guard through > self.through || !confirmed.isEmpty else { return .ignoreBatch }
        return .append(
            .confirmed(
                ConfirmedBatch(events: events, through: through, settled: confirmed.sorted())))
    }

    /// Whether the event confirms an intent of this log. A new one does whatever had become of the
    /// intent here; one at or below `through` only if the intent is unsettled (F6).
    private func confirms(
        _ event: Confirmed, _ settled: [IntentNumber: SettledIntent]
    ) -> Bool {
        guard let origin = event.origin, wasRecorded(origin.number) else { return false }
        if let intent = overlay[origin.number] {  // mutant: skipped-event
            return intent.recorded.id == origin
        }
        // Another replica's intent is not looked up, whatever its number.
        guard let intent = settled[origin.number], intent.recorded.id == origin else {
            return false
        }
        switch intent.verdict {
        case .confirmed: return false
        case .rejected, .withdrawn: return event.position > through
        }
    }
}
