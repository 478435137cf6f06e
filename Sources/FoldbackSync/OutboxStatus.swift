import Foldback

/// How an outbox stands, for people to see. When each intent was tried and why it failed is in
/// ``/Foldback/Store/attempts``.
public struct OutboxStatus: Hashable, Sendable {
    /// Why nothing is sent at present.
    public enum Pause: Hashable, Sendable {
        /// ``Outbox/run()`` is not running.
        case stopped
        case offline
        /// Nobody is signed in; in the authority's words or those of the app.
        case signedOut(reason: String)
        /// The last request failed, and the next one waits.
        case failing(AuthorityFailure)
    }

    /// Nil while requests are sent as intents come, or wait for their own time.
    public let pause: Pause?
    /// Intents that are on their way, ascending.
    public let inFlight: [IntentNumber]
    /// Pending intents that are not on their way and can be sent.
    public let waitingCount: Int
    /// Pending intents that this code cannot read, ascending: not sent, until the app is updated.
    public let unreadable: [IntentNumber]
    /// When something is tried again; nil where nothing waits for its time.
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
