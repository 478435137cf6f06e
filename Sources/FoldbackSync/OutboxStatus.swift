import Foldback

/// The state of an outbox, for display.
///
/// For the attempts of each intent, with the last failure, see ``/Foldback/Store/attempts``.
public struct OutboxStatus: Hashable, Sendable {
    /// The reason why nothing is sent now.
    public enum Pause: Hashable, Sendable {
        /// ``Outbox/run()`` is not running.
        case stopped
        case offline
        /// No user is signed in. The reason comes from the authority or from the app.
        case signedOut(reason: String)
        /// The last request failed, and the next request waits.
        case failing(AuthorityFailure)
    }

    /// The reason for a pause; nil if requests are sent as intents come, or if only single intents
    /// wait.
    public let pause: Pause?
    /// Intents that were sent and have no answer yet, ascending.
    public let inFlight: [IntentNumber]
    /// The number of pending intents that can be sent and are not in a request.
    public let waitingCount: Int
    /// Pending intents that this code cannot read, ascending. They are not sent until the app is
    /// updated.
    public let unreadable: [IntentNumber]
    /// The time of the next attempt; nil if no attempt is scheduled.
    public let nextAttempt: Timestamp?

    init(_ state: OutboxState, isRunning: Bool, nextAttempt: Timestamp?) {
        pause =
            if !isRunning {
                .stopped
            } else if let reason = state.signedOut {
                .signedOut(reason: reason)
            } else if !state.isOnline {
                .offline
            } else {
                state.failure.map { .failing($0) }
            }
        inFlight = state.requests.values.filter { $0.phase == .sent }
            .flatMap(\.attempts.keys).sorted()
        waitingCount = state.waitingCount
        unreadable = state.unreadable.sorted()
        self.nextAttempt = nextAttempt
    }
}
