import Foldback

/// The state of an outbox, for display.
///
/// For the attempts of each intent, with the last failure, see ``/Foldback/Store/attempts``.
public struct OutboxStatus: Hashable, Sendable {
    /// The reason for a pause; nil if requests are sent as intents come. If all waiting intents made
    /// the authority fail, it is the last of these failures (S3).
    public let pause: SyncPause?
    /// Intents that were sent and have no answer yet, ascending.
    public let inFlight: [IntentNumber]
    /// The number of pending intents that are not in a request and, as far as the outbox knows, can be
    /// sent. While ``Outbox/run()`` does not run, it is the number of all pending intents that are not
    /// held.
    public let waitingCount: Int
    /// The number of pending intents that wait for the answers to others: they touch a draft, or undo an
    /// intent without an answer (F21, F22).
    public let dependentCount: Int
    /// Drafts that are held until they are released, ascending (F22).
    public let held: [IntentNumber]
    /// Pending intents that this code cannot read, ascending. They are not sent until the app is
    /// updated.
    public let unreadable: [IntentNumber]
    /// Pending intents that kept failing when they were sent alone, with the reasons (S3). Without
    /// a run it is empty; ``/Foldback/Store/attempts`` has them too.
    ///
    /// They are tried again at each start of ``Outbox/run()``, after each
    /// ``SyncPolicy/delayMax``, and when the device comes online. To end the quarantine, fix the
    /// cause and call ``Outbox/release(_:)``, or give the intent up:
    /// ``/Foldback/Store/abandon(_:)``.
    public let quarantined: [IntentNumber: Attempt.Quarantine]
    /// The quarantined intents that others wait for, ascending: later ones of their lanes, or those that
    /// undo them (S1, S3).
    public let blocking: [IntentNumber]
    /// The time of the next attempt; nil if no attempt is scheduled.
    public let nextAttempt: Timestamp?

    init(
        _ state: OutboxState, of log: PublishedState, isRunning: Bool, nextAttempt: Timestamp?
    ) {
        pause = SyncPause(state.link, superseded: log.superseded, isRunning: isRunning)
        let requests = state.requests.values
        inFlight = requests.filter { $0.phase == .sent }
            .flatMap(\.attempts.keys).filter(log.isPending).sorted()
        unreadable = state.unreadable.filter(log.isPending).sorted()
        held = log.drafts.held
        let requested = requests.flatMap(\.attempts.keys).count(where: log.isPending)
        dependentCount = state.dependentCount
        waitingCount =
            log.pendingCount - requested - unreadable.count - held.count - dependentCount
        quarantined = state.quarantined.filter { log.isPending($0.key) }
        blocking = quarantined.keys.filter(state.order.holdsUpOthers).sorted()
        self.nextAttempt = nextAttempt
    }
}
