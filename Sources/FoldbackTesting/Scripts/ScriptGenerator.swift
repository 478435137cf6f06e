import Foldback

extension Generator where Value: Sendable {
    /// Scripts with these events: everything that users and servers do, in any order that can
    /// happen, and some steps that should not happen.
    ///
    /// Most steps name an intent in a state that suits them: answers name recorded intents, retries
    /// name rejected intents. They are drawn by state, so this stays true while a script shrinks.
    /// - Parameters:
    ///   - kind: the kind of the log; nil draws one.
    ///   - steps: how many at most; about 60 % of them on average.
    public func scripts(_ kind: LogKind?, steps: Int) -> Generator<Script<Value>> {
        Generator<Script<Value>> { choices in
            let kind =
                kind
                ?? (choices.draw(upTo: 1, .weights([2, 1])) == 0 ? .downlink : .acknowledgement)
            var script = ScriptDraft(kind, events: self)
            script.leaveOutKinds(&choices)
            try script.draw(stepsMax: steps, from: &choices)
            return Script(kind, script.steps)
        }
    }
}

/// A script being drawn, and the states of its intents if the log refuses none.
private struct ScriptDraft<Event: Sendable> {
    private struct Intent {
        let event: Event
        let once: String?
        /// The server's words, if it changed the event.
        var replacement: Event?
        var state = IntentState.pending
        var isDismissed = false
        /// Whether its sending has begun, so that a withdrawal is refused.
        var isAttempted = false
    }

    /// The simplest first.
    private enum Kind: Hashable {
        case record, reject, acknowledge, echo, batch
        case change(IntentCommand)
        case again, kill, reopen, checkpoint, odd, attempt, together
    }

    private static var kinds: [(kind: Kind, weight: UInt64)] {
        [
            (.record, 36), (.reject, 8), (.acknowledge, 14), (.echo, 9), (.batch, 9),
            (.change(.withdraw), 4), (.change(.retry), 4), (.change(.dismiss), 2), (.again, 4),
            (.kill, 3), (.reopen, 2), (.checkpoint, 3), (.odd, 8), (.change(.abandon), 4),
            (.attempt, 6), (.change(.undo), 6), (.change(.redo), 4), (.change(.release), 3),
            (.together, 3), (.change(.withdrawAll), 1), (.change(.retryAll), 1),
        ]
    }

    /// The weights of the kinds of steps. A kind that the script leaves out has none.
    private var weights = Self.kinds.map(\.weight)
    private let kind: LogKind
    private let events: Generator<Event>
    private(set) var steps: [Script<Event>.Step] = []
    private var intents: [Intent] = []
    private var through: UInt64 = 0

    init(_ kind: LogKind, events: Generator<Event>) {
        self.kind = kind
        self.events = events
    }

    /// In a quarter of the scripts, leaves out about half of the kinds of steps.
    ///
    /// A script with few kinds has long runs of them, like twenty intents without an answer, which a
    /// mixture of all seldom has (after Groce et al., "Swarm Testing", 2012). 200 scripts reach as many
    /// pairs of ``Coverage`` as without it, 93 and 95 of 126. If half of the scripts do it, they reach 88.
    mutating func leaveOutKinds(_ choices: inout Choices) {
        guard choices.draw(upTo: 1, .weights([3, 1])) == 1 else { return }
        for index in weights.indices.dropFirst()
        where choices.draw(upTo: 1, .weights([1, 1])) == 1 {
            weights[index] = 0
        }
    }

    mutating func draw(stepsMax: Int, from choices: inout Choices) throws {
        for _ in 0..<stepsMax {
            let continues = try choices.span { choices in
                guard choices.draw(upTo: 1, .weights([1, UInt64(max(stepsMax, 2))])) == 1 else {
                    return false
                }
                try choices.span { try drawStep(&$0) }
                return true
            }
            if !continues { return }
        }
    }

    /// Adds a step, or none if no intent is in the state that it needs.
    private mutating func drawStep(_ choices: inout Choices) throws {
        let kinds = Self.kinds
        let index = choices.draw(upTo: UInt64(kinds.count - 1), .weights(weights))
        switch kinds[Int(index)].kind {
        case .record: try drawRecord(&choices)
        case .reject:
            guard let place = pick([.pending], &choices) else { return }
            intents[self.index(place)].state = .rejected
            let code = choices.draw(upTo: 1, .weights([4, 1])) == 0 ? nil : "forbidden"
            steps.append(.reject(place, code: code, message: "no"))
        case .acknowledge: try drawAcknowledgement(&choices)
        case .echo: drawEcho(&choices)
        case .batch: try drawBatch(&choices)
        case .change(let command):
            // What has an answer is undone too.
            let answered = command == .undo && choices.draw(upTo: 1, .weights([1, 1])) == 1
            let states: Set<IntentState> = answered ? [.accepted, .confirmed] : [command.target]
            if let place = pick(states, &choices) {
                let force = isForced(&choices, command)
                try change(place, command, force, edited: drawEdit(of: command, &choices))
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
        case .attempt:
            if let place = pick([.pending], &choices) { attempt(place) }
        case .together: try drawTogether(&choices)
        }
    }

    // MARK: The user

    private mutating func drawRecord(_ choices: inout Choices) throws {
        let event = try choices.span { try events.generate(from: &$0) }
        let force = choices.draw(upTo: 1, .weights([3, 2])) == 1
        let confirmOnly = choices.draw(upTo: 1, .weights([9, 1])) == 1
        let key = choices.draw(upTo: 2, .weights([8, 1, 1]))
        let once = key == 0 ? nil : "key \(key)"
        let replacing = choices.draw(upTo: 2, .weights([6, 1, 1]))
        let held = choices.draw(upTo: 1, .weights([7, 1])) == 1
        steps.append(
            .record(
                event, force: force, confirmOnly: confirmOnly, once: once,
                replacing: replacing == 0 ? nil : "field \(replacing)", held: held))
        intents.append(Intent(event: event, once: once))
    }

    private mutating func drawTogether(_ choices: inout Choices) throws {
        var events: [Event] = []
        for _ in 0..<(1 + choices.draw(upTo: 3, .weights([1, 4, 2, 1]))) {
            events.append(try choices.span { try self.events.generate(from: &$0) })
        }
        let force = choices.draw(upTo: 1, .weights([2, 1])) == 1
        let once = choices.draw(upTo: 1, .weights([6, 1])) == 0 ? nil : "key 1"
        let held = choices.draw(upTo: 1, .weights([7, 1])) == 1
        steps.append(.together(events, force: force, once: once, held: held))
        for (place, event) in events.enumerated() {
            intents.append(Intent(event: event, once: place == 0 ? once : nil))
        }
    }

    private func isForced(_ choices: inout Choices, _ command: IntentCommand) -> Bool {
        command.isRecording && choices.draw(upTo: 1, .weights([1, 1])) == 1
    }

    /// Returns the event of a retry if the user edited it.
    private func drawEdit(of command: IntentCommand, _ choices: inout Choices) throws -> Event? {
        guard command == .retry, choices.draw(upTo: 1, .weights([2, 1])) == 1 else { return nil }
        return try choices.span { try events.generate(from: &$0) }
    }

    private mutating func change(
        _ place: IntentNumber, _ command: IntentCommand, _ force: Bool, edited: Event? = nil
    ) {
        let old = intents[index(place)]
        // A settled intent stays settled; a rejection leaves the list.
        var isTakenBack = false
        switch command {
        case .dismiss, .retry, .retryAll: intents[index(place)].isDismissed = true
        case .abandon: isTakenBack = true
        case .withdraw, .withdrawAll, .undo:
            isTakenBack = old.state == .pending && !old.isAttempted
        case .release, .redo: break
        }
        if isTakenBack { intents[index(place)].state = .withdrawn }
        if let edited {
            steps.append(.edit(place, edited, force: force))
        } else {
            steps.append(.change(place, command, force: force))
        }
        if command.isRecording {
            var new = Intent(event: edited ?? old.event, once: old.once)
            // Undo records nothing then.
            if command == .undo, isTakenBack { new.state = .withdrawn }
            intents.append(new)
        }
    }

    /// Begins to send an intent.
    private mutating func attempt(_ place: IntentNumber) {
        let intent = index(place)
        if intents.indices.contains(intent), intents[intent].state == .pending {
            intents[intent].isAttempted = true
        }
        steps.append(.attempt(place))
    }

    // MARK: The server

    private mutating func drawAcknowledgement(_ choices: inout Choices) throws {
        // Sometimes the server changes its mind about an intent that is already settled.
        let isOverride = choices.draw(upTo: 1, .weights([6, 1])) == 1
        guard let place = pick(isOverride ? [.rejected, .withdrawn] : [.pending], &choices) else {
            return
        }
        var position: Position?
        if kind == .downlink, choices.draw(upTo: 1, .weights([1, 3])) == 1 {
            let offset = choices.draw(upTo: 6, .weights([1, 4, 2, 1, 1, 1, 1]))
            position = Position(max(1, through + offset))
        }
        var replacement: Event?
        if choices.draw(upTo: 1, .weights([3, 1])) == 1 {
            replacement = try choices.span { try events.generate(from: &$0) }
        }
        intents[index(place)].state = kind == .downlink ? .accepted : .confirmed
        intents[index(place)].replacement = replacement
        steps.append(.acknowledge(place, position: position, replacement: replacement))
    }

    /// The first intents of the overlay, as the view has them.
    private mutating func drawEcho(_ choices: inout Choices) {
        let overlay = places([.pending, .accepted])
        guard kind == .downlink, !overlay.isEmpty else { return }
        let count = 1 + Int(choices.draw(upTo: UInt64(min(2, overlay.count - 1)), .uniform))
        let gap = choices.draw(upTo: 1, .weights([3, 1]))
        let echo = overlay.prefix(count).map { place in
            through += 1 + gap
            intents[index(place)].state = .confirmed
            let intent = intents[index(place)]
            return Script<Event>.ServerEvent(
                Position(through), intent.replacement ?? intent.event, .own(place))
        }
        steps.append(.confirm(echo))
    }

    private mutating func drawBatch(_ choices: inout Choices) throws {
        guard kind == .downlink else { return }
        var batch: [Script<Event>.ServerEvent] = []
        // Sometimes the batch begins with positions that are already covered (F6).
        let overlap = choices.draw(upTo: 3, .weights([9, 1, 1, 1]))
        var position = through + 1 - min(overlap, through)
        for _ in 0..<choices.draw(upTo: 4, .weights([2, 10, 6, 3, 1])) {
            try choices.span { choices in
                position += choices.draw(upTo: 2, .weights([2, 2, 1]))
                let origin = drawOrigin(&choices)
                let event = try drawEvent(of: origin, &choices)
                batch.append(Script<Event>.ServerEvent(Position(position), event, origin))
            }
        }
        let highest = batch.map(\.position.value).max() ?? through
        let more = choices.draw(upTo: 3, .weights([8, 2, 2, 1]))
        let end = highest + more
        through = max(through, end)
        if choices.draw(upTo: 1, .weights([3, 1])) == 1 { batch.reverse() }
        for case .own(let place) in batch.map(\.origin) { intents[index(place)].state = .confirmed }
        steps.append(.confirm(batch, through: more > 0 || batch.isEmpty ? Position(end) : nil))
    }

    /// The event that the intent recorded, or another event.
    private func drawEvent(
        of origin: Script<Event>.Origin, _ choices: inout Choices
    ) throws -> Event {
        if case .own(let place) = origin, choices.draw(upTo: 1, .weights([1, 2])) == 0 {
            return intents[index(place)].event
        }
        return try choices.span { try events.generate(from: &$0) }
    }

    private func drawOrigin(_ choices: inout Choices) -> Script<Event>.Origin {
        switch choices.draw(upTo: 3, .weights([4, 2, 6, 1])) {
        case 0: return .none
        case 1: return .foreign(IntentID(replica: .foreign, number: IntentNumber(through + 1)))
        case 3: return .foreign(IntentID(replica: .own, number: neverRecorded))
        default:
            guard !intents.isEmpty else { return .none }
            return .own(place(Int(choices.draw(upTo: UInt64(intents.count - 1), .uniform))))
        }
    }

    // MARK: Mistakes

    private var neverRecorded: IntentNumber {
        IntentNumber(IntentNumber.neverRecorded.value + through)
    }

    /// A step that no honest server and no careful app makes, and that the log must answer all the
    /// same. Its intent can be in any state, or unknown.
    private mutating func drawOdd(_ choices: inout Choices) throws {
        let isUnknown = choices.draw(upTo: 1, .weights([5, 1])) == 1
        let place = isUnknown ? neverRecorded : pickAny(&choices)
        switch (choices.draw(upTo: 5, .weights([3, 1, 1, 1, 2, 1])), place) {
        case (0, let place?):
            let commands = IntentCommand.allCases
            let command = commands[Int(choices.draw(upTo: UInt64(commands.count - 1), .uniform))]
            let force = isForced(&choices, command)
            if !isUnknown, places([command.target]).contains(place) {
                change(place, command, force)
                return
            }
            // The log refuses it. The place of a step that records is taken all the same.
            let edited = try drawEdit(of: command, &choices)
            steps.append(
                edited.map { .edit(place, $0, force: force) }
                    ?? .change(place, command, force: force))
            guard command.isRecording else { return }
            let event =
                isUnknown
                ? try choices.span { try events.generate(from: &$0) } : intents[index(place)].event
            intents.append(
                Intent(event: event, once: nil, state: .withdrawn, isDismissed: true))
        case (1, let place?): steps.append(.reject(place, message: "late"))
        case (2, let place?): steps.append(.acknowledge(place, position: Position(through + 1)))
        case (3, let place?) where !isUnknown:
            // A position that is covered: nothing is applied, and the intent is confirmed (F6).
            let event = Script<Event>.ServerEvent(
                Position(max(through, 1)), intents[index(place)].event, .own(place))
            steps.append(.confirm([event]))
            if kind == .downlink { through = max(through, 1) }
        case (5, let place?): attempt(place)
        default:
            // `through` is below the batch, or a position is 0.
            let isZero = choices.draw(upTo: 1, .weights([2, 1])) == 1
            let event = try choices.span { try events.generate(from: &$0) }
            let position = isZero ? 0 : Position(through + 2)
            let batch = [Script<Event>.ServerEvent(position, event, .none)]
            steps.append(.confirm(batch, through: Position(through + 1)))
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

    private func pickAny(_ choices: inout Choices) -> IntentNumber? {
        guard !intents.isEmpty else { return nil }
        return place(Int(choices.draw(upTo: UInt64(intents.count - 1), .uniform)))
    }
}
