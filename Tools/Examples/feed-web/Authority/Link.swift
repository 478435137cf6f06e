import Foldback
import FoldbackExamples
import FoldbackSync

/// The connection of one device to the authority, with the delays and faults of the stage.
struct Link: Authority {
    /// The device's user.
    let user: String
    let stage: Stage
    let authority: FeedAuthority

    /// The name of the wait that the current request has; nil if nobody waits for it. The stage
    /// holds only fetches that somebody waits for.
    @TaskLocal static var wait: String?

    private static let eventsPerPageMax = 256

    func submit(
        _ intents: [Submission<FeedEvent>], from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<FeedEvent> {
        try requireShared(device)
        var verdicts: [IntentID: Verdict<FeedEvent>] = [:]
        for intent in intents { verdicts[intent.id] = try await verdict(on: intent) }
        return Verdicts(verdicts, lineage: authority.ledger.lineage, head: authority.head)
    }

    private func verdict(
        on intent: Submission<FeedEvent>
    ) async throws(AuthorityFailure) -> Verdict<FeedEvent> {
        let request = StagedRequest(
            id: "\(user)/\(intent.id.number)", by: user, what: intent.event.did.name,
            text: intent.event.did.words(in: authority.ledger),
            content: intent.event.did.content)
        let ruling: FeedAuthority.Ruling
        if authority.ledger.hasDecided(intent.id) {
            // The first verdict stands, so a person has nothing to rule on.
            try await stage.transmit(request)
            ruling = .byRules
        } else {
            ruling = try await stage.admit(request)
        }
        if !ruling.isRejection, let other = undecidedSubject(of: intent),
            await stage.postpones(intent.id, until: "\(user)/\(other.number)")
        {
            return .later(after: nil, reason: "\(other) has no verdict yet")
        }
        let verdict = try await authority.decide(intent.id, intent.event, ruling)
        await stage.noteDecision(on: request)
        try await stage.requireAnswer(by: user)
        switch verdict {
        case .accepted(let position, let replacement):
            return .accepted(position: position, replacement: replacement.map { .event($0) })
        case .rejected(let rejection): return .rejected(rejection)
        }
    }

    /// The earlier intent that an intent builds on, if it has no verdict.
    private func undecidedSubject(of intent: Submission<FeedEvent>) -> IntentID? {
        guard let other = intent.event.did.subject(by: intent.id.replica),
            other.number < intent.id.number, !authority.ledger.hasDecided(other)
        else { return nil }
        return other
    }

    func changes(after device: SyncPoint) async throws(AuthorityFailure) -> Changes<FeedEvent> {
        try requireShared(device)
        try await stage.requireOnline(user)
        if let wait = Self.wait {
            let request = StagedRequest(
                id: "\(user)/\(wait)", by: user, what: wait, text: "Fetch posts", wait: wait)
            if case .reject(let reason) = try await stage.admit(request) {
                throw .unavailable(after: nil, reason: reason)
            }
        }
        return try page(after: device)
    }

    func changes(
        after device: SyncPoint, waiting: Duration
    ) async throws(AuthorityFailure) -> Changes<FeedEvent> {
        try requireShared(device)
        try await stage.requireOnline(user)
        await authority.waitForEvent(for: user, after: device.through, waiting)
        if Task.isCancelled { throw .unreachable(reason: "the task was canceled") }
        try await stage.requireOnline(user)
        return try page(after: device)
    }

    private func page(after device: SyncPoint) throws(AuthorityFailure) -> Changes<FeedEvent> {
        // The head is read first: the ledger then has at least all events up to it.
        let head = authority.head
        let ledger = authority.ledger
        let max = Self.eventsPerPageMax
        let events = ledger.events(for: user, after: device.through, limit: max + 1)
        let page = events.prefix(max).filter { $0.position <= head }
        let hasMore = events.count > max
        return Changes(
            events: page, through: hasMore ? page.last?.position ?? head : head,
            hasMore: hasMore, lineage: ledger.lineage, head: head)
    }

    /// Checks that this authority has everything that the device has from it.
    private func requireShared(_ device: SyncPoint) throws(AuthorityFailure) {
        if let known = device.lineage, known != authority.ledger.lineage {
            throw .superseded(shared: 0)
        }
        let head = authority.head
        guard device.through <= head else { throw .superseded(shared: head) }
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
    fileprivate func words(in ledger: Ledger) -> String {
        let post = subject.flatMap(ledger.author).map { "the post by \($0)" } ?? "a new post"
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
