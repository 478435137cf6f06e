import Foldback

/// The meaning of a log written down a second time, as plainly as can be: a list of facts, and
/// everything else folded from the first fact again at each question. It shares nothing with the code
/// that it judges but the projection.
struct Refold<P: Projection>: Sendable {
    typealias Event = P.Event

    enum Fact: Sendable {
        case intent(Int, Event, confirmOnly: Bool, once: String?, retries: Int?)
        case acknowledged(Int, position: Position?, replacement: Event?)
        case rejected(Int, String)
        case withdrawn(Int)
        case dismissed(Int)
        case batch([ConfirmedEvent<Event>], through: Position)
    }

    struct Intent: Sendable {
        let event: Event
        let confirmOnly: Bool
        let once: String?
        let retries: Int?
        var state = IntentState.pending
        var position: Position?
        var replacement: Event?
        var message: String?
        var dismissed = false
        /// The fact of the latest answer, from 1 up.
        var answeredAt: Int?
    }

    /// An event of confirmed state, or of the overlay, where it was folded.
    struct Folding: Sendable {
        let event: Event
        let context: EventContext
        /// Of the overlay: the intent.
        let number: Int?
        /// The state that it was applied to.
        let before: P
        let after: P
        /// Why it did not apply.
        let failure: (any Error)?
        /// What a failing `apply` left behind, where it should have left `before`.
        let wreck: P?
    }

    /// Everything that can be seen at one sequence.
    struct State: Sendable {
        var intents: [Int: Intent] = [:]
        var through: Position = 0
        var confirmed = P()
        var view = P()
        var conflicted: [Int] = []
        var faults = 0
        /// What was folded to get there, confirmed events first.
        var foldings: [Folding] = []

        func numbers(_ states: IntentState...) -> [Int] {
            intents.filter { states.contains($0.value.state) }.keys.sorted()
        }
        var rejections: [Int] { numbers(.rejected).filter { intents[$0]?.dismissed == false } }
        func joined(_ once: String?) -> Int? {
            guard let once else { return nil }
            return numbers(.pending, .accepted).first { intents[$0]?.once == once }
        }
    }

    let kind: LogKind
    private(set) var facts: [Fact] = []
    /// Behind the last fact.
    private(set) var now = State()

    init(_ kind: LogKind) { self.kind = kind }

    // MARK: From the facts to what is seen

    func state(at sequence: Int) -> State {
        var state = State()
        var confirmed: [(Event, EventContext)] = []
        for (index, fact) in facts.prefix(sequence).enumerated() {
            let before = state.intents
            take(fact, &state, &confirmed)
            for (number, intent) in before where state.intents[number]?.state != intent.state {
                state.intents[number]?.answeredAt = index + 1
            }
        }
        for (event, context) in confirmed {
            let folding = Self.folding(event, context, nil, on: state.confirmed)
            state.confirmed = folding.after
            state.foldings.append(folding)
            if folding.failure != nil { state.faults += 1 }
        }
        state.view = state.confirmed
        for number in state.numbers(.pending, .accepted) {
            guard let intent = state.intents[number], !intent.confirmOnly else { continue }
            let event = intent.replacement ?? intent.event
            let folding = Self.folding(event, Self.own(number), number, on: state.view)
            state.view = folding.after
            state.foldings.append(folding)
            if folding.failure != nil { state.conflicted.append(number) }
        }
        return state
    }

    private func take(
        _ fact: Fact, _ state: inout State, _ confirmed: inout [(Event, EventContext)]
    ) {
        switch fact {
        case .intent(let number, let event, let confirmOnly, let once, let retries):
            state.intents[number] = Intent(
                event: event, confirmOnly: confirmOnly, once: once, retries: retries)
            if let retries { state.intents[retries]?.dismissed = true }
        case .acknowledged(let number, let position, let replacement):
            state.intents[number]?.replacement = replacement
            state.intents[number]?.position = position
            switch kind {
            case .downlink:
                let hasCome = position.map { $0 <= state.through } ?? false
                state.intents[number]?.state = hasCome ? .confirmed : .accepted
            case .acknowledgement:
                state.intents[number]?.state = .confirmed
                if let event = replacement ?? state.intents[number]?.event {
                    confirmed.append((event, Self.own(number)))
                }
            }
        case .rejected(let number, let message):
            state.intents[number]?.state = .rejected
            state.intents[number]?.message = message
        case .withdrawn(let number): state.intents[number]?.state = .withdrawn
        case .dismissed(let number): state.intents[number]?.dismissed = true
        case .batch(let events, let through): take(events, through, &state, &confirmed)
        }
    }

    private func take(
        _ events: [ConfirmedEvent<Event>], _ through: Position, _ state: inout State,
        _ confirmed: inout [(Event, EventContext)]
    ) {
        for number in confirms(events, state) { state.intents[number]?.state = .confirmed }
        let ordered = events.enumerated().sorted {
            ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
        }
        for (_, event) in ordered where event.position > state.through {
            confirmed.append((event.event, event.context))
        }
        state.through = max(state.through, through)
        for number in state.numbers(.accepted) {
            guard let position = state.intents[number]?.position, position <= state.through else {
                continue
            }
            state.intents[number]?.state = .confirmed
        }
    }

    private static func folding(
        _ event: Event, _ context: EventContext, _ number: Int?, on before: P
    ) -> Folding {
        var after = before
        do { try after.apply(event, context) } catch {
            return Folding(
                event: event, context: context, number: number, before: before, after: before,
                failure: error, wreck: after)
        }
        return Folding(
            event: event, context: context, number: number, before: before, after: after,
            failure: nil, wreck: nil)
    }

    static func own(_ number: Int) -> EventContext {
        EventContext(.intent(IntentID(replica: .own, number: IntentNumber(UInt64(number)))))
    }

    /// Intents that the events of a batch name and confirm.
    private func confirms(_ events: [ConfirmedEvent<Event>], _ state: State) -> Set<Int> {
        var confirmed: Set<Int> = []
        for event in events {
            guard let origin = event.origin, origin.replica == .own,
                let intent = state.intents[Int(origin.number.value)]
            else { continue }
            let isNew = event.position > state.through
            guard isNew || !intent.state.isSettled, intent.state != .confirmed else { continue }
            confirmed.insert(Int(origin.number.value))
        }
        return confirmed
    }

    // MARK: From what is asked to facts

    mutating func carryOut(_ asked: LogCommand<Event>) -> CommandResult {
        let (outcome, fact) = decided(on: asked, now)
        if let fact {
            facts.append(fact)
            now = state(at: facts.count)
        }
        return outcome
    }

    private func decided(on asked: LogCommand<Event>, _ now: State) -> (CommandResult, Fact?) {
        switch asked {
        case .record(let event, let force, let confirmOnly, let once):
            if let joined = now.joined(once) { return (.joined(Self.number(joined)), nil) }
            return recorded(event, force, confirmOnly, once, retries: nil, now)
        case .retry(let number, let force): return retried(Int(number.value), force, now)
        case .acknowledge(let number, let position, let replacement):
            if position != nil, kind == .acknowledgement { return (.refused("invalidBatch"), nil) }
            let fact = Fact.acknowledged(
                Int(number.value), position: position, replacement: replacement)
            guard let intent = now.intents[Int(number.value)] else { return Self.unknown }
            return intent.state == .accepted || intent.state == .confirmed
                ? (.ignored(intent.state), nil) : (.appended, fact)
        case .reject(let number, let message):
            guard let intent = now.intents[Int(number.value)] else { return Self.unknown }
            return intent.state == .pending
                ? (.appended, .rejected(Int(number.value), message)) : (.ignored(intent.state), nil)
        case .withdraw(let number):
            guard let intent = now.intents[Int(number.value)] else { return Self.unknown }
            return intent.state == .pending
                ? (.appended, .withdrawn(Int(number.value))) : (.refused("notPending"), nil)
        case .dismiss(let number):
            guard now.intents[Int(number.value)] != nil else { return Self.unknown }
            return now.rejections.contains(Int(number.value))
                ? (.appended, .dismissed(Int(number.value))) : (.refused("notRejected"), nil)
        case .confirm(let events, let through): return confirmed(events, through, now)
        }
    }

    private static var unknown: (CommandResult, Fact?) { (.refused("unknownIntent"), nil) }

    private func recorded(
        _ event: Event, _ force: Bool, _ confirmOnly: Bool, _ once: String?, retries: Int?,
        _ now: State
    ) -> (CommandResult, Fact?) {
        let number = now.intents.count + 1
        if !force, !confirmOnly {
            var view = now.view
            do { try view.apply(event, Self.own(number)) } catch {
                return (.refused("inapplicable"), nil)
            }
        }
        return (
            .recorded(Self.number(number)),
            .intent(number, event, confirmOnly: confirmOnly, once: once, retries: retries)
        )
    }

    private func retried(_ number: Int, _ force: Bool, _ now: State) -> (CommandResult, Fact?) {
        guard let old = now.intents[number] else { return Self.unknown }
        guard now.rejections.contains(number) else { return (.refused("notRejected"), nil) }
        if let joined = now.joined(old.once) {
            return (.joined(Self.number(joined)), .dismissed(number))
        }
        return recorded(old.event, force, old.confirmOnly, old.once, retries: number, now)
    }

    private func confirmed(
        _ events: [ConfirmedEvent<Event>], _ named: Position?, _ now: State
    ) -> (CommandResult, Fact?) {
        guard kind == .downlink else { return (.refused("invalidBatch"), nil) }
        let highest = events.map(\.position).max() ?? 0
        let through = named ?? highest
        guard through >= highest, events.allSatisfy({ $0.position >= 1 }) else {
            return (.refused("invalidBatch"), nil)
        }
        let reached = now.intents.values.contains {
            $0.state == .accepted && $0.position.map { $0 <= through } ?? false
        }
        guard through > now.through || reached || !confirms(events, now).isEmpty else {
            return (.ignored(nil), nil)
        }
        return (.appended, .batch(events, through: through))
    }

    private static func number(_ number: Int) -> IntentNumber { IntentNumber(UInt64(number)) }
}
