import Foldback

/// The state of a downlink, for display.
public struct DownlinkStatus: Hashable, Sendable {
    /// The reason for a pause; nil if events arrive as they come.
    public let pause: SyncPause?
    /// The highest position that the log's confirmed state covers.
    public let through: Position
    /// Whether pages are fetched now, because the log may not have all events. False while the
    /// downlink waits for new events.
    public let isFetching: Bool
    /// The time of the next request; nil if none is scheduled. A long poll that goes on is not a next
    /// request.
    public let nextAttempt: Timestamp?

    init(_ state: DownlinkState, of log: PublishedState) {
        pause = SyncPause(state.link, superseded: log.superseded, isRunning: state.isRunning)
        through = log.through
        isFetching = state.isFetching
        nextAttempt = state.nextAttempt
    }
}
