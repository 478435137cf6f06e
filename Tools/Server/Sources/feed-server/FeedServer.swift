import Foldback
import FoldbackExamples
import FoldbackServer
import FoldbackSync
import Serving

/// A server of a feed, with rules of its own: users act in their own name, and delete their own posts.
@main
struct FeedServer: ServerTool {
    static func rules(_ access: SpaceAccess) -> FeedRules { FeedRules() }
}

struct FeedRules: Rules {
    func decide(
        _ intent: Submission<FeedEvent>, by account: Account, on feed: Feed, at time: Timestamp
    ) -> Ruling<FeedEvent> {
        // Strings that look alike can be equal for Swift. Accounts are equal byte by byte.
        guard ExactString(intent.event.by) == account.name else {
            return .reject(Rejection(code: "forbidden", message: "This is not your name."))
        }
        if case .deleted(let post) = intent.event.did, let author = feed.posts[post]?.by,
            ExactString(author) != account.name
        {
            return .reject(Rejection(code: "forbidden", message: "This post is \(author)'s."))
        }
        return .accept
    }

    func access(of account: Account, to space: SpaceName) async -> Bool { true }

    func shows(_ event: FeedEvent, to account: Account) -> Bool { !event.did.isPrivate }
}
