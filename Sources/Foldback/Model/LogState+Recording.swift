/// What recording means: a new intent, one that replaces another, or several together (F14, F16, F20,
/// F22).
extension LogState {
    /// Decides on one intent.
    ///
    /// The order of the rules: the intent that the call would replace is found first, then the once
    /// key. If another intent has the once key, the call joins that one, and nothing is replaced
    /// (F16). Without `held`, joining a draft releases it (F22).
    func recordingDecision(
        _ proposal: Proposal, _ isTouched: (IntentNumber) -> Bool, _ time: Timestamp
    ) -> Decision {
        // Intents of a superseded log have their keys, and none of them replaces another (N6).
        let key = proposal.links == nil ? proposal.terms.replacingKey : nil
        let replaced = key.flatMap { replaceable(by: $0, isTouched) }
        if let joined = joined(by: proposal.once), joined != replaced {  // mutant: replaced-once
            return .join(joined, appending: proposal.terms.isHeld ? [] : release(of: joined))
        }
        return .append([.intent(newIntent(proposal, replacing: replaced, time))])
    }

    /// Returns the entry that releases an intent if it is a held draft (F22).
    func release(of number: IntentNumber) -> [Entry] {
        drafts[number] == .held ? [.changed(number, .released)] : []  // mutant: joined-draft
    }

    /// Decides on several intents that are one action: all are recorded, or none (F20). They carry the
    /// number of the first.
    func recordingDecision(_ proposals: [Proposal], _ time: Timestamp) -> Decision {
        for proposal in proposals {
            if let joined = joined(by: proposal.once) { return .refuse(.onceKeyInUse(joined)) }
        }
        return .append(
            proposals.enumerated().map { index, proposal in
                .intent(newIntent(proposal, place: index, inGroupOf: proposals.count, time))
            })
    }

    /// Returns the intent that a new one with this key replaces: the newest with the key, if it cannot
    /// have left the device and nothing after it touches what it touches (F16).
    ///
    /// An intent that something undoes stays, because its number is needed (F21).
    package func replaceable(
        by key: ExactString, _ isTouched: (IntentNumber) -> Bool
    ) -> IntentNumber? {
        guard let number = newest(replaceableBy: key), overlay[number]?.acceptance == nil else {
            return nil
        }
        guard !facts.mayHaveLeft(number) else { return nil }  // mutant: replaced-attempt
        return overlayIntent(undoing: number) == nil && !isTouched(number) ? number : nil
    }

    /// Returns the intent as its entry has it, with the next number.
    ///
    /// - Parameters:
    ///   - place: its place among the intents of one command.
    ///   - count: their number.
    func newIntent(
        _ proposal: Proposal, retrying old: IntentNumber? = nil,
        replacing replaced: IntentNumber? = nil, place: Int = 0, inGroupOf count: Int = 1,
        _ time: Timestamp
    ) -> RecordedIntent {
        var terms = proposal.terms
        terms.replaces = replaced
        if count > 1 { terms.group = nextNumber }  // mutant: group
        if let links = proposal.links {
            terms.undoes = joined(by: links.undoes)  // mutant: brought-undo
            terms.group = links.group.map { joined(by: $0) ?? nextNumber }
        }
        return RecordedIntent(
            id: IntentID(replica: replica, number: nextNumber.advanced(by: place)),
            payload: proposal.payload, isConfirmOnly: proposal.isConfirmOnly, once: proposal.once,
            retries: old, info: proposal.info, sequence: sequence.next.advanced(by: place),
            time: time, terms: terms)
    }
}

extension IntentTerms {
    /// The terms of a retry: no draft, and alone.
    var ofRetry: IntentTerms { IntentTerms(replacingKey: replacingKey, undoes: undoes) }
}
