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
    let known: KnownIntent

    public var id: IntentID { known.recorded.id }
    public var state: IntentState { known.state }
    /// As it was recorded; nil where this code cannot read it (L5).
    public var event: Event? { known.recorded.payload.event() }
    /// Why, where the state is `.rejected`.
    public var rejection: Rejection? { known.rejection }
    /// Whether a rejection is out of the list: dismissed or retried (F14).
    public var isDismissed: Bool { known.isDismissed }
    /// The rejected intent that this one retries.
    public var retries: IntentNumber? { known.recorded.retries }
    public var isConfirmOnly: Bool { known.recorded.isConfirmOnly }
    public var once: String? { known.recorded.once?.string }
    public var info: [String: String] { known.recorded.info }
    public var recordedAt: Timestamp { known.recorded.time }
    /// The intent's own entry.
    public var sequence: LogSequence { known.recorded.sequence }
    /// The latest answer; nil while pending.
    public var answer: Answer? { known.answer }
}

/// Proof that an intent is in the log, and where its answer can be awaited; minutes or days later, and
/// after a restart through ``Store/receipt(for:)``.
public struct Receipt: Sendable {
    public let id: IntentID
    /// The entry of the intent.
    public let sequence: LogSequence
    /// Nothing new was recorded: an intent with the same once key is in the overlay, and this is it
    /// (F14).
    public let isJoined: Bool
    let core: StoreCore

    public var number: IntentNumber { id.number }

    /// How the intent stands as soon as it is not pending: accepted, confirmed, rejected or withdrawn.
    ///
    /// Asked later it is the latest word; every change of the server's mind is in ``Store/answers(after:)`` (F7).
    /// - Throws: `.cancelled`, `.closed`, `.damaged`, `.storage`.
    public func answer() async throws(FoldbackError) -> Answer {
        try await core.answer(to: number) { $0 != .pending }
    }

    /// The same, waiting until it is confirmed, rejected or withdrawn.
    public func settlement() async throws(FoldbackError) -> Answer {
        try await core.answer(to: number) { $0.isSettled }
    }
}
