import Foldback

/// Which waiting intents the next requests have.
extension OutboxState {
    /// Begins as many requests as allowed. If none can begin and intents wait, returns a wait until
    /// one can.
    mutating func begin(at now: Timestamp) -> [Action] {
        guard link.isUsable, requests.count < policy.requestsMax else { return [] }
        if let until = link.pause.remains(at: now, policy) {
            return waiting.isEmpty ? [] : [.wait(until: until)]
        }
        var actions: [Action] = []
        while requests.count < policy.requestsMax {
            var draft = RequestDraft(policy)
            if policy.keepsOrder {
                draftInOrder(&draft, now)
            } else {
                draftOfSuspects(&draft, now)
                if draft.intents.isEmpty { draftOfOthers(&draft, now) }
            }
            guard !draft.intents.isEmpty else {
                if let earliest = draft.earliest { actions.append(.wait(until: earliest)) }
                break
            }
            actions.append(begin(draft.intents, at: now))
        }
        return actions
    }

    /// Drafts a request of the first waiting intents. A wait of the first intent is a wait of all.
    private mutating func draftInOrder(_ draft: inout RequestDraft, _ now: Timestamp) {
        var drafts = released.makeIterator()
        var nextDraft = drafts.next()
        for (number, intent) in waiting where intent.terms.released == nil {
            while let (place, released) = nextDraft, place < intent.terms.place {
                guard addNext(released, to: &draft, now) else { return }
                nextDraft = drafts.next()
            }
            guard addNext(number, to: &draft, now) else { return }
        }
        while let (_, released) = nextDraft {
            guard addNext(released, to: &draft, now) else { return }
            nextDraft = drafts.next()
        }
    }

    /// Adds the next intent in order, or skips it if it waits for a draft. Returns whether the request
    /// can have more.
    private mutating func addNext(
        _ number: IntentNumber, to draft: inout RequestDraft, _ now: Timestamp
    ) -> Bool {
        guard let intent = waiting[number], !waitsForDraft(intent) else { return true }
        // A request has its intents in order of number, and what undoes an intent is not with it.
        if let last = draft.intents.last?.0, last > number { return false }
        if waitsForUndone(intent) { return !isSendable(intent.terms.undoes) }
        let until = remains(of: number, intent, now)
        let pause = intent.standing == .normal ? nil : search.pause.remains(at: now, policy)
        if let later = [until, pause].compactMap({ $0 }).max() {
            draft.wait(until: later)
            return false
        }
        return draft.add(number, intent)
    }

    /// Whether the intent waits for the answer to another.
    func mustWait(_ intent: Waiting) -> Bool { waitsForDraft(intent) || waitsForUndone(intent) }

    /// Whether an intent that must be answered first has no answer (F22).
    private func waitsForDraft(_ intent: Waiting) -> Bool {
        intent.terms.after.contains(where: isUnanswered)  // mutant: after-draft
    }

    /// Whether the intent that this one undoes has no answer (F21).
    private func waitsForUndone(_ intent: Waiting) -> Bool {
        intent.terms.undoes.map(isUnanswered) ?? false  // mutant: after-undone
    }

    /// Whether an intent is on its way, or will be without anything else that happens before.
    private func isSendable(_ number: IntentNumber?) -> Bool {
        guard let number else { return false }
        if let intent = waiting[number] { return !waitsForDraft(intent) }
        return !held.contains(number) && !unreadable.contains(number)
    }

    private func isUnanswered(_ number: IntentNumber) -> Bool {
        waiting[number] != nil || held.contains(number) || unreadable.contains(number)
            || requests.values.contains { $0.intents[number] != nil }
    }

    /// Drafts a request of suspects, unless one is on its way: first those that were halved least
    /// often and failed least often, so that suspects that only keep failing delay no others.
    private mutating func draftOfSuspects(_ draft: inout RequestDraft, _ now: Timestamp) {
        guard !search.waiting.isEmpty, !requests.values.contains(where: \.isOfSuspects) else {
            return
        }
        if let until = search.pause.remains(at: now, policy) { return draft.wait(until: until) }
        var due: [(number: IntentNumber, intent: Waiting)] = []
        for number in search.waiting {
            guard let intent = waiting[number], !mustWait(intent) else { continue }
            if let until = remains(of: number, intent, now) {
                draft.wait(until: until)
            } else {
                due.append((number, intent))
            }
        }
        due.sort { $0.intent.suspectRank(at: $0.number) < $1.intent.suspectRank(at: $1.number) }
        // The first intent decides which others fit.
        for (number, intent) in due { _ = draft.add(number, intent) }
    }

    /// Drafts a request of intents that are not suspects and do not wait.
    private mutating func draftOfOthers(_ draft: inout RequestDraft, _ now: Timestamp) {
        guard waiting.count > search.waiting.count else { return }
        for (number, intent) in waiting
        where intent.standing == .normal && !mustWait(intent) {
            if let until = remains(of: number, intent, now) {
                draft.wait(until: until)
            } else if !draft.add(number, intent) {
                return
            }
        }
    }

    /// Returns the end of an intent's own wait, at most `policy.delayMax` from now, because the
    /// clock may have been set back; nil if the wait is over.
    private mutating func remains(
        of number: IntentNumber, _ intent: Waiting, _ now: Timestamp
    ) -> Timestamp? {
        guard let delay = intent.delay else { return nil }  // mutant: quarantine-retried
        let bounded = delay.bounded(at: now, policy)
        if bounded.until != delay.until { waiting[number]?.delay = bounded }
        return bounded.until > now ? bounded.until : nil
    }
}
