/// The fate of an intent, as one entry of the log says it.
public struct Answer: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        /// The server acknowledged it. The downlink will deliver its effect (F3).
        case accepted
        /// Its effect is in confirmed state.
        case confirmed
        case rejected(Rejection)
        /// The app took it back or gave it up (F7, F19).
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
    /// The entry of the answer.
    public let sequence: LogSequence
}
