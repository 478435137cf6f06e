import Foldback

extension Generator where Value: Sendable {
    /// Histories of a log with these events: everything that users and servers do, in any order that can
    /// happen, and some that should not.
    ///
    /// What a step needs is there when it is drawn: answers name intents that were recorded, retries what
    /// was rejected. So it stays while a history shrinks.
    /// - Parameters:
    ///   - kind: nil: either.
    ///   - steps: how many at most; about half as many on average.
    public func histories(_ kind: LogKind?, steps: Int) -> Generator<Script<Value>> {
        Generator<Script<Value>> { choices in
            let kind =
                kind
                ?? (choices.draw(upTo: 1, .weights([2, 1])) == 0 ? .downlink : .acknowledgement)
            var script = ScriptDraft(kind, events: self)
            try script.draw(stepsMax: steps, from: &choices)
            return Script(kind, script.steps)
        }
    }
}

/// A history being drawn, and how its intents stand if none of them was refused.
private struct ScriptDraft<Event: Sendable> {
    private struct Intent {
        let event: Event
        let once: String?
        var state = IntentState.pending
        var isDismissed = false
    }

    /// The simplest first.
    private enum Kind: Int, CaseIterable {
        case record, reject, acknowledge, echo, batch, withdraw, retry, dismiss, again, kill, reopen
        case checkpoint, odd

        var weight: UInt64 {
            switch self {
            case .record: 36
            case .acknowledge: 14
            case .echo, .batch: 9
            case .reject: 8
            case .retry, .again: 4
            case .withdraw, .kill, .checkpoint, .odd: 3
            case .reopen, .dismiss: 2
            }
        }
    }

    /// From here on no history gets with its numbers (F6).
    private static var neverRecorded: UInt64 { 1_000_000 }

    private let kind: LogKind
    private let events: Generator<Event>
    private(set) var steps: [Script<Event>.Step] = []
    private var intents: [Intent] = []
    private var through: UInt64 = 0

    init(_ kind: LogKind, events: Generator<Event>) {
        self.kind = kind
        self.events = events
    }

    mutating func draw(stepsMax: Int, from choices: inout Choices) throws {
        for _ in 0..<stepsMax {
            let goesOn = try choices.span { choices in
                guard choices.draw(upTo: 1, .weights([1, UInt64(max(stepsMax, 2))])) == 1 else {
                    return false
                }
                try choices.span { try drawStep(&$0) }
                return true
            }
            if !goesOn { return }
        }
    }

    /// Adds a step, or none where what was drawn has nothing to work on.
    private mutating func drawStep(_ choices: inout Choices) throws {
        let kinds = Kind.allCases
        let drawn = choices.draw(upTo: UInt64(kinds.count - 1), .weights(kinds.map(\.weight)))
        switch kinds[Int(drawn)] {
        case .record: try drawRecord(&choices)
        case .reject:
            if let place = pick([.pending], &choices) {
                settle(place, .rejected, .reject(place, message: "no"))
            }
        case .acknowledge: try drawAcknowledgement(&choices)
        case .echo: drawEcho(&choices)
        case .batch: try drawBatch(&choices)
        case .withdraw:
            if let place = pick([.pending], &choices) {
                settle(place, .withdrawn, .withdraw(place))
            }
        case .retry: drawRetry(&choices)
        case .dismiss:
            if let place = pick([.rejected], &choices) {
                intents[index(place)].isDismissed = true
                steps.append(.dismiss(place))
            }
        case .again:
            let answers = steps.filter(\.isAnswer)
            guard !answers.isEmpty else { return }
            let place = choices.draw(upTo: UInt64(answers.count - 1), .uniform)
            steps.append(answers[answers.count - 1 - Int(place)])
        case .kill: steps.append(.kill)
        case .reopen: steps.append(.reopen)
        case .checkpoint: steps.append(.checkpoint)
        case .odd: try drawOdd(&choices)
        }
    }

    // MARK: What users do

    private mutating func drawRecord(_ choices: inout Choices) throws {
        let event = try choices.span { try events.generate(from: &$0) }
        let force = choices.draw(upTo: 1, .weights([3, 2])) == 1
        let confirmOnly = choices.draw(upTo: 1, .weights([9, 1])) == 1
        let key = choices.draw(upTo: 2, .weights([8, 1, 1]))
        let once = key == 0 ? nil : "key \(key)"
        steps.append(.record(event, force: force, confirmOnly: confirmOnly, once: once))
        intents.append(Intent(event: event, once: once))
    }

    private mutating func drawRetry(_ choices: inout Choices) {
        guard let place = pick([.rejected], &choices) else { return }
        let force = choices.draw(upTo: 1, .weights([1, 1])) == 1
        intents[index(place)].isDismissed = true
        let old = intents[index(place)]
        steps.append(.retry(place, force: force))
        intents.append(Intent(event: old.event, once: old.once))
    }

    // MARK: What the server says

    private mutating func drawAcknowledgement(_ choices: inout Choices) throws {
        // A rejected intent now and then: the server changes its mind.
        let isOverride = choices.draw(upTo: 1, .weights([6, 1])) == 1
        guard let place = pick(isOverride ? [.rejected, .withdrawn] : [.pending], &choices) else {
            return
        }
        var position: Position?
        if kind == .downlink, choices.draw(upTo: 1, .weights([1, 3])) == 1 {
            position = Position(through + choices.draw(upTo: 4, .weights([1, 4, 2, 1, 1])))
            if position == 0 { position = 1 }
        }
        var words: Event?
        if choices.draw(upTo: 1, .weights([3, 1])) == 1 {
            words = try choices.span { try events.generate(from: &$0) }
        }
        settle(
            place, kind == .downlink ? .accepted : .confirmed,
            .acknowledge(place, position: position, replacement: words))
    }

    /// The first intents of the overlay as they were recorded.
    private mutating func drawEcho(_ choices: inout Choices) {
        let overlay = places([.pending, .accepted])
        guard kind == .downlink, !overlay.isEmpty else { return }
        let count = 1 + Int(choices.draw(upTo: UInt64(min(2, overlay.count - 1)), .uniform))
        let told = overlay.prefix(count).map { place in
            through += 1
            intents[index(place)].state = .confirmed
            return Script<Event>.ServerEvent(
                Position(through), intents[index(place)].event, .own(place))
        }
        steps.append(.confirm(told))
    }

    private mutating func drawBatch(_ choices: inout Choices) throws {
        guard kind == .downlink else { return }
        var told: [Script<Event>.ServerEvent] = []
        var position = through + 1
        for _ in 0..<choices.draw(upTo: 3, .weights([1, 5, 3, 2])) {
            try choices.span { choices in
                position += choices.draw(upTo: 2, .weights([2, 2, 1]))
                let origin = drawOrigin(&choices)
                let event = try choices.span { try events.generate(from: &$0) }
                told.append(Script<Event>.ServerEvent(Position(position), event, origin))
            }
        }
        let highest = told.map(\.position.value).max() ?? through
        let more = choices.draw(upTo: 2, .weights([4, 1, 1]))
        through = max(through, highest + more)
        if choices.draw(upTo: 1, .weights([3, 1])) == 1 { told.reverse() }
        for case .own(let place) in told.map(\.origin) { intents[index(place)].state = .confirmed }
        steps.append(.confirm(told, through: more > 0 || told.isEmpty ? Position(through) : nil))
    }

    private func drawOrigin(_ choices: inout Choices) -> Script<Event>.Origin {
        switch choices.draw(upTo: 3, .weights([4, 2, 6, 1])) {
        case 0: return .none
        case 1: return .foreign(IntentID(replica: .foreign, number: IntentNumber(through + 1)))
        case 3:
            let number = IntentNumber(Self.neverRecorded + through)
            return .foreign(IntentID(replica: .own, number: number))
        default:
            guard !intents.isEmpty else { return .none }
            return .own(place(Int(choices.draw(upTo: UInt64(intents.count - 1), .uniform))))
        }
    }

    // MARK: What should not be

    /// What no honest server and no careful app does; the log has a word for it all the same.
    private mutating func drawOdd(_ choices: inout Choices) throws {
        let any = intents.isEmpty ? nil : pick(Set(IntentState.allCases), &choices)
        switch (choices.draw(upTo: 6, .uniform), any) {
        case (0, let place?): steps.append(.withdraw(place))
        case (1, let place?): steps.append(.dismiss(place))
        case (2, let place?): steps.append(.reject(place, message: "late"))
        case (3, let place?): steps.append(.acknowledge(place, position: Position(through + 1)))
        case (4, let place?):
            // A position that is covered: nothing is applied, and the intent is confirmed (F6).
            let told = Script<Event>.ServerEvent(
                Position(max(through, 1)), intents[index(place)].event, .own(place))
            steps.append(.confirm([told]))
            if kind == .downlink { through = max(through, 1) }
        case (5, let place?) where intents[index(place)].state != .rejected:
            // Refused, so that the place stands for no intent.
            let old = intents[index(place)]
            steps.append(.retry(place, force: true))
            intents.append(
                Intent(event: old.event, once: old.once, state: .withdrawn, isDismissed: true))
        default:
            let event = try choices.span { try events.generate(from: &$0) }
            let told = Script<Event>.ServerEvent(Position(through + 2), event, .none)
            steps.append(.confirm([told], through: Position(through + 1)))
        }
    }

    // MARK: Intents by their places

    private func place(_ index: Int) -> IntentNumber { IntentNumber(UInt64(index + 1)) }

    private func index(_ place: IntentNumber) -> Int { Int(place.value) - 1 }

    private func places(_ states: Set<IntentState>) -> [IntentNumber] {
        intents.indices.filter { states.contains(intents[$0].state) && !intents[$0].isDismissed }
            .map(place)
    }

    private func pick(_ states: Set<IntentState>, _ choices: inout Choices) -> IntentNumber? {
        let places = places(states)
        guard !places.isEmpty else { return nil }
        return places[Int(choices.draw(upTo: UInt64(places.count - 1), .uniform))]
    }

    private mutating func settle(
        _ place: IntentNumber, _ state: IntentState, _ step: Script<Event>.Step
    ) {
        intents[index(place)].state = state
        steps.append(step)
    }
}
