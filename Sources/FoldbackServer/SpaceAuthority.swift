import Foldback
import FoldbackSync

/// A space as the authority of one user's devices.
public struct SpaceAuthority<R: Rules>: Authority {
    public typealias Event = R.State.Event

    let space: Space<R>
    let account: Account

    public func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        try await requireAccess()
        return try await space.decide(intents, by: account, from: device)
    }

    public func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await requireAccess()
        return try space.page(after: device, for: account)
    }

    public func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await requireAccess()
        return try await space.decisions.longPoll(
            after: device, waiting: min(waiting, SpaceLimits.waitMax), space.sources
        ) { device throws(AuthorityFailure) in
            try space.page(after: device, for: account)
        }
    }

    private func requireAccess() async throws(AuthorityFailure) {
        try space.requireOpen()
        guard await space.rules.access(of: account, to: space.name) else {
            throw .noAccess
        }
    }
}

extension AuthorityFailure {
    /// An unknown space, a forbidden one, and a replica of another account have the same answer (N10).
    static var noAccess: AuthorityFailure {
        .unauthenticated(reason: "this account may not use this space or this replica")
    }
}
