import Foldback

/// Which waiting intents the next requests have.
extension OutboxState {
    /// Begins as many requests as allowed. If none can begin and intents wait, returns a wait until
    /// one can.
    mutating func begin(at now: Timestamp) -> [Action] {
        guard link.isUsable, requests.count < policy.requestsMax else { return [] }
        if let until = link.pause.remains(at: now, policy) {
            return order.waiting.isEmpty ? [] : [.wait(until: until)]
        }
        order.passTime(to: now, policy)
        var actions: [Action] = []
        while requests.count < policy.requestsMax {
            let areSuspectsDue =
                order.firstSuspect != nil && !requests.values.contains(where: \.isOfSuspects)
            let pause = areSuspectsDue ? search.pause.remains(at: now, policy) : nil
            var draft = RequestDraft(policy)
            if areSuspectsDue, pause == nil { draftOfSuspects(&draft, now) }
            if draft.intents.isEmpty { draftOfOthers(&draft, now) }
            guard !draft.intents.isEmpty else {
                if let until = [pause, order.delayEnd].compactMap({ $0 }).min() {
                    actions.append(.wait(until: until))
                }
                break
            }
            actions.append(begin(draft.intents, at: now))
        }
        return actions
    }

    /// Drafts a request of suspects: those that were halved least often and failed least often, so that
    /// suspects that only keep failing delay no others.
    private mutating func draftOfSuspects(_ draft: inout RequestDraft, _ now: Timestamp) {
        // The first intent decides which others fit.
        while let head = order.firstSuspect, var lane = add(head, to: &draft) {
            var last = head
            while let next = order.next(after: last, in: lane, at: now),
                let following = add(next, to: &draft)
            {
                (last, lane) = (next, following)
            }
        }
    }

    /// Drafts a request of intents that are not suspects, in order of number.
    private mutating func draftOfOthers(_ draft: inout RequestDraft, _ now: Timestamp) {
        // The intents that follow others of the request in their lanes.
        var followers = NumberMap<IntentNumber, Lane>()
        while true {
            let following = followers.first?.key
            guard let number = [order.firstReady, following].compactMap({ $0 }).min(),
                let lane = add(number, to: &draft)
            else { return }
            followers[number] = nil
            if let next = order.next(after: number, in: lane, at: now),
                order.waiting[next]?.standing == .normal
            {
                followers[next] = lane
            }
        }
    }

    /// Adds a waiting intent to the request, and returns its lane; nil if it must be in another request.
    private mutating func add(_ number: IntentNumber, to draft: inout RequestDraft) -> Lane? {
        guard let intent = order.waiting[number], draft.add(number, intent) else { return nil }
        order.depart(number)
        return intent.terms.lane
    }
}
