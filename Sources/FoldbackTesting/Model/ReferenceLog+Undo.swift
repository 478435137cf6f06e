import Foldback

/// Undo and redo as plainly as possible (F21). Links between intents are found by looking at all of
/// them.
extension ReferenceLog {
    /// The newest intent that was recorded to undo this one, whatever became of it.
    func newest(undoing number: IntentNumber) -> IntentNumber? {
        now.intents.filter { $0.value.terms.undoes == number }.keys.max()
    }

    private func isAlive(_ number: IntentNumber) -> Bool {
        now.isInOverlay(number) || now.intents[number]?.state == .confirmed
    }

    /// The intents of one action, ascending. What redo recorded again is not a member.
    func group(of number: IntentNumber) -> [IntentNumber] {
        guard let first = now.intents[number]?.terms.group else { return [number] }
        var members: [IntentNumber] = []
        while let terms = now.intents[first.advanced(by: members.count)]?.terms,
            terms.group == first, terms.undoes.map({ $0 < first }) ?? true
        {
            members.append(first.advanced(by: members.count))
        }
        return members
    }

    /// The intents that undid this one, then undid that, and so on; and whether the action is done.
    private func chain(
        of number: IntentNumber
    ) -> (last: IntentNumber, isDone: Bool, all: [IntentNumber]) {
        var chain = [number]
        while let next = newest(undoing: chain[chain.count - 1]), isAlive(next) {
            chain.append(next)
        }
        let undoings = isAlive(number) ? chain.count - 1 : chain.count
        return (chain[chain.count - 1], undoings % 2 == 0, chain)
    }

    private func wasNeverSent(_ number: IntentNumber) -> Bool {
        now.intents[number]?.state == .pending && now.attempts[number] == nil
    }

    // MARK: What follows

    func lapsing(with number: IntentNumber) -> [LogFact<Event>] {
        guard let next = newest(undoing: number), now.intents[next]?.state == .pending else {
            return []
        }
        return [.changed(next, .lapsed)] + lapsing(with: next)
    }

    /// - Parameter confirmed: what the same batch confirms.
    func returning(
        with number: IntentNumber, besides confirmed: Set<IntentNumber> = []
    ) -> [LogFact<Event>] {
        guard !now.isInOverlay(number), let next = newest(undoing: number),
            !now.isInOverlay(next)
        else { return [] }
        if confirmed.contains(next) { return returning(with: next, besides: confirmed) }
        guard now.intents[next]?.state == .withdrawn, now.intents[next]?.withdrawal == .lapsed
        else { return [] }
        return [.changed(next, .restored)] + returning(with: next, besides: confirmed)
    }

    // MARK: Undo and redo

    func undoing(_ number: IntentNumber, _ force: Bool) -> Decision {
        let members = group(of: number).reversed().filter { chain(of: $0).isDone }
        let sent = members.filter { !wasNeverSent(chain(of: $0).last) }
        var trial = self
        var (withdrawn, recorded): ([IntentNumber], [IntentNumber]) = ([], [])
        for member in members {
            let last = trial.chain(of: member).last
            guard !trial.wasNeverSent(last) else {
                trial.note(trial.settling(last, .undone))
                withdrawn.append(last)
                continue
            }
            guard let intent = trial.now.intents[last] else { continue }
            if intent.state == .confirmed, trial.isReworded(last) { return .refuses("reworded") }
            let isFolded =
                !intent.terms.confirmOnly && intent.state != .confirmed
                && !trial.now.conflicted.contains(last)
            guard let event = isFolded ? trial.inverse(ofFolded: last) : intent.terms.inverse else {
                return .refuses("notUndoable")
            }
            var terms = LogFact<Event>.Terms(confirmOnly: intent.terms.confirmOnly)
            terms.undoes = last
            if sent.count > 1 {
                terms.group = recorded.first ?? IntentNumber(UInt64(trial.now.intents.count + 1))
            }
            let decision = trial.recording(event, force, terms)
            guard case .recorded(let undo) = decision.result else { return decision }
            trial.note(decision)
            recorded.append(undo)
        }
        return reversed(by: trial, number, withdrawn, recorded)
    }

    func redoing(_ number: IntentNumber, _ force: Bool) -> Decision {
        let members = group(of: number)
        var trial = self
        var (withdrawn, recorded): ([IntentNumber], [IntentNumber]) = ([], [])
        var joined: IntentNumber?
        for member in members where !chain(of: member).isDone {
            let last = chain(of: member).last
            if last != member, wasNeverSent(last) {
                trial.note(trial.settling(last, .undone))
                withdrawn.append(last)
                continue
            }
            guard let intent = now.intents[member] else { continue }
            if last == member {
                guard intent.state == .withdrawn,
                    intent.withdrawal == .undone
                        || members.count == 1 && intent.withdrawal == .withdrawn
                else { continue }
            }
            let other = now.joined(intent.terms.once)
            if let other, !chain(of: member).all.contains(other) {
                joined = other
                continue
            }
            var terms = LogFact<Event>.Terms(
                confirmOnly: intent.terms.confirmOnly,
                once: other == nil ? intent.terms.once : nil,
                replacing: intent.terms.replacingKey,
                held: last == member
                    && now.intents[newest(undoing: member) ?? member]?.isHeld ?? false)
            terms.undoes = last
            terms.group = intent.terms.group
            let decision = trial.recording(intent.event, force, terms)
            guard case .recorded(let again) = decision.result else { return decision }
            trial.note(decision)
            recorded.append(again)
        }
        if withdrawn.isEmpty, recorded.isEmpty, let joined {
            return Decision(.joined(joined), releasing(joined))
        }
        return reversed(by: trial, number, withdrawn, recorded)
    }

    private func reversed(
        by trial: Self, _ number: IntentNumber, _ withdrawn: [IntentNumber],
        _ recorded: [IntentNumber]
    ) -> Decision {
        guard !withdrawn.isEmpty || !recorded.isEmpty else {
            return Decision(.ignored(now.intents[number]?.state))
        }
        return Decision(
            .reversed(withdrawn: withdrawn, recorded: recorded),
            Array(trial.facts[facts.count...]))
    }

    /// The inverse of an intent on the view before it.
    private func inverse(ofFolded number: IntentNumber) -> Event? {
        guard let intent = now.intents[number] else { return nil }
        var view = now.confirmed
        for earlier in now.numbers(.pending, .accepted)
        where earlier < number && !now.conflicted.contains(earlier) {
            guard let before = now.intents[earlier], !before.terms.confirmOnly else { continue }
            try? view.apply(before.replacement ?? before.event, Self.context(of: earlier))
        }
        return Self.inverse(
            of: intent.replacement ?? intent.event, Self.context(of: number), on: view)
    }

    static func inverse(of event: Event, _ context: EventContext, on view: P) -> Event? {
        func inverse<U: Undoable>(_ view: U) -> Event? {
            guard let event = event as? U.Event else { return nil }
            return view.inverse(of: event, context) as? Event
        }
        return (view as? any Undoable).flatMap { inverse($0) }
    }

    /// Whether the server applied another event for a confirmed intent.
    private func isReworded(_ number: IntentNumber) -> Bool {
        guard let intent = now.intents[number], let fact = intent.confirmedAt else { return false }
        func differs(_ event: Event) -> Bool {
            (try? P.codec.encode(event)) != (try? P.codec.encode(intent.event))
        }
        if case .confirmed(let events, _) = facts[fact - 1] {
            let own = events.filter { $0.origin == IntentID(replica: .own, number: number) }
            if !own.isEmpty {
                return own.count > 1 || Self.read(own[0].delivered).map(differs) ?? true
            }
        }
        return intent.replacement.map(differs) ?? false
    }

    // MARK: Several

    func withdrawing(all members: [IntentNumber]) -> Decision {
        var trial = self
        for member in members {
            guard let intent = now.intents[member], intent.state != .withdrawn else { continue }
            guard intent.state == .pending else { return .refuses("notPending") }
            guard now.attempts[member] == nil else { return .refuses("mayHaveLeft") }
            trial.note(trial.settling(member, .withdrawn))
        }
        return trial.facts.count == facts.count
            ? .refuses("notPending") : .appends(Array(trial.facts[facts.count...]))
    }

    func retrying(all members: [IntentNumber], _ force: Bool) -> Decision {
        let rejected = members.filter(now.rejections.contains)
        guard !rejected.isEmpty else { return .refuses("notRejected") }
        guard rejected.allSatisfy({ now.joined(now.intents[$0]?.terms.once) == nil }) else {
            return .refuses("onceKeyInUse")
        }
        var trial = self
        var numbers: [IntentNumber] = []
        for number in rejected {
            guard let intent = now.intents[number] else { continue }
            var terms = intent.terms.ofRetry(number)
            if rejected.count > 1 {
                terms.group = numbers.first ?? IntentNumber(UInt64(now.intents.count + 1))
            }
            let decision = trial.recording(intent.event, force, terms)
            guard case .recorded(let again) = decision.result else { return decision }
            trial.note(decision)
            numbers.append(again)
        }
        return Decision(
            numbers.count == 1 ? .recorded(numbers[0]) : .recordedAll(numbers),
            Array(trial.facts[facts.count...]))
    }
}
