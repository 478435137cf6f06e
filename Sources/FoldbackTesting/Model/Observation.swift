import Foldback

/// Everything that somebody who looks at a log sees.
struct Observation<P: Projection>: Sendable {
    private(set) var sequence: LogSequence
    private(set) var through: Position
    private(set) var view: P
    private(set) var confirmed: P
    private(set) var pending: [IntentNumber]
    private(set) var accepted: [IntentNumber]
    private(set) var conflicted: [IntentNumber]
    let rejections: [IntentNumber]
    private(set) var faults: Int
    /// How each intent stands, from 1 up.
    let standings: [IntentObservation]
    /// The same as the rows of a stored projection beside show it; nil where there is none.
    var rows: Rows?

    enum Rows: Sendable {
        case shown(RowModelState<P>)
        case unreadable(String)
    }

    /// What is said of one intent.
    struct IntentObservation: Equatable, Sendable {
        let state: IntentState
        /// Why, if it is rejected.
        let rejection: Rejection?
        let isDismissed: Bool
        let retries: IntentNumber?
        /// The entry of the latest answer.
        let answeredAt: LogSequence?
    }

    var states: [IntentState] { standings.map(\.state) }

    /// What a store shows.
    init(of store: Store<P>) {
        self.init(
            store.snapshot, faults: store.faults.count, states: [], rows: Self.rows(of: store))
    }

    /// The same, with each intent that was ever recorded. Answers are those that intents have by now:
    /// reading the stream of them waits at its end.
    /// - Throws: what asking the store for an intent throws.
    init(allOf store: Store<P>) throws(FoldbackError) {
        var standings: [IntentObservation] = []
        var number: IntentNumber = 1
        while number < store.status.nextIntent {
            standings.append(IntentObservation(try store.intent(number)))
            number = IntentNumber(number.value + 1)
        }
        self.init(
            store.snapshot, faults: store.faults.count, states: standings,
            rows: Self.rows(of: store))
    }

    /// What a store shows of a past sequence.
    /// - Throws: as `Store.snapshot(at:)`.
    init(of store: Store<P>, at sequence: LogSequence) async throws {
        let past = try await store.snapshot(at: sequence)
        self.init(
            past, faults: past.faults.count, states: [],
            rows: try await P.rowsForLaws(store, at: sequence).map(Rows.shown))
    }

    private static func rows(of store: Store<P>) -> Rows? {
        do { return try P.rowsForLaws(store).map(Rows.shown) } catch {
            return .unreadable("\(error)")
        }
    }

    /// What rows beside show; nil where there are none.
    var shownByRows: RowModelState<P>? {
        if case .shown(let rows) = rows { rows } else { nil }
    }

    /// The same with other states, and nothing beside.
    func with(view: P, confirmed: P) -> Observation {
        var sight = self
        (sight.view, sight.confirmed, sight.rows) = (view, confirmed, nil)
        return sight
    }

    private init(
        _ snapshot: Snapshot<P>, faults: Int, states standings: [IntentObservation], rows: Rows?
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
    init(_ state: ReferenceLog<P>.State, sequence: Int) {
        rows = nil
        self.sequence = LogSequence(UInt64(sequence))
        through = state.through
        view = state.view
        confirmed = state.confirmed
        pending = state.numbers(.pending)
        accepted = state.numbers(.accepted)
        conflicted = state.conflicted
        rejections = state.rejections
        faults = state.faults
        standings = state.intents.sorted { $0.key < $1.key }.map { IntentObservation($0.value) }
    }

    /// The first thing that differs; nil where nothing does. Rows beside show what is expected of states as
    /// well, whatever else is compared.
    func difference(from expected: Observation, _ parts: Set<Part> = Set(Part.allCases))
        -> Difference?
    {
        if let difference = ownDifference(from: expected, parts) { return difference }
        switch rows {
        case nil: return nil
        case .unreadable(let reason):
            // What cannot be read here or there alike says nothing of other histories (P2 does).
            if case .unreadable(reason) = expected.rows { return nil }
            return Difference(
                manner: "rows unreadable", name: "what can be read of the stored rows",
                expected: StateText("all of them"), found: StateText(reason))
        case .shown(let rows):
            var sight = with(view: rows.view, confirmed: rows.confirmed)
            (sight.sequence, sight.through) = (rows.sequence, rows.through)
            (sight.pending, sight.accepted) = (rows.pending, rows.accepted)
            (sight.conflicted, sight.faults) = (rows.conflicted, rows.faults)
            return sight.ownDifference(from: expected, parts)?.ofRows
        }
    }

    private func ownDifference(from expected: Observation, _ parts: Set<Part>) -> Difference? {
        for part in Part.allCases where parts.contains(part) {
            guard let (expected, found) = part.differing(expected, self) else { continue }
            return Difference(
                manner: part.rawValue, name: part.name, expected: expected, found: found)
        }
        return nil
    }

    enum Part: String, CaseIterable, Sendable {
        case view, confirmed, pending, accepted, conflicted, rejections, faults, through, sequence
        case states

        /// Both as lines, where they differ.
        fileprivate func differing(_ a: Observation, _ b: Observation) -> (StateText, StateText)? {
            func values<V: Equatable>(_ path: KeyPath<Observation, V>) -> (StateText, StateText)? {
                let (a, b) = (a[keyPath: path], b[keyPath: path])
                return a == b ? nil : (StateText(a), StateText(b))
            }
            func states(_ a: P, _ b: P) -> (StateText, StateText)? {
                P.areSame(a, b) ? nil : P.texts(a, b)
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
            }
        }
    }

    struct Difference: Sendable {
        /// Tells differences apart: the part.
        let manner: String
        /// In users' words.
        let name: String
        let expected: StateText
        let found: StateText

        fileprivate var ofRows: Difference {
            Difference(
                manner: "rows: \(manner)", name: "\(name) of the stored rows", expected: expected,
                found: found)
        }
    }
}

extension Observation.IntentObservation {
    fileprivate init(_ status: IntentStatus<P.Event>) {
        self.init(
            state: status.state, rejection: status.rejection,
            isDismissed: status.isDismissed, retries: status.retries,
            answeredAt: status.answer?.sequence)
    }

    fileprivate init(_ intent: ReferenceLog<P>.Intent) {
        let isRejected = intent.state == .rejected
        self.init(
            state: intent.state, rejection: isRejected ? intent.rejection : nil,
            isDismissed: isRejected && intent.isDismissed,
            retries: intent.retries,
            answeredAt: intent.answeredAt.map { LogSequence(UInt64($0)) })
    }
}
