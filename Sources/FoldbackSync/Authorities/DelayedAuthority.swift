import Foldback

/// An authority that is far away: each call waits on its way there and on its way back. Does nothing
/// unless it is given times.
public struct DelayedAuthority<Event: Sendable>: Authority {
    private let base: any Authority<Event>
    private let there: @Sendable () -> Duration
    private let back: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async -> Void

    /// - Parameters:
    ///   - base: who answers in the end.
    ///   - there: how long a call takes to arrive; asked once for each.
    ///   - back: how long its answer takes.
    ///   - sleep: of ``SyncSources``.
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
        _ intents: [Submission<Event>]
    ) async throws(AuthorityFailure) -> [IntentID: Verdict<Event>] {
        try await wait(there())
        let verdicts = try await base.submit(intents)
        try await wait(back())
        return verdicts
    }

    public func changes(
        after position: Position
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await wait(there())
        let changes = try await base.changes(after: position)
        try await wait(back())
        return changes
    }

    private func wait(_ duration: Duration) async throws(AuthorityFailure) {
        guard duration > .zero else { return }
        await sleep(duration)
        if Task.isCancelled { throw .unreachable(reason: "cancelled") }
    }
}
