import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The state of a ``Sync``, for display: what is not sent yet, and what holds it up (S6).
///
/// ```swift
/// for await status in sync.statuses {
///     banner.text = [status.message, status.suggestion].compactMap { $0 }.joined(separator: " ")
/// }
/// ```
public struct SyncStatus: Hashable, Sendable {
    /// What holds sending or fetching up, the most important first.
    @nonexhaustive
    public enum Obstacle: Hashable, Sendable {
        /// Nothing is sent or fetched now.
        case paused(SyncPause)
        /// The server fails on these intents, and on nothing else (S3). They are tried rarely.
        case quarantined([IntentNumber])
        /// This code cannot read these intents of a newer version of the app.
        case unreadable([IntentNumber])
        /// Nothing could be decided about an old log that this log continues. The text says why.
        case oldLog(problem: String)
    }

    /// Whether the app has told that the device has a connection, or has told nothing.
    public let isOnline: Bool
    /// The number of pending intents that are not drafts.
    public let pendingCount: Int
    /// The number of drafts that are held (F22).
    public let draftCount: Int
    /// The device's time at which the oldest of the pending intents was recorded; nil if there is none.
    public let oldestPending: Timestamp?
    /// The device's time of the last answer from the authority; nil if there was none since the
    /// ``Sync`` was made.
    public let lastContact: Timestamp?
    /// What holds sending or fetching up; nil if nothing does.
    public let obstacle: Obstacle?
    /// The time of the next attempt; nil if none is scheduled.
    public let nextAttempt: Timestamp?
    /// What is sent, in detail.
    public let outbox: OutboxStatus
    /// What is fetched, in detail.
    public let downlink: DownlinkStatus

    /// - Parameters:
    ///   - failure: why a superseded log could not be continued; nil if it was not tried.
    ///   - keptLogProblem: why nothing could be decided about an old log.
    init(
        _ log: PublishedState, _ outbox: OutboxStatus, _ downlink: DownlinkStatus, isOnline: Bool,
        lastContact: Timestamp?, failure: AuthorityFailure?, keptLogProblem: String?
    ) {
        self.isOnline = isOnline
        self.lastContact = lastContact
        draftCount = log.drafts.held.count
        pendingCount = log.pendingCount - draftCount
        oldestPending =
            pendingCount == 0
            ? nil
            : log.overlay.first { $0.value.state == .pending && log.drafts[$0.key] != .held }?
                .value.recorded.time
        self.outbox = outbox
        self.downlink = downlink
        nextAttempt = [outbox.nextAttempt, downlink.nextAttempt].compactMap { $0 }.min()
        obstacle =
            if let failure {
                .paused(.failing(failure))
            } else if let pause = outbox.pause ?? downlink.pause {
                .paused(pause)
            } else if !outbox.quarantined.isEmpty {
                .quarantined(outbox.quarantined.keys.sorted())
            } else if !outbox.unreadable.isEmpty {
                .unreadable(outbox.unreadable)
            } else {
                keptLogProblem.map { .oldLog(problem: $0) }
            }
    }

    /// What the state is, as a sentence for the user, in English.
    public var message: String {
        switch obstacle {
        case nil where pendingCount == 0: "Everything is saved on the server."
        case nil: "\(Self.changes(pendingCount)) on the way to the server."
        case .paused(.stopped): "Syncing is not running."
        case .paused(.offline): "The device is offline."
        case .paused(.signedOut(let reason)): "No user is signed in: \(reason)".asSentence
        case .paused(.failing(let failure)): failure.errorDescription ?? failure.reason
        case .paused(.superseded): "The server is another one, or has lost data."
        case .quarantined(let numbers):
            "The server fails on \(numbers.count == 1 ? "one change" : "\(numbers.count) changes")."
        case .unreadable(let numbers):
            "\(Self.changes(numbers.count)) from a newer version of the app."
        case .oldLog(let problem):
            "Changes of an earlier server could not be read: \(problem)".asSentence
        }
    }

    /// What the user can do, as a sentence in English; nil if nothing needs to be done.
    public var suggestion: String? {
        switch obstacle {
        case nil, .paused(.stopped): nil
        case .paused(.offline):
            pendingCount == 0
                ? nil : "\(Self.changes(pendingCount)) kept, and sent when there is a connection."
        case .paused(.signedOut): "Sign in again."
        case .paused(.failing(let failure)): failure.recoverySuggestion
        case .paused(.superseded): "Update the app, or ask its maker."
        case .quarantined:
            "Wait for a new version of the app or the server, or give the changes up."
        case .unreadable: "Update the app."
        case .oldLog: "The changes are kept. Update the app, or ask its maker."
        }
    }

    private static func changes(_ count: Int) -> String {
        count == 1 ? "One change is" : "\(count) changes are"
    }
}
