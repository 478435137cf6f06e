import Foldback
import FoldbackExamples
import FoldbackServer
import FoldbackSync

/// What the server decides about the feed, and who may see what.
struct FeedRules: Rules {
    let choices = Choices()

    func decide(
        _ intent: Submission<FeedEvent>, by account: Account, on feed: Feed, at time: Timestamp
    ) -> Ruling<FeedEvent> {
        let sent = intent.event
        var action = sent.did
        switch choices.ruling(on: intent.id) {
        case .byRules: break
        case .reword(let words): action = action.saying(words)
        case .reject(let reason): return .reject(Rejection(code: "staged", message: reason))
        }
        guard sent.by == account.description || account == .server else {
            return Self.forbidden("This device is not \(sent.by)'s.")
        }
        switch action {
        case .deleted(let post), .restored(let post):
            guard let author = feed.posts[post]?.by, author != sent.by else { break }
            return Self.forbidden("This post is \(author)'s.")
        case .boosted(let post, _):
            let likes = feed.posts[post]?.likes.count ?? 0
            action = .boosted(post: post, reach: choices.reach ?? 40 * (1 + likes))
        case .posted, .postedPhoto, .liked, .unliked, .commented, .followed, .unfollowed, .blocked,
            .unblocked:
            break
        }
        let effect = FeedEvent(by: sent.by, did: action)
        return effect == sent ? .accept : .reword(effect)
    }

    private static func forbidden(_ message: String) -> Ruling<FeedEvent> {
        .reject(Rejection(code: "forbidden", message: message))
    }

    /// Everyone with a name may use the feed.
    func access(of account: Account, to space: SpaceName) async -> Bool { true }

    func shows(_ event: FeedEvent, to account: Account) -> Bool {
        !event.did.isPrivate || event.by == account.description
    }
}

extension Account {
    /// The server itself. It writes in the names of all users.
    static let server = Account("authority")!
}

extension Feed {
    /// Returns the author of a post; nil if the post does not exist.
    func author(of post: String) -> String? {
        posts[post].flatMap { $0.isDeleted ? nil : $0.by }
    }
}

extension FeedAction {
    /// The same action with other words, if it has words.
    fileprivate func saying(_ words: String) -> FeedAction {
        switch self {
        case .posted: .posted(words)
        case .postedPhoto(_, let color): .postedPhoto(words, color: color)
        case .commented(let post, _): .commented(post: post, text: words)
        case .deleted, .restored, .liked, .unliked, .boosted, .followed, .unfollowed, .blocked,
            .unblocked:
            self
        }
    }
}
