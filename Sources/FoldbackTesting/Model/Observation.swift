import Foldback

/// Everything that a log shows.
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
    /// How often the sending of intents has begun, by number. Empty at past sequences: only the end
    /// of the log has attempts.
    let attempts: [IntentNumber: Int]
    /// What the log says about each intent, from number 1 up.
    let intents: [IntentObservation]
    /// The same from the rows of a stored projection on the same log; nil if there is none.
    var rows: Rows?

    enum Rows: Sendable {
        case readable(RowModelState<P>)
        case unreadable(String)
    }

    /// What the log says about one intent.
    struct IntentObservation: Equatable, Sendable {
        let state: IntentState
        /// Why, if it is rejected.
        let rejection: Rejection?
        let isDismissed: Bool
        let retries: IntentNumber?
        /// The entry of the latest answer.
        let answeredAt: LogSequence?
    }

    var states: [IntentState] { intents.map(\.state) }

    /// What a store shows, without its intents.
    init(of store: Store<P>) {
        self.init(
            store.snapshot, faults: store.faults.count, attempts: store.attempts, intents: [],
            rows: Self.rows(of: store))
    }

    /// What a store shows, with each intent that was ever recorded and its latest answer. It does
    /// not read the stream of answers, because that waits at its end.
    /// - Throws: the error of reading an intent.
    init(allOf store: Store<P>) throws(LogError) {
        var intents: [IntentObservation] = []
        var number: IntentNumber = 1
        while number < store.status.nextIntent {
            intents.append(IntentObservation(try store.intent(number)))
            number = IntentNumber(number.value + 1)
        }
        self.init(
            store.snapshot, faults: store.faults.count, attempts: store.attempts,
            intents: intents, rows: Self.rows(of: store))
    }

    /// What a compacted store shows.
    ///
    /// - Parameter whole: what a log that was never compacted shows. It stands for what the store no
    ///   longer knows of an intent that was confirmed or withdrawn, except its state.
    /// - Throws: the error of reading an intent.
    init(of store: Store<P>, sharingRemovedOf whole: Self) throws(LogError) {
        var intents: [IntentObservation] = []
        var number: IntentNumber = 1
        while number < store.status.nextIntent {
            do throws(LogError) {
                intents.append(IntentObservation(try store.intent(number)))
            } catch {
                guard case .compactedIntent(_, let state) = error,
                    state == .confirmed || state == .withdrawn, intents.count < whole.intents.count
                else { throw error }
                intents.append(whole.intents[intents.count].inState(state))
            }
            number = IntentNumber(number.value + 1)
        }
        self.init(
            store.snapshot, faults: store.faults.count, attempts: store.attempts,
            intents: intents, rows: Self.rows(of: store))
    }

    /// What a store shows at a past sequence.
    /// - Throws: as `Store.snapshot(at:)`.
    init(of store: Store<P>, at sequence: LogSequence) async throws {
        let past = try await store.snapshot(at: sequence)
        self.init(
            past, faults: past.faults.count, attempts: [:], intents: [],
            rows: try await P.rowsForLaws(store, at: sequence).map(Rows.readable))
    }

    private static func rows(of store: Store<P>) -> Rows? {
        do { return try P.rowsForLaws(store).map(Rows.readable) } catch {
            return .unreadable("\(error)")
        }
    }

    /// What the rows show; nil if there are none, or they cannot be read.
    var readableRows: RowModelState<P>? {
        if case .readable(let rows) = rows { rows } else { nil }
    }

    /// The same with other states and without rows.
    func with(view: P, confirmed: P) -> Observation {
        var observation = self
        (observation.view, observation.confirmed, observation.rows) = (view, confirmed, nil)
        return observation
    }

    private init(
        _ snapshot: Snapshot<P>, faults: Int, attempts: [IntentNumber: Attempt],
        intents: [IntentObservation], rows: Rows?
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
        self.attempts = attempts.mapValues(\.count)
        self.intents = intents
    }

    /// What the reference model shows.
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
        attempts = state.attempts
        intents = state.intents.sorted { $0.key < $1.key }.map { IntentObservation($0.value) }
    }

    /// The first part that differs; nil if none does. Rows, if there are any, are compared with the
    /// same expected states.
    func difference(from expected: Observation, _ parts: Set<Part> = Set(Part.allCases))
        -> Difference?
    {
        if let difference = ownDifference(from: expected, parts) { return difference }
        switch rows {
        case nil: return nil
        case .unreadable(let reason):
            // If the rows of both are unreadable for the same reason, only P2 reports it.
            if case .unreadable(reason) = expected.rows { return nil }
            return Difference(
                manner: "rows unreadable", name: "reading the stored rows",
                expected: StateText("no error"), found: StateText(reason))
        case .readable(let rows):
            var observation = with(view: rows.view, confirmed: rows.confirmed)
            (observation.sequence, observation.through) = (rows.sequence, rows.through)
            (observation.pending, observation.accepted) = (rows.pending, rows.accepted)
            (observation.conflicted, observation.faults) = (rows.conflicted, rows.faults)
            return observation.ownDifference(from: expected, parts)?.ofRows
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
        case states, attempts

        /// Both values as lines, if they differ.
        fileprivate func differing(_ a: Observation, _ b: Observation) -> (StateText, StateText)? {
            func values<V: Equatable>(_ a: V, _ b: V) -> (StateText, StateText)? {
                a == b ? nil : (StateText(a), StateText(b))
            }
            func states(_ a: P, _ b: P) -> (StateText, StateText)? {
                P.areSame(a, b) ? nil : P.texts(a, b)
            }
            switch self {
            case .view: return states(a.view, b.view)
            case .confirmed: return states(a.confirmed, b.confirmed)
            case .pending: return values(a.pending, b.pending)
            case .accepted: return values(a.accepted, b.accepted)
            case .conflicted: return values(a.conflicted, b.conflicted)
            case .rejections: return values(a.rejections, b.rejections)
            case .faults: return values(a.faults, b.faults)
            case .through: return values(a.through, b.through)
            case .sequence: return values(a.sequence, b.sequence)
            case .states: return values(a.intents, b.intents)
            case .attempts: return values(a.attempts, b.attempts)
            }
        }

        /// The name in reports.
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
            case .states: "the state of the intents"
            case .attempts: "the attempts to send intents"
            }
        }
    }

    struct Difference: Sendable {
        /// The part that differs; two differences of one manner are the same finding.
        let manner: String
        /// The name in reports.
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

    fileprivate func inState(_ state: IntentState) -> Self {
        Self(
            state: state, rejection: rejection, isDismissed: isDismissed, retries: retries,
            answeredAt: answeredAt)
    }

    fileprivate init(_ intent: ReferenceLog<P>.Intent) {
        let isRejected = intent.state == .rejected
        self.init(
            state: intent.state, rejection: isRejected ? intent.rejection : nil,
            isDismissed: isRejected && intent.isDismissed,
            retries: intent.terms.retries,
            answeredAt: intent.answeredAt.map { LogSequence(UInt64($0)) })
    }
}
