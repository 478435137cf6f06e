import Foldback
import FoldbackExamples
import FoldbackSync
import FoldbackUI
import Foundation

/// One device: a log, an outbox that sends, a downlink that fetches, and a screen.
@MainActor final class Replica {
    let name: String
    let store: Store<Timeline>
    let outbox: Outbox<Timeline>
    let downlink: Downlink<Timeline>
    private var following: Task<Void, Never>?

    /// Every intent has its own request, so that the stage can answer them in any order.
    private static let policy = SyncPolicy(
        intentsPerRequestMax: 1, requestsMax: 16, backoffMin: .seconds(1),
        backoffMax: .seconds(60), delayMax: .seconds(3600))

    /// The number of requests that the outbox sends at once.
    var requestsMax: Int { Self.policy.requestsMax }

    init(
        _ name: String, at directory: URL, _ stage: Stage, _ authority: FeedAuthority,
        _ clock: FeedClock
    )
        async throws
    {
        guard let id = ReplicaID(name) else { preconditionFailure("\(name) is not a replica id") }
        self.name = name
        store = try await Store.open(
            at: directory, Timeline.self, confirmedBy: .downlink, durability: .durable,
            replica: .exactly(id), sources: clock.log)
        let link = Link(user: name, stage: stage, authority: authority)
        outbox = Outbox(store, to: link, policy: Self.policy, sources: clock.sync)
        downlink = Downlink(store, from: link, policy: Self.policy, sources: clock.sync)
        setOnline(!stage.settings.offline.contains(name))
        if stage.settings.signedOut.contains(name) { setSignedIn(false) }
    }

    /// Begins to send.
    func start() {
        Task { [outbox, name] in
            do { try await outbox.run() } catch { complain("\(name)'s outbox has ended: \(error)") }
        }
    }

    /// Whether events are fetched as they come.
    var isFollowing: Bool { following != nil }

    /// Begins to fetch events as they come. Further calls do nothing.
    func follow() {
        guard following == nil else { return }
        following = Task { [downlink, name] in
            do { try await downlink.follow() } catch {
                complain("\(name)'s downlink has ended: \(error)")
            }
        }
    }

    /// Fetches everything that the authority has now.
    ///
    /// - Parameters:
    ///   - wait: the name of the wait that the request has.
    ///   - report: gets the cause why nothing is fetched.
    nonisolated func fetched(
        for wait: String, _ report: FetchReport
    ) async throws(AuthorityFailure) -> Position {
        let reporting = Task { [downlink] in
            for await status in downlink.statuses { report.cause(status.pause?.cause ?? .unknown) }
        }
        defer { reporting.cancel() }
        let result = await Link.$wait.withValue(wait) { await fetchResult() }
        switch result {
        case .success(.caughtUp(let through)): return through
        case .success(.failed(let failure)): throw failure
        case .success:
            throw .unreachable(reason: "the request was stopped")
        case .failure(let error): throw .failed(reason: "\(error)")
        }
    }

    private nonisolated func fetchResult() async -> Result<
        Downlink<Timeline>.FetchResult, SyncError
    > {
        do throws(SyncError) { return .success(try await downlink.fetch()) } catch {
            return .failure(error)
        }
    }

    func setOnline(_ isOnline: Bool) { tell(isOnline ? .wentOnline : .wentOffline) }

    func setSignedIn(_ isSignedIn: Bool) {
        tell(isSignedIn ? .signedIn : .signedOut(reason: "You have signed out."))
    }

    private func tell(_ change: LinkChange) {
        outbox.tell(change)
        downlink.tell(change)
    }
}

// Here the two libraries meet.

extension SyncPause {
    /// The cause of a wait.
    var cause: WaitCause {
        switch self {
        case .stopped, .superseded: .unknown
        case .offline: .offline
        case .signedOut: .signedOut
        case .failing(let failure): .failing(reason: failure.reason)
        }
    }

    /// Why nothing is sent, in words; nil if the pause is not shown.
    var words: String? {
        switch self {
        case .stopped: nil
        case .offline: "offline"
        case .signedOut: "signed out"
        case .superseded: "failing: the server has other data"
        case .failing(let failure): "failing: \(failure.reason)"
        }
    }
}
