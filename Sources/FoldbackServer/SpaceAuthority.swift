import Foldback
import FoldbackSync

/// A space as the authority of one user's devices.
public struct SpaceAuthority<R: Rules>: Authority {
    public typealias Event = R.State.Event

    private let account: Account
    private let host: any SpaceHost<R>

    init(account: Account, of host: any SpaceHost<R>) {
        self.account = account
        self.host = host
    }

    public func submit(
        _ intents: [Submission<Event>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        try await requireAccess()
        return try await host.using { space throws(AuthorityFailure) in
            try await space.decide(intents, by: account, from: device)
        }
    }

    public func changes(
        after device: SyncPoint
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await requireAccess()
        return try await page(after: device)
    }

    public func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<Event> {
        try await requireAccess()
        return try await host.listening { bell throws(AuthorityFailure) in
            try await bell.longPoll(
                after: device, waiting: min(waiting, SpaceLimits.waitMax), host.sources
            ) { device throws(AuthorityFailure) in
                try await page(after: device)
            }
        }
    }

    private func page(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<Event> {
        try await host.using { space throws(AuthorityFailure) in
            try await space.follow(device)
            return try space.page(after: device, for: account)
        }
    }

    private func requireAccess() async throws(AuthorityFailure) {
        guard await host.rules.access(of: account, to: host.name) else { throw .noAccess }
    }
}

/// A space that is open, or that is opened when it is used.
protocol SpaceHost<R>: Sendable {
    associatedtype R: Rules
    var name: SpaceName { get }
    var rules: R { get }
    var sources: SyncSources { get }

    /// Calls `body` with the open space.
    func using<T: Sendable>(
        _ body: @Sendable (Space<R>) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T

    /// Calls `body` with the bell that rings after each group. The space need not stay open meanwhile.
    func listening<T: Sendable>(
        _ body: @Sendable (Signal) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T
}

extension Space: SpaceHost {
    nonisolated func using<T: Sendable>(
        _ body: @Sendable (Space<R>) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T { try await body(self) }

    nonisolated func listening<T: Sendable>(
        _ body: @Sendable (Signal) async throws(AuthorityFailure) -> T
    ) async throws(AuthorityFailure) -> T { try await body(decisions) }
}

extension AuthorityFailure {
    /// An unknown space, a forbidden one, and a replica of another account have the same answer (N10).
    static var noAccess: AuthorityFailure {
        .unauthenticated(reason: "this account may not use this space or this replica")
    }
}
