import Foldback

/// The rules of a log written down a second time, as plainly as possible: a list of facts, and
/// everything else folded from the first fact on for each question. It shares nothing with the code
/// that it judges except the projection.
package struct ReferenceLog<P: Projection>: Sendable {
    package typealias Event = P.Event

    package struct Intent: Sendable {
        package let event: Event
        package let terms: LogFact<Event>.Terms
        package var state = IntentState.pending
        /// Whether it is a draft that was not released.
        package var isHeld: Bool
        /// How it was withdrawn, if it was.
        package var withdrawal: IntentChange?
        /// The fact that confirmed it, from 1 up.
        package var confirmedAt: Int?
        package var position: Position?
        package var replacement: Event?
        package var rejection: Rejection?
        package var isDismissed = false
        /// The fact of the latest answer, from 1 up.
        package var answeredAt: Int?

        package init(event: Event, terms: LogFact<Event>.Terms) {
            self.event = event
            self.terms = terms
            isHeld = terms.held
        }
    }

    /// One call of `apply`, for confirmed state or for the overlay.
    package struct Folding: Sendable {
        let event: Event
        let context: EventContext
        /// The state that it was applied to.
        let before: P
        let after: P
        /// Why it did not apply; nil if it did.
        let failure: (any Error)?
        /// What a failing `apply` left behind instead of `before`.
        let wreck: P?
    }

    /// Everything that can be seen at one sequence.
    package struct State: Sendable {
        package var intents: [IntentNumber: Intent] = [:]
        package var through: Position = 0
        package var confirmed = P()
        package var view = P()
        package var conflicted: [IntentNumber] = []
        package var faults = 0
        /// How often the sending of each pending intent has begun, if it has. Answers end it.
        package var attempts: [IntentNumber: Int] = [:]
        /// The calls of `apply` that led to it, confirmed events first.
        var foldings: [Folding] = []
        /// The views of the projections that share their conflicts with this one.
        var others: [any Projection] = []
        /// The first confirmed event that one projection refuses and another applies, with their
        /// names; nil if there is none.
        var disputed: (event: Event, refusing: String, applying: String)?

        package func numbers(_ states: IntentState...) -> [IntentNumber] {
            intents.filter { states.contains($0.value.state) }.keys.sorted()
        }

        package var rejections: [IntentNumber] {
            numbers(.rejected).filter { intents[$0]?.isDismissed == false }
        }

        func isInOverlay(_ number: IntentNumber) -> Bool {
            intents[number].map { $0.state == .pending || $0.state == .accepted } ?? false
        }

        func joined(_ once: String?) -> IntentNumber? {
            guard let once else { return nil }
            return numbers(.pending, .accepted).first { intents[$0]?.terms.once == once }
        }
    }

    package let kind: LogKind
    package internal(set) var facts: [LogFact<Event>]
    /// The attempts to send pending intents, each with the number of facts before it. They are not
    /// facts, because no fold depends on them (F1).
    var attempts: [(number: IntentNumber, facts: Int)] = []
    /// After the last fact.
    package internal(set) var now = State()
    /// The other projections of the log.
    let others: [any Projection.Type]
    /// After so many facts and later, an intent that one projection refuses is conflicted in all;
    /// nil for never.
    private var sharedFrom: Int?

    /// - Parameters:
    ///   - others: the other projections of the log, with the same events; nil for those of
    ///     ``Sharing``, which share from the beginning.
    ///   - sharedFrom: the number of facts from which all projections share their conflicts.
    package init(
        _ kind: LogKind, facts: [LogFact<Event>] = [], beside others: [any Projection.Type]? = nil,
        sharedFrom: Int? = nil
    ) {
        self.kind = kind
        self.facts = facts
        self.others = others ?? P.othersInMemory
        self.sharedFrom = others == nil ? 0 : sharedFrom
        now = state(at: facts.count)
    }

    /// Other facts of a log with the same projections.
    init(_ kind: LogKind, facts: [LogFact<Event>], like other: Self) {
        self.kind = kind
        self.facts = facts
        others = other.others
        sharedFrom = other.sharedFrom
    }

    /// Lets the projections share their conflicts from the last fact on.
    package mutating func shareConflicts() {
        sharedFrom = sharedFrom ?? facts.count
        now = state(at: facts.count)
    }

    // MARK: From the facts to what is seen

    package func state(at sequence: Int) -> State {
        var state = State()
        var confirmed: [(Event?, EventContext)] = []
        for (index, fact) in facts.prefix(sequence).enumerated() {
            let before = state.intents
            apply(fact, &state, &confirmed)
            for (number, intent) in before where state.intents[number]?.state != intent.state {
                let isPending = state.intents[number]?.state == .pending
                state.intents[number]?.answeredAt = isPending ? nil : index + 1
                if state.intents[number]?.state == .confirmed {
                    state.intents[number]?.confirmedAt = index + 1
                }
            }
        }
        for (event, context) in confirmed {
            // An event that the projection's codec cannot read is a fault (E4).
            guard let event else {
                state.faults += 1
                continue
            }
            let folding = Self.folding(event, context, on: state.confirmed)
            state.confirmed = folding.after
            state.foldings.append(folding)
            if folding.failure != nil { state.faults += 1 }
        }
        for attempt in attempts where attempt.facts <= sequence {
            guard state.intents[attempt.number]?.state == .pending else { continue }
            state.attempts[attempt.number, default: 0] += 1
        }
        state.view = state.confirmed
        // Each projection keeps what it can of confirmed events. Only the overlay is shared.
        let isShared = sharedFrom.map { sequence >= $0 } ?? false
        state.others = isShared ? folded(confirmed, &state) : []
        for number in state.numbers(.pending, .accepted) {
            guard let intent = state.intents[number], !intent.terms.confirmOnly else { continue }
            // What undoes an intent that is not in the view is not in it either (F21).
            if let undone = intent.terms.undoes, state.conflicted.contains(undone) {
                state.conflicted.append(number)
                continue
            }
            let event = intent.replacement ?? intent.event
            let folding = Self.folding(event, Self.context(of: number), on: state.view)
            state.foldings.append(folding)
            let after = state.others.map { Self.applied(event, Self.context(of: number), to: $0) }
            if folding.failure != nil || after.contains(where: { $0 == nil }) {
                state.conflicted.append(number)
            } else {
                state.view = folding.after
                state.others = after.compactMap { $0 }
            }
        }
        return state
    }

    /// Folds the confirmed events into the other projections. Notes the first event that not all
    /// projections refuse, and one does.
    ///
    /// - Parameter state: has the foldings of these events in this projection.
    private func folded(
        _ events: [(Event?, EventContext)], _ state: inout State
    ) -> [any Projection] {
        var states: [any Projection] = others.map { $0.init() }
        let names = [P.ownName] + others.map { $0.name }
        let readable = events.compactMap { event, context in event.map { ($0, context) } }
        for ((event, context), folding) in zip(readable, state.foldings) {
            let after = states.map { Self.applied(event, context, to: $0) }
            let refusals = [folding.failure != nil] + after.map { $0 == nil }
            if state.disputed == nil, let refusing = refusals.firstIndex(of: true),
                let applying = refusals.firstIndex(of: false)
            {
                state.disputed = (event, names[refusing], names[applying])
            }
            states = zip(states, after).map { $1 ?? $0 }
        }
        return states
    }

    /// The state after an event; nil if the event does not apply.
    static func applied(
        _ event: Event, _ context: EventContext, to state: any Projection
    ) -> (any Projection)? {
        func applied<Q: Projection>(_ state: Q) -> (any Projection)? {
            guard let event = event as? Q.Event else { return nil }
            var after = state
            do { try after.apply(event, context) } catch { return nil }
            return after
        }
        return applied(state)
    }

    private func apply(
        _ fact: LogFact<Event>, _ state: inout State, _ confirmed: inout [(Event?, EventContext)]
    ) {
        switch fact {
        case .intent(let number, let event, let terms):
            state.intents[number] = Intent(event: event, terms: terms)
            if let old = terms.retries { state.intents[old]?.isDismissed = true }
            if let old = terms.replaces { state.intents[old]?.state = .withdrawn }
        case .acknowledged(let number, let position, let replacement):
            state.intents[number]?.replacement = replacement
            state.intents[number]?.position = position
            switch kind {
            case .downlink:
                let isCovered = position.map { $0 <= state.through } ?? false
                state.intents[number]?.state = isCovered ? .confirmed : .accepted
            case .acknowledgement:
                state.intents[number]?.state = .confirmed
                if let event = replacement ?? state.intents[number]?.event {
                    confirmed.append((event, Self.context(of: number)))
                }
            }
        case .changed(let number, let change):
            switch change {
            case .rejected(let rejection):
                state.intents[number]?.state = .rejected
                state.intents[number]?.rejection = rejection
            case .withdrawn, .abandoned, .undone, .lapsed:
                state.intents[number]?.state = .withdrawn
                state.intents[number]?.withdrawal = change
            case .dismissed: state.intents[number]?.isDismissed = true
            case .released: state.intents[number]?.isHeld = false
            case .restored: state.intents[number]?.state = .pending
            }
        case .confirmed(let events, let through):
            apply(events, through, &state, &confirmed)
        }
    }

    private func apply(
        _ events: [ConfirmedEvent<Event>], _ through: Position, _ state: inout State,
        _ confirmed: inout [(Event?, EventContext)]
    ) {
        for number in confirms(events, state) { state.intents[number]?.state = .confirmed }
        let ordered = events.enumerated().sorted {
            ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
        }
        for (_, event) in ordered where event.position > state.through {
            confirmed.append((Self.read(event.delivered), event.context))
        }
        state.through = max(state.through, through)
        for number in state.numbers(.accepted) {
            guard let position = state.intents[number]?.position, position <= state.through else {
                continue
            }
            state.intents[number]?.state = .confirmed
        }
    }

    /// The event; nil if the projection's codec cannot read its bytes.
    static func read(_ delivered: DeliveredEvent<Event>) -> Event? {
        switch delivered {
        case .event(let event): event
        case .recorded(let recorded):
            try? P.codec.decode(recorded.bytes.span.bytes, format: recorded.format)
        }
    }

    private static func folding(
        _ event: Event, _ context: EventContext, on before: P
    ) -> Folding {
        var after = before
        do { try after.apply(event, context) } catch {
            return Folding(
                event: event, context: context, before: before, after: before, failure: error,
                wreck: after)
        }
        return Folding(
            event: event, context: context, before: before, after: after, failure: nil, wreck: nil)
    }

    static func context(of number: IntentNumber) -> EventContext {
        EventContext(.intent(IntentID(replica: .own, number: number)))
    }

    /// Intents that the events of a batch name and confirm.
    func confirms(
        _ events: [ConfirmedEvent<Event>], _ state: State
    ) -> Set<IntentNumber> {
        var confirmed: Set<IntentNumber> = []
        for event in events {
            guard let origin = event.origin, origin.replica == .own,
                let intent = state.intents[origin.number]
            else { continue }
            let isNew = event.position > state.through
            guard isNew || !intent.state.isSettled, intent.state != .confirmed else { continue }
            confirmed.insert(origin.number)
        }
        return confirmed
    }
}
