/// What became of an intent, as one entry of the log says it.
public struct Answer: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// The server took it; its effect will come by the downlink (F3).
        case accepted
        /// Its effect is in confirmed state.
        case confirmed
        case rejected(Rejection)
        /// The app took it back.
        case withdrawn

        public var state: IntentState {
            switch self {
            case .accepted: .accepted
            case .confirmed: .confirmed
            case .rejected: .rejected
            case .withdrawn: .withdrawn
            }
        }
    }

    public let intent: IntentNumber
    public let outcome: Outcome
    /// The entry that says so.
    public let sequence: LogSequence
}

/// Everything that the log knows of one intent.
public struct IntentStatus<Event: Sendable>: Sendable {
    public let id: IntentID
    public let state: IntentState
    /// Nil where this code cannot read it (L5).
    public let event: Event?
    /// Why, where the state is `.rejected`.
    public let rejection: Rejection?
    /// Whether a rejection is out of the list: dismissed or retried (F14).
    public let isDismissed: Bool
    /// The rejected intent that this one retries.
    public let retries: IntentNumber?
    public let isConfirmOnly: Bool
    public let once: String?
    public let info: [String: String]
    public let recordedAt: Timestamp
    /// The intent's own entry.
    public let sequence: LogSequence
    /// The entry that made the state what it is; nil while pending.
    public let answerSequence: LogSequence?

    /// The latest answer; nil while pending.
    public var answer: Answer? {
        guard let answerSequence else { return nil }
        let outcome: Answer.Outcome
        switch state {
        case .pending: return nil
        case .accepted: outcome = .accepted
        case .confirmed: outcome = .confirmed
        case .rejected: outcome = .rejected(rejection ?? Rejection(message: ""))
        case .withdrawn: outcome = .withdrawn
        }
        return Answer(intent: id.number, outcome: outcome, sequence: answerSequence)
    }
}

/// Proof that an intent is in the log, and where its answer can be awaited; minutes or days later, and
/// after a restart through ``Store/receipt(for:)``.
public struct Receipt<Event: Sendable>: Sendable {
    public let id: IntentID
    /// The entry of the intent.
    public let sequence: LogSequence
    /// Nothing new was recorded: an intent with the same once key is in the overlay, and this is it
    /// (F14).
    public let isJoined: Bool
    let core: StoreCore<Event>

    public var number: IntentNumber { id.number }

    /// The first word on the intent that is or has been given: accepted, confirmed, rejected or
    /// withdrawn. Waits as long as it is pending.
    ///
    /// A later change of the server's mind is in ``Store/answers(after:)`` (F7).
    /// - Throws: `.cancelled`, `.closed`, `.damaged`, `.storage`.
    public func answer() async throws(FoldbackError) -> Answer {
        try await core.answer(to: number) { $0 != .pending }
    }

    /// The same, waiting until it is confirmed, rejected or withdrawn.
    public func settlement() async throws(FoldbackError) -> Answer {
        try await core.answer(to: number) { $0.isSettled }
    }
}
