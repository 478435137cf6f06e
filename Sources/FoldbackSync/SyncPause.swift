import Foldback

/// The reason why an outbox sends nothing now, or why a downlink fetches nothing.
public enum SyncPause: Hashable, Sendable {
    /// The call that would send or fetch does not run: ``Outbox/run()``, ``Downlink/follow()`` or
    /// ``Downlink/fetch()``.
    case stopped
    case offline
    /// No user is signed in. The reason comes from the authority or from the app.
    case signedOut(reason: String)
    /// The last request failed, and the next request waits.
    case failing(AuthorityFailure)
    /// The authority is another one or has lost data. The call has ended with an error that says how
    /// to continue. `shared` is the last position that the log shares with it.
    case superseded(shared: Position)

    init?(_ link: LinkState, superseded: Position?, isRunning: Bool) {
        if let shared = superseded {
            self = .superseded(shared: shared)
        } else if !isRunning {
            self = .stopped
        } else if let reason = link.signedOut {
            self = .signedOut(reason: reason)
        } else if !link.isOnline {
            self = .offline
        } else if let failure = link.failure {
            self = .failing(failure)
        } else {
            return nil
        }
    }
}
