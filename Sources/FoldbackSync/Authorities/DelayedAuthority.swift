import Foldback

/// An authority with network delay, for tests and previews: each call waits before it reaches
/// another authority, and again before the answer returns. Without delays, it only forwards.
public struct DelayedAuthority<Event: Sendable>: Authority {
    private let base: any Authority<Event>
    private let there: @Sendable () -> Duration
    private let back: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async -> Void

    /// - Parameters:
    ///   - base: the authority that answers.
    ///   - there: returns the delay before a call arrives. Called once for each call.
    ///   - back: returns the delay before its answer returns. Called once for each answer.
    ///   - sleep: waits for a duration, as ``SyncSources/sleep`` does.
    public init(
        _ base: any Authority<Event>, there: @escaping @Sendable () -> Duration = { .zero },
        back: @escaping @Sendable () -> Duration = { .zero },
        sleep: @escaping @Sendable (Duration) async -> Void
    ) {
        self.base = base
        self.there = there
        self.back = back
        self.sleep = sleep
    }

    public func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        try await wait(there())
        let verdicts = try await base.submit(intents, from: device)
        try await wait(back())
        return verdicts
    }

    public func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await wait(there())
        let changes = try await base.changes(after: device)
        try await wait(back())
        return changes
    }

    public func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await wait(there())
        let changes = try await base.changes(after: device, waiting: waiting)
        try await wait(back())
        return changes
    }

    private func wait(_ duration: Duration) async throws(AuthorityFailure) {
        guard duration > .zero else { return }
        await sleep(duration)
        if Task.isCancelled { throw .unreachable(reason: "the task was canceled") }
    }
}
