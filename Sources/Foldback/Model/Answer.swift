/// What became of an intent, as one entry of the log says it.
public struct Answer: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
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
    public let content: Content
    /// The entry that says so.
    public let sequence: LogSequence
}
