import Foldback
import FoldbackExamples
import FoldbackServer
import FoldbackSync
import Foundation

@testable import feed_web

/// Returns the id of an intent.
func intent(_ replica: String, _ number: UInt64) -> IntentID {
    guard let replica = ReplicaID(replica) else {
        preconditionFailure("\(replica) is not a replica id")
    }
    return IntentID(replica: replica, number: IntentNumber(number))
}

/// Returns the event of a user.
func event(_ user: String, _ action: FeedAction) -> FeedEvent {
    FeedEvent(by: user, did: action)
}

extension FeedAuthority {
    /// An authority without seeds, with its files in a folder.
    ///
    /// - Parameter lost: what to do when the files are lost.
    init(in folder: Folder, lost: @escaping @Sendable () -> Void = {}) async throws {
        try await self.init(
            at: folder.url.appending(path: "authority"), seeds: [], clock: .system,
            lost: { _ in lost() })
    }

    /// Decides on an intent of a user, whose name the replica has.
    @discardableResult
    func decide(
        _ user: String, _ number: UInt64, _ action: FeedAction, _ ruling: StageRuling = .byRules
    ) async throws -> Verdict<FeedEvent> {
        try await decide(
            Submission(intent(user, number), event(user, action)), by: Account(user)!, ruling)
    }
}

extension Verdict {
    /// The position of the effect, if the intent is accepted.
    var position: Position? {
        if case .accepted(let position, _) = self { position } else { nil }
    }

    /// Why the intent is rejected, if it is.
    var reason: String? {
        if case .rejected(let rejection) = self { rejection.message } else { nil }
    }
}

/// A folder that is removed with this value.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "feed-web-\(UUID())")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

extension ScreenContent {
    /// The content of a screen on which nothing happens.
    static func sample(signedIn: Bool = true) -> ScreenContent {
        ScreenContent(
            feed: WireFeed(
                busy: false, empty: false, error: nil, edges: .init(start: "end", end: "end")),
            waits: [:], blocked: [], people: [:], known: [], chart: [], signedIn: signedIn,
            account: WireAccount(
                pending: 0, rejected: 0, accepted: 0, conflicted: 0, paused: nil,
                sync: "Everything is saved on the server."),
            log: WireLog(last: 0, lanes: []), undo: WireUndo(undo: nil, redo: nil),
            stage: WireStage(
                holding: false, held: [], offline: [], rejectNext: false,
                delay: 0, clock: "manual", now: 0, replicas: ["mia"], restarts: 0, pid: 1,
                head: 1, lineage: "a"))
    }
}
