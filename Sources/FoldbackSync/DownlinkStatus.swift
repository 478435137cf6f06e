import Foldback

/// The state of a downlink, for display.
public struct DownlinkStatus: Hashable, Sendable {
    /// The reason why no events are fetched now.
    public enum Pause: Hashable, Sendable {
        /// Neither ``Downlink/follow()`` nor ``Downlink/fetch()`` is running.
        case stopped
        case offline
        /// No user is signed in. The reason comes from the authority or from the app.
        case signedOut(reason: String)
        /// The last request failed, and the next request waits.
        case failing(AuthorityFailure)
        /// The authority is another one or has lost data. The call has ended with an error that says
        /// how to continue. `shared` is the last position that the log shares with it.
        case superseded(shared: Position)
    }

    /// The reason for a pause; nil if events arrive as they come.
    public let pause: Pause?
    /// The highest position that the log's confirmed state covers.
    public let through: Position
    /// Whether pages are fetched now, because the log may not have all events. False while the
    /// downlink waits for new events.
    public let isFetching: Bool
    /// The time of the next request; nil if none is scheduled. A long poll that goes on is not a next
    /// request.
    public let nextAttempt: Timestamp?

    init(_ state: DownlinkState, through: Position, superseded: Position?) {
        pause =
            if let shared = superseded {
                .superseded(shared: shared)
            } else if !state.isRunning {
                .stopped
            } else if let reason = state.signedOut {
                .signedOut(reason: reason)
            } else if !state.isOnline {
                .offline
            } else {
                state.failure.map { .failing($0) }
            }
        self.through = through
        isFetching = state.isFetching
        nextAttempt = state.nextAttempt
    }
}
