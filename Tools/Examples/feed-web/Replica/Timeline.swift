import Foldback
import FoldbackExamples
import FoldbackUI

/// The feed with the order of its posts: what a device shows.
struct Timeline: Projection, Equatable {
    private(set) var feed = Feed()
    /// The ids of the posts, in the order in which they came.
    private(set) var order: [String] = []
    private(set) var authors: Set<String> = []

    static func keys(touchedBy event: FeedEvent, _ context: EventContext) -> [String] {
        Feed.keys(touchedBy: event, context)
    }

    mutating func apply(_ event: FeedEvent, _ context: EventContext) throws(FeedError) {
        try feed.apply(event, context)
        guard event.did.isPost else { return }
        order.append(context.id())
        authors.insert(event.by)
    }

    /// The posts, also deleted ones, from the newest to the oldest.
    var newestFirst: [(id: String, post: Post)] {
        order.reversed().compactMap { id in feed.posts[id].map { (id, $0) } }
    }
}

/// What reverses an event. Nothing removes a comment or a boost.
extension Timeline: Undoable {
    func inverse(of event: FeedEvent, _ context: EventContext) -> FeedEvent? {
        let action: FeedAction
        switch event.did {
        case .posted, .postedPhoto: action = .deleted(post: context.id())
        case .deleted(let post): action = .restored(post: post)
        case .restored(let post): action = .deleted(post: post)
        case .liked(let post), .unliked(let post):
            let isLiked = feed.posts[post]?.likes.contains(event.by) ?? false
            action = isLiked ? .liked(post: post) : .unliked(post: post)
        case .followed(let name), .unfollowed(let name):
            let isFollowed = feed.followers[name]?.contains(event.by) ?? false
            action = isFollowed ? .followed(name) : .unfollowed(name)
        case .commented, .boosted, .blocked, .unblocked: return nil
        }
        return FeedEvent(by: event.by, did: action)
    }
}

/// What an intent can be about.
extension Timeline: Itemized {
    static func items(
        of event: FeedEvent, _ context: EventContext
    ) -> [ItemReference<String>] {
        switch event.did {
        case .posted, .postedPhoto, .commented: [ItemReference(context.id())]
        case .liked(let post), .unliked(let post): [ItemReference(post, facet: "likes")]
        case .boosted(let post, _): [ItemReference(post, facet: "reach")]
        case .deleted(let post), .restored(let post): [ItemReference(post)]
        case .followed(let name), .unfollowed(let name), .blocked(let name), .unblocked(let name):
            [ItemReference(personItem(name))]
        }
    }

    /// The item of a person. Ids of posts and comments have no colon.
    static func personItem(_ name: String) -> String { "person:\(name)" }
}

/// What a row of the list shows: a post or a comment.
struct FeedItem: Identifiable, Equatable, Sendable {
    enum Kind: String, Sendable {
        case post, comment
        /// The place of a deleted post.
        case gone
    }

    let id: String
    let kind: Kind
    /// The post, or the post of the comment.
    let post: String
    let by: String
    let text: String
    var likers: [String] = []
    var commentCount = 0
    var reach = 0
    var photo: String?
    /// Whether the post is deleted. The item then only shows what became of somebody's work on it.
    var isGone = false
}

extension FeedItem {
    init(id: String, _ post: Post) {
        self.init(
            id: id, kind: .post, post: id, by: post.by, text: post.text,
            likers: post.likes.sorted(), commentCount: post.comments.count, reach: post.reach,
            photo: post.photo)
    }

    /// The place of a deleted post.
    init(deleted id: String, _ post: Post) {
        self.init(
            id: id, kind: .gone, post: id, by: post.by, text: "This post is deleted.",
            isGone: true)
    }

    init(_ comment: Comment, of post: String, isGone: Bool = false) {
        self.init(
            id: comment.id, kind: .comment, post: post, by: comment.by, text: comment.text,
            isGone: isGone)
    }
}
