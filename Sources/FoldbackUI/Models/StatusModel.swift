import Observation

/// The latest of a sequence of states, for a screen: the status of a sync, for example.
///
/// ```swift
/// let status = StatusModel(sync.status)
/// Text(status.value.message)
///     .task { await status.follow(sync.statuses) }
/// ```
///
/// It knows nothing of where the states come from, so FoldbackUI does not depend on FoldbackSync.
@MainActor @Observable public final class StatusModel<Status: Sendable> {
    /// The state that came last.
    public private(set) var value: Status

    /// - Parameter value: the state to show before the first one comes.
    public init(_ value: Status) { self.value = value }

    /// Shows each state of a sequence, until it ends or the task is canceled.
    ///
    /// - Parameter statuses: such as `Sync.statuses` of FoldbackSync, whose first element is the current
    ///   state. A slow screen gets the latest.
    public func follow(_ statuses: some AsyncSequence<Status, Never>) async {
        for await status in statuses { value = status }
    }
}
