import Foldback
import TestSupport

/// The meaning of a log written down a second time, as plainly as can be: a list of facts, and
/// everything else folded from the first fact again at each question. Shares nothing with the code it
/// judges but the projections.
struct ReferenceLog {
    enum Fact {
        case intent(Int, Move, confirmOnly: Bool, once: String?, retries: Int?)
        case acknowledged(Int, position: Int?, replacement: Move?)
        case rejected(Int, String)
        case withdrawn(Int)
        case dismissed(Int)
        case batch([ReferenceEvent], through: Int)
    }

    struct Intent: Equatable {
        let move: Move
        let confirmOnly: Bool
        let once: String?
        let retries: Int?
        var state = IntentState.pending
        var position: Int?
        var replacement: Move?
        var message: String?
        var dismissed = false
    }

    /// Everything that can be seen at one sequence.
    struct State: Equatable {
        var intents: [Int: Intent] = [:]
        var through = 0
        var confirmed = Board()
        var view = Board()
        var conflicted: [Int] = []
        var sloppyView = SloppyBoard()
        var sloppyConflicted: [Int] = []
        var faults = 0

        func numbers(_ states: IntentState...) -> [Int] {
            intents.filter { states.contains($0.value.state) }.keys.sorted()
        }
        var rejections: [Int] { numbers(.rejected).filter { !intents[$0]!.dismissed } }
        func joined(_ once: String?) -> Int? {
            guard let once else { return nil }
            return numbers(.pending, .accepted).first { intents[$0]!.once == once }
        }
    }

    let kind: LogKind
    private(set) var facts: [Fact] = []

    // MARK: From the facts to what is seen

    func state(at sequence: Int) -> State {
        var state = State()
        var confirmed: [(Move, EventContext)] = []
        for fact in facts.prefix(sequence) {
            switch fact {
            case .intent(let number, let move, let confirmOnly, let once, let retries):
                state.intents[number] = Intent(
                    move: move, confirmOnly: confirmOnly, once: once, retries: retries)
                if let retries { state.intents[retries]!.dismissed = true }
            case .acknowledged(let number, let position, let replacement):
                state.intents[number]!.replacement = replacement
                state.intents[number]!.position = position
                switch kind {
                case .downlink:
                    let hasCome = position.map { $0 <= state.through } ?? false
                    state.intents[number]!.state = hasCome ? .confirmed : .accepted
                case .acknowledgement:
                    state.intents[number]!.state = .confirmed
                    let move = replacement ?? state.intents[number]!.move
                    confirmed.append((move, own(number)))
                }
            case .rejected(let number, let message):
                state.intents[number]!.state = .rejected
                state.intents[number]!.message = message
            case .withdrawn(let number): state.intents[number]!.state = .withdrawn
            case .dismissed(let number): state.intents[number]!.dismissed = true
            case .batch(let events, let through):
                for number in confirms(events, state) {
                    state.intents[number]!.state = .confirmed
                }
                let ordered = events.enumerated().sorted {
                    ($0.element.position, $0.offset) < ($1.element.position, $1.offset)
                }
                for (_, event) in ordered where event.position > state.through {
                    confirmed.append((event.move, event.context))
                }
                state.through = max(state.through, through)
                for (number, intent) in state.intents where intent.state == .accepted {
                    guard let position = intent.position, position <= state.through else {
                        continue
                    }
                    state.intents[number]!.state = .confirmed
                }
            }
        }
        show(confirmed, &state)
        return state
    }

    private func show(_ confirmed: [(Move, EventContext)], _ state: inout State) {
        for (move, context) in confirmed where !applies(move, context, &state.confirmed) {
            state.faults += 1
        }
        var sloppy = SloppyBoard()
        for (move, context) in confirmed { _ = applies(move, context, &sloppy) }
        state.view = state.confirmed
        state.sloppyView = sloppy
        for number in state.numbers(.pending, .accepted) {
            let intent = state.intents[number]!
            guard !intent.confirmOnly else { continue }
            let move = intent.replacement ?? intent.move
            if !applies(move, own(number), &state.view) { state.conflicted.append(number) }
            if !applies(move, own(number), &state.sloppyView) {
                state.sloppyConflicted.append(number)
            }
        }
    }

    private func applies<P: Projection>(
        _ move: Move, _ context: EventContext, _ state: inout P
    ) -> Bool where P.Event == Move {
        var copy = state
        do { try copy.apply(move, context) } catch { return false }
        state = copy
        return true
    }

    private func own(_ number: Int) -> EventContext {
        EventContext(
            .intent(IntentID(replica: ReplicaID("me")!, number: IntentNumber(UInt64(number)))))
    }

    /// Intents that the events of a batch name and confirm.
    private func confirms(_ events: [ReferenceEvent], _ state: State) -> Set<Int> {
        var confirmed: Set<Int> = []
        for event in events {
            guard let number = event.ownIntent, let intent = state.intents[number] else { continue }
            let isNew = event.position > state.through
            guard isNew || !intent.state.isSettled, intent.state != .confirmed else { continue }
            confirmed.insert(number)
        }
        return confirmed
    }

    // MARK: From commands to facts

    enum CommandResult: Equatable {
        case recorded(Int)
        case joined(Int)
        case appended
        case ignored(IntentState?)
        case refused(String)
    }

    mutating func carryOut(_ command: RandomCommand) -> CommandResult {
        let now = state(at: facts.count)
        switch command {
        case .record(let move, let force, let confirmOnly, let once):
            return record(
                move, force: force, confirmOnly: confirmOnly, once: once, retries: nil, now)
        case .acknowledge(let number, let position, let replacement):
            if position != nil, kind == .acknowledgement { return .refused("invalidBatch") }
            guard let intent = now.intents[number] else { return .refused("unknownIntent") }
            if intent.state == .accepted || intent.state == .confirmed {
                return .ignored(intent.state)
            }
            return append(
                .acknowledged(number, position: position, replacement: replacement))
        case .reject(let number, let message):
            guard let intent = now.intents[number] else { return .refused("unknownIntent") }
            guard intent.state == .pending else { return .ignored(intent.state) }
            return append(.rejected(number, message))
        case .withdraw(let number):
            guard let intent = now.intents[number] else { return .refused("unknownIntent") }
            guard intent.state == .pending else { return .refused("notPending") }
            return append(.withdrawn(number))
        case .dismiss(let number):
            guard now.intents[number] != nil else { return .refused("unknownIntent") }
            guard now.rejections.contains(number) else { return .refused("notRejected") }
            return append(.dismissed(number))
        case .retry(let number, let force):
            guard let old = now.intents[number] else { return .refused("unknownIntent") }
            guard now.rejections.contains(number) else { return .refused("notRejected") }
            if let joined = now.joined(old.once) {
                facts.append(.dismissed(number))
                return .joined(joined)
            }
            return record(
                old.move, force: force, confirmOnly: old.confirmOnly, once: old.once,
                retries: number, now)
        case .confirm(let events, let through): return confirm(events, through, now)
        case .checkpoint, .reopen: return .appended
        }
    }

    private mutating func record(
        _ move: Move, force: Bool, confirmOnly: Bool, once: String?, retries: Int?, _ now: State
    ) -> CommandResult {
        if retries == nil, let joined = now.joined(once) { return .joined(joined) }
        let number = now.intents.count + 1
        if !force, !confirmOnly {
            var (board, sloppy) = (now.view, now.sloppyView)
            guard applies(move, own(number), &board), applies(move, own(number), &sloppy) else {
                return .refused("inapplicable")
            }
        }
        facts.append(
            .intent(number, move, confirmOnly: confirmOnly, once: once, retries: retries))
        return .recorded(number)
    }

    private mutating func confirm(
        _ events: [ReferenceEvent], _ named: Int?, _ now: State
    ) -> CommandResult {
        guard kind == .downlink else { return .refused("invalidBatch") }
        let highest = events.map(\.position).max() ?? 0
        let through = named ?? highest
        guard through >= highest else { return .refused("invalidBatch") }
        let reached = now.intents.values.contains {
            $0.state == .accepted && $0.position.map { $0 <= through } ?? false
        }
        guard through > now.through || reached || !confirms(events, now).isEmpty else {
            return .ignored(nil)
        }
        return append(.batch(events, through: through))
    }

    private mutating func append(_ fact: Fact) -> CommandResult {
        facts.append(fact)
        return .appended
    }
}

struct ReferenceEvent {
    let position: Int
    let move: Move
    /// Replica and number.
    let origin: (String, Int)?

    var ownIntent: Int? { origin?.0 == "me" ? origin?.1 : nil }

    var id: IntentID? {
        origin.map { IntentID(replica: ReplicaID($0.0)!, number: IntentNumber(UInt64($0.1))) }
    }

    var context: EventContext {
        EventContext(id.map(EventContext.Origin.intent) ?? .position(Position(UInt64(position))))
    }
}
