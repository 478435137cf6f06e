import Foldback

/// What each command leads to.
extension ReferenceLog {
    // MARK: From commands to facts

    /// What a command leads to: its result, and the facts that the log appends.
    package struct Decision: Sendable {
        package let result: CommandResult
        package let facts: [LogFact<Event>]
        /// The intent whose sending begins.
        let attempted: IntentNumber?

        package init(
            _ result: CommandResult, _ facts: [LogFact<Event>] = [], attempted: IntentNumber? = nil
        ) {
            self.result = result
            self.facts = facts
            self.attempted = attempted
        }

        static func appends(_ facts: [LogFact<Event>]) -> Self { Self(.appended, facts) }
        static func refuses(_ name: String) -> Self { Self(.refused(name)) }
        static var unknown: Self { refuses("unknownIntent") }
    }

    package mutating func carryOut(_ command: LogCommand<Event>) -> CommandResult {
        let decision = decision(on: command)
        note(decision)
        return decision.result
    }

    /// Notes what a command leads to.
    package mutating func note(_ decision: Decision) {
        facts += decision.facts
        if let number = decision.attempted { attempts.append((number, facts.count)) }
        guard !decision.facts.isEmpty || decision.attempted != nil else { return }
        now = state(at: facts.count)
        // An intent that is answered, or lapses, has no attempts any more, also if it is pending again
        // later: what it undoes comes back after a late acceptance.
        attempts.removeAll { now.intents[$0.number]?.state != .pending }
    }

    package func decision(on command: LogCommand<Event>) -> Decision {
        switch command {
        case .record(let event, let force, let terms):
            var terms = terms
            if !P.sharesOnlyKeys { terms.replacingKey = nil }
            let replaced = replaceable(by: terms.replacingKey)
            if let joined = now.joined(terms.once), joined != replaced {
                return Decision(.joined(joined), terms.held ? [] : releasing(joined))
            }
            terms.replaces = replaced
            return recording(event, force, terms)
        case .together(let events, let force, let terms):
            return recording(events, force, terms)
        case .change(let number, let command, let force):
            guard let intent = now.intents[number] else { return .unknown }
            return decision(on: command, number, intent, force)
        case .retry(let number, let event, let force):
            guard let intent = now.intents[number] else { return .unknown }
            return retrying(number, intent, with: event, force)
        case .acknowledge(let number, let position, let replacement):
            if position != nil, kind == .acknowledgement { return .refuses("invalidBatch") }
            guard let intent = now.intents[number] else { return .unknown }
            return intent.state == .accepted || intent.state == .confirmed
                ? Decision(.ignored(intent.state))
                : .appends(
                    [.acknowledged(number, position: position, replacement: replacement)]
                        + returning(with: number))
        case .reject(let number, let rejection):
            guard let intent = now.intents[number] else { return .unknown }
            return intent.state == .pending
                ? settling(number, .rejected(rejection)) : Decision(.ignored(intent.state))
        case .confirm(let events, let through): return confirming(events, through)
        case .attempt(let number):
            // An outbox asks for several intents, and gets those that it may send.
            return now.intents[number]?.state == .pending && now.intents[number]?.isHeld == false
                ? Decision(.attempted, attempted: number) : Decision(.ignored(nil))
        }
    }

    func decision(
        on command: IntentCommand, _ number: IntentNumber, _ intent: Intent, _ force: Bool
    ) -> Decision {
        let isListed = now.rejections.contains(number)
        switch command {
        case .withdraw:
            guard now.attempts[number] == nil else { return .refuses("mayHaveLeft") }
            return intent.state == .pending
                ? settling(number, .withdrawn) : .refuses("notPending")
        case .abandon:
            return intent.state == .pending
                ? settling(number, .abandoned) : .refuses("notPending")
        case .dismiss:
            return isListed ? .appends([.changed(number, .dismissed)]) : .refuses("notRejected")
        case .retry: return retrying(number, intent, with: intent.event, force)
        case .release:
            return intent.state == .pending && intent.isHeld
                ? .appends([.changed(number, .released)]) : .refuses("notHeld")
        case .undo: return undoing(number, force)
        case .redo: return redoing(number, force)
        case .withdrawAll: return withdrawing(all: group(of: number))
        case .retryAll: return retrying(all: group(of: number), force)
        }
    }

    /// An intent leaves the overlay, and what undoes it goes with it.
    func settling(_ number: IntentNumber, _ change: IntentChange) -> Decision {
        .appends([.changed(number, change)] + lapsing(with: number))
    }

    func retrying(
        _ number: IntentNumber, _ intent: Intent, with event: Event, _ force: Bool
    ) -> Decision {
        guard now.rejections.contains(number) else { return .refuses("notRejected") }
        let other = intent.terms.undoes.flatMap { newest(undoing: $0) }
            .flatMap { now.isInOverlay($0) ? $0 : nil }
        if let joined = now.joined(intent.terms.once) ?? other {
            return Decision(.joined(joined), [.changed(number, .dismissed)] + releasing(joined))
        }
        return recording(event, force, intent.terms.ofRetry(number))
    }

    /// A held draft that another call joins is released.
    func releasing(_ number: IntentNumber) -> [LogFact<Event>] {
        let intent = now.intents[number]
        return intent?.state == .pending && intent?.isHeld == true
            ? [.changed(number, .released)] : []
    }

    /// Records one intent on the view without the intent that it replaces.
    func recording(
        _ event: Event, _ force: Bool, _ terms: LogFact<Event>.Terms
    ) -> Decision {
        let number = IntentNumber(UInt64(now.intents.count + 1))
        var base = now
        if let replaced = terms.replaces {
            let without = facts + [.changed(replaced, .withdrawn)]
            base = Self(kind, facts: without, like: self).state(at: without.count)
        }
        // What undoes a conflicted intent is conflicted too, and is recorded (F21).
        let isLinked = terms.undoes.map(base.conflicted.contains) ?? false
        if !isLinked, !force, !terms.confirmOnly {
            var view = base.view
            do { try view.apply(event, Self.context(of: number)) } catch {
                return .refuses("inapplicable")
            }
            for other in base.others
            where Self.applied(event, Self.context(of: number), to: other) == nil {
                return .refuses("inapplicable")
            }
        }
        var terms = terms
        terms.inverse = Self.inverse(of: event, Self.context(of: number), on: base.view)
        return Decision(.recorded(number), [.intent(number, event, terms)])
    }

    /// Records all events, or none.
    func recording(
        _ events: [Event], _ force: Bool, _ terms: LogFact<Event>.Terms
    ) -> Decision {
        guard now.joined(terms.once) == nil else { return .refuses("onceKeyInUse") }
        var trial = self
        var numbers: [IntentNumber] = []
        for (place, event) in events.enumerated() {
            var terms = terms
            if place > 0 { terms.once = nil }
            if events.count > 1 {
                terms.group = numbers.first ?? IntentNumber(UInt64(now.intents.count + 1))
            }
            let decision = trial.recording(event, force, terms)
            guard case .recorded(let number) = decision.result else { return decision }
            numbers.append(number)
            trial.note(decision)
        }
        return Decision(
            numbers.count == 1 ? .recorded(numbers[0]) : .recordedAll(numbers),
            Array(trial.facts[facts.count...]))
    }

    /// The intent that a new one with this key replaces.
    func replaceable(by key: String?) -> IntentNumber? {
        guard let key,
            let number = now.numbers(.pending, .accepted).last(where: {
                now.intents[$0]?.terms.replacingKey == key
            }),
            now.intents[number]?.state == .pending, now.attempts[number] == nil,
            !(newest(undoing: number).map(now.isInOverlay) ?? false)
        else { return nil }
        let isTouched = now.numbers(.pending, .accepted).contains {
            $0 > number && sharesKey(number, $0)
        }
        return isTouched ? nil : number
    }

    /// Whether two intents touch a key in common, or may.
    func sharesKey(_ a: IntentNumber, _ b: IntentNumber) -> Bool {
        func shares<Q: Projection>(_: Q.Type) -> Bool {
            guard Q.Key.self != Never.self,
                let first = now.intents[a].map({ $0.replacement ?? $0.event }) as? Q.Event,
                let second = now.intents[b].map({ $0.replacement ?? $0.event }) as? Q.Event
            else { return true }
            let keys = Set(Q.keys(touchedBy: first, Self.context(of: a)))
            return Q.keys(touchedBy: second, Self.context(of: b)).contains(where: keys.contains)
        }
        return shares(P.self) || others.contains { shares($0) }
    }

    func confirming(
        _ events: [ConfirmedEvent<Event>], _ named: Position?
    ) -> Decision {
        guard kind == .downlink else { return .refuses("invalidBatch") }
        let highest = events.map(\.position).max() ?? 0
        let through = named ?? highest
        guard through >= highest, events.allSatisfy({ $0.position >= 1 }) else {
            return .refuses("invalidBatch")
        }
        let reached = now.intents.values.contains {
            $0.state == .accepted && $0.position.map { $0 <= through } ?? false
        }
        guard through > now.through || reached || !confirms(events, now).isEmpty else {
            return Decision(.ignored(nil))
        }
        let confirmed = confirms(events, now)
        let back = confirmed.sorted().filter { !now.isInOverlay($0) }
        return .appends(
            [.confirmed(events, through: through)]
                + back.flatMap { returning(with: $0, besides: confirmed) })
    }
}
