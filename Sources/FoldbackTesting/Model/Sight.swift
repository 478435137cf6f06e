import Foldback

/// Everything that somebody who looks at a log sees.
struct Sight<P: Projection>: Sendable {
    let sequence: LogSequence
    let through: Position
    let view: P
    let confirmed: P
    let pending: [IntentNumber]
    let accepted: [IntentNumber]
    let conflicted: [IntentNumber]
    let rejections: [IntentNumber]
    let faults: Int
    /// How each intent stands, from 1 up.
    let standings: [Standing]
    /// What the rows of a stored projection show otherwise; nil where they show the same.
    let rows: String?

    /// What is said of one intent.
    struct Standing: Equatable, Sendable {
        let state: IntentState
        /// Why, where it is rejected.
        let message: String?
        let isDismissed: Bool
        let retries: IntentNumber?
        /// The entry of the latest answer.
        let answeredAt: LogSequence?
    }

    var states: [IntentState] { standings.map(\.state) }

    /// What a store shows.
    /// - Throws: what asking it for an intent throws.
    init(of store: Store<P>) throws(FoldbackError) {
        let snapshot = store.snapshot
        self.init(
            snapshot, faults: store.faults.count, states: [],
            rows: P.differenceBesideForLaws(store))
    }

    /// The same, with each intent that was ever recorded. Answers are those that intents have by now:
    /// reading the stream of them waits at its end.
    init(allOf store: Store<P>) throws(FoldbackError) {
        var standings: [Standing] = []
        var number: IntentNumber = 1
        while number < store.status.nextIntent {
            standings.append(Standing(try store.intent(number)))
            number = IntentNumber(number.value + 1)
        }
        self.init(
            store.snapshot, faults: store.faults.count, states: standings,
            rows: P.differenceBesideForLaws(store))
    }

    init(
        _ snapshot: Snapshot<P>, faults: Int, states standings: [Standing], rows: String? = nil
    ) {
        self.rows = rows
        sequence = snapshot.sequence
        through = snapshot.through
        view = snapshot.view
        confirmed = snapshot.confirmed
        pending = snapshot.pending
        accepted = snapshot.accepted
        conflicted = snapshot.conflicted
        rejections = snapshot.rejections
        self.faults = faults
        self.standings = standings
    }

    /// What the refold says should be seen.
    init(_ state: Refold<P>.State, sequence: Int) {
        func numbers(_ numbers: [Int]) -> [IntentNumber] {
            numbers.map { IntentNumber(UInt64($0)) }
        }
        rows = nil
        self.sequence = LogSequence(UInt64(sequence))
        through = state.through
        view = state.view
        confirmed = state.confirmed
        pending = numbers(state.numbers(.pending))
        accepted = numbers(state.numbers(.accepted))
        conflicted = numbers(state.conflicted)
        rejections = numbers(state.rejections)
        faults = state.faults
        standings = state.intents.sorted { $0.key < $1.key }.map { Standing($0.value) }
    }

    /// The first thing that differs; nil where nothing does.
    func difference(from expected: Sight, _ parts: Set<Part> = Set(Part.allCases)) -> Difference? {
        for part in Part.allCases where parts.contains(part) {
            guard let (expected, found) = part.differing(expected, self) else { continue }
            return Difference(part: part, expected: expected, found: found)
        }
        return nil
    }

    enum Part: String, CaseIterable, Sendable {
        case view, confirmed, pending, accepted, conflicted, rejections, faults, through, sequence
        case states, rows

        /// Both as lines, where they differ.
        fileprivate func differing(_ a: Sight, _ b: Sight) -> (StateText, StateText)? {
            func values<V: Equatable>(_ path: KeyPath<Sight, V>) -> (StateText, StateText)? {
                let (a, b) = (a[keyPath: path], b[keyPath: path])
                return a == b ? nil : (StateText(a), StateText(b))
            }
            func states(_ a: P, _ b: P) -> (StateText, StateText)? {
                P.areSame(a, b) ? nil : (StateText(a), StateText(b))
            }
            switch self {
            case .view: return states(a.view, b.view)
            case .confirmed: return states(a.confirmed, b.confirmed)
            case .pending: return values(\.pending)
            case .accepted: return values(\.accepted)
            case .conflicted: return values(\.conflicted)
            case .rejections: return values(\.rejections)
            case .faults: return values(\.faults)
            case .through: return values(\.through)
            case .sequence: return values(\.sequence)
            case .states: return values(\.standings)
            case .rows: return values(\.rows)
            }
        }

        /// In users' words.
        var name: String {
            switch self {
            case .view: "the view"
            case .confirmed: "confirmed state"
            case .pending: "the list of pending intents"
            case .accepted: "the list of accepted intents"
            case .conflicted: "the list of conflicted intents"
            case .rejections: "the list of rejections"
            case .faults: "the number of faults"
            case .through: "through"
            case .sequence: "the sequence"
            case .states: "what is known of the intents"
            case .rows: "what the stored rows show otherwise than the events"
            }
        }
    }

    struct Difference: Sendable {
        let part: Part
        let expected: StateText
        let found: StateText
    }
}

extension Sight.Standing {
    fileprivate init(_ status: IntentStatus<P.Event>) {
        self.init(
            state: status.state, message: status.rejection?.message,
            isDismissed: status.isDismissed, retries: status.retries,
            answeredAt: status.answer?.sequence)
    }

    fileprivate init(_ intent: Refold<P>.Intent) {
        let isRejected = intent.state == .rejected
        self.init(
            state: intent.state, message: isRejected ? intent.message : nil,
            isDismissed: isRejected && intent.dismissed,
            retries: intent.retries.map { IntentNumber(UInt64($0)) },
            answeredAt: intent.answeredAt.map { LogSequence(UInt64($0)) })
    }
}
