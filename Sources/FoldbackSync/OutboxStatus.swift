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
        /// The authority is another one or has lost data, and ``Outbox/run()`` has ended with an
        /// error that says how to continue. `shared` is the last position that the log shares with
        /// it.
        case superseded(shared: Position)
        /// The last request failed, and the next request waits.
        case failing(AuthorityFailure)
    }

    /// The reason for a pause; nil if requests are sent as intents come. If all waiting intents made
    /// the authority fail, it is the last of these failures (S3).
    public let pause: Pause?
    /// Intents that were sent and have no answer yet, ascending.
    public let inFlight: [IntentNumber]
    /// The number of pending intents that are not in a request and, as far as the outbox knows, can be
    /// sent. While ``Outbox/run()`` does not run, it is the number of all pending intents.
    public let waitingCount: Int
    /// Pending intents that this code cannot read, ascending. They are not sent until the app is
    /// updated.
    public let unreadable: [IntentNumber]
    /// Pending intents that kept failing when they were sent alone, with the reasons (S3). Without
    /// a run it is empty; ``/Foldback/Store/attempts`` has them too.
    ///
    /// They are tried again at each start of ``Outbox/run()``, after each
    /// ``OutboxPolicy/delayMax``, and when the device comes online. To end the quarantine, fix the
    /// cause and call ``Outbox/release(_:)``, or give the intent up:
    /// ``/Foldback/Store/abandon(_:)``.
    public let quarantined: [IntentNumber: Attempt.Quarantine]
    /// The quarantined intent that all later intents wait for, under a policy that keeps order; nil
    /// if there is none (S3).
    public let blocking: IntentNumber?
    /// The time of the next attempt; nil if no attempt is scheduled.
    public let nextAttempt: Timestamp?

    init(
        _ state: OutboxState, _ pending: PublishedState, superseded: Position?, isRunning: Bool,
        nextAttempt: Timestamp?
    ) {
        pause =
            if let shared = superseded {
                .superseded(shared: shared)
            } else if !isRunning {
                .stopped
            } else if let reason = state.signedOut {
                .signedOut(reason: reason)
            } else if !state.isOnline {
                .offline
            } else {
                state.failure.map { .failing($0) }
            }
        let requests = state.requests.values
        inFlight = requests.filter { $0.phase == .sent }
            .flatMap(\.intents.keys).filter(pending.isPending).sorted()
        unreadable = state.unreadable.filter(pending.isPending).sorted()
        let requested = requests.flatMap(\.intents.keys).count(where: pending.isPending)
        waitingCount = pending.pendingCount - requested - unreadable.count
        quarantined = state.quarantined.filter { pending.isPending($0.key) }
        blocking = state.policy.keepsOrder ? quarantined.keys.min() : nil
        self.nextAttempt = nextAttempt
    }
}
