import Foldback
import FoldbackExamples
import FoldbackServer
import FoldbackSync

/// The connection of one device to the authority, with the delays and faults of the stage.
struct Link: Authority {
    /// The device's user.
    let user: String
    let stage: Stage
    let authority: FeedAuthority
    /// Open once a page has loaded the feed. Until then, only requests of pages bring events.
    let following: Latch

    /// The name of the wait that the current request has, and what to do when the stage holds it; nil
    /// if nobody waits for it. The stage holds only fetches that somebody waits for.
    @TaskLocal static var wait: (name: String, noteHold: @Sendable () -> Void)?

    private var account: Account { Account(user)! }
    private var space: SpaceAuthority<FeedRules> { authority.space.authority(for: account) }

    func submit(
        _ intents: [Submission<FeedEvent>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<FeedEvent> {
        var verdicts: [IntentID: Verdict<FeedEvent>] = [:]
        for intent in intents {
            verdicts[intent.id] = try await verdict(on: intent, from: device)
        }
        return Verdicts(verdicts, lineage: authority.space.lineage, head: authority.space.head)
    }

    private func verdict(
        on intent: Submission<FeedEvent>, from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdict<FeedEvent> {
        let request = StagedRequest(
            id: "\(user)/\(intent.id.number)", by: user, what: intent.event.did.name,
            text: intent.event.did.words(in: authority.feed),
            content: intent.event.did.content)
        let ruling: StageRuling
        if try authority.space.verdict(on: intent.id) != nil {
            // The first verdict stands, so a person has nothing to rule on.
            try await stage.transmit(request)
            ruling = .byRules
        } else {
            ruling = try await stage.admit(request)
        }
        if !ruling.isRejection, let other = try undecidedSubject(of: intent),
            await stage.postpones(intent.id, until: "\(user)/\(other.number)")
        {
            return .later(after: nil, reason: "\(other) has no verdict yet")
        }
        let verdict = try await authority.decide(intent, by: account, ruling, from: device)
        await stage.noteDecision(on: request)
        try await stage.requireAnswer(by: user)
        return verdict
    }

    /// The earlier intent that an intent builds on, if it has no verdict.
    private func undecidedSubject(
        of intent: Submission<FeedEvent>
    ) throws(AuthorityFailure) -> IntentID? {
        guard let other = intent.event.did.subject(by: intent.id.replica),
            other.number < intent.id.number, try authority.space.verdict(on: other) == nil
        else { return nil }
        return other
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<FeedEvent> {
        try await stage.requireOnline(user)
        if let wait = Self.wait {
            let request = StagedRequest(
                id: "\(user)/\(wait.name)", by: user, what: wait.name, text: "Load the feed",
                wait: wait.name)
            let ruling = try await stage.admit(request, noteHold: wait.noteHold)
            if case .reject(let reason) = ruling { throw .unavailable(after: nil, reason: reason) }
        } else {
            await following.wait()
        }
        return try await space.changes(after: device)
    }

    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<FeedEvent> {
        try await stage.requireOnline(user)
        let changes = try await space.changes(after: device, waiting: waiting)
        try await stage.requireOnline(user)
        return changes
    }
}

extension FeedAction {
    /// The action in one word, for the stage and for marks.
    var name: String {
        switch self {
        case .posted: "post"
        case .postedPhoto: "photo"
        case .deleted: "delete"
        case .restored: "restore"
        case .liked: "like"
        case .unliked: "unlike"
        case .commented: "comment"
        case .boosted: "boost"
        case .followed: "follow"
        case .unfollowed: "unfollow"
        case .blocked: "block"
        case .unblocked: "unblock"
        }
    }

    /// The action in words for people.
    fileprivate func words(in feed: Feed) -> String {
        let post = subject.flatMap(feed.author).map { "the post by \($0)" } ?? "a new post"
        switch self {
        case .posted(let text): return "Post: \(text)"
        case .postedPhoto(let text, _): return "Photo: \(text)"
        case .commented(_, let text): return "Comment on \(post): \(text)"
        case .deleted, .restored, .liked, .unliked, .boosted: return "\(name.capitalized) \(post)"
        case .followed(let person), .unfollowed(let person), .blocked(let person),
            .unblocked(let person):
            return "\(name.capitalized) \(person)"
        }
    }

    /// The words that people have written; nil if there are none.
    var content: String? {
        switch self {
        case .posted(let text), .postedPhoto(let text, _), .commented(_, let text): text
        case .deleted, .restored, .liked, .unliked, .boosted, .followed, .unfollowed, .blocked,
            .unblocked:
            nil
        }
    }

    /// Whether the action makes a post.
    var isPost: Bool { content != nil && subject == nil }

    /// The post that the action is about, if it must be there.
    var subject: String? {
        switch self {
        case .deleted(let post), .restored(let post), .liked(let post), .unliked(let post),
            .boosted(let post, _), .commented(let post, _):
            post
        case .posted, .postedPhoto, .followed, .unfollowed, .blocked, .unblocked: nil
        }
    }

    /// The intent that made the post that the action is about, if it is an intent of the replica.
    fileprivate func subject(by replica: ReplicaID) -> IntentID? {
        guard let parts = subject?.split(separator: "."), parts.count == 3,
            parts[0] == replica.description, let number = UInt64(parts[1])
        else { return nil }
        return IntentID(replica: replica, number: IntentNumber(number))
    }
}
