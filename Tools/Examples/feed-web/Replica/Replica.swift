import Foldback
import FoldbackExamples
import FoldbackSync
import FoldbackUI
import Foundation

/// One device: a log in sync with the authority, and a screen.
@MainActor final class Replica {
    let name: String
    let store: Store<Timeline>
    let sync: Sync<Timeline>
    /// Open once events are fetched as they come. The first come with the request of a page, so that
    /// it can show how it loads.
    let following = Latch()

    /// Every intent has its own request, so that the stage can answer them in any order.
    static let policy = SyncPolicy(
        intentsPerRequestMax: 1, requestsMax: 16, backoffMin: .seconds(1),
        backoffMax: .seconds(60), delayMax: .seconds(3600))

    init(
        _ name: String, at directory: URL, _ stage: Stage, _ authority: FeedAuthority,
        _ clock: FeedClock
    ) async throws {
        guard let id = ReplicaID(name) else { preconditionFailure("\(name) is not a replica id") }
        self.name = name
        store = try await Store.open(
            at: directory, Timeline.self, confirmedBy: .downlink, durability: .durable,
            replica: .exactly(id), sources: clock.log)
        sync = Sync(
            store,
            with: Link(user: name, stage: stage, authority: authority, following: following),
            policy: Self.policy, sources: clock.sync)
        setOnline(!stage.settings.offline.contains(name))
        if stage.settings.signedOut.contains(name) { setSignedIn(false) }
    }

    /// Begins to send.
    func start() {
        Task { [sync, name] in
            do { try await sync.run() } catch { complain("\(name)'s sync has ended: \(error)") }
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
        let reporting = Task { [sync] in
            var last = WaitCause.unknown
            for await status in sync.statuses {
                let cause = status.downlink.pause?.cause ?? .unknown
                if cause != last { report.cause(cause) }
                last = cause
            }
        }
        defer { reporting.cancel() }
        let noteHold: @Sendable () -> Void = {
            report.cause(.failing(reason: "The server holds this request"))
        }
        let result: Downlink<Timeline>.FetchResult
        do {
            result = try await Link.$wait.withValue((wait, noteHold)) { try await sync.fetch() }
        } catch {
            throw .failed(reason: "\(error)")
        }
        switch result {
        case .caughtUp(let through): return through
        case .failed(let failure): throw failure
        default: throw .unreachable(reason: "the request was stopped")
        }
    }

    func setOnline(_ isOnline: Bool) { sync.tell(isOnline ? .wentOnline : .wentOffline) }

    func setSignedIn(_ isSignedIn: Bool) {
        sync.tell(isSignedIn ? .signedIn : .signedOut(reason: "You have signed out."))
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
