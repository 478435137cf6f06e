import Foldback

/// An action of one user of the feed.
package struct FeedEvent: Codable, Hashable, Sendable {
    /// The user's name; a user may have several devices. A real authority would check that this
    /// user is signed in.
    package let by: String
    package let did: FeedAction

    package init(by: String, did: FeedAction) {
        self.by = by
        self.did = did
    }
}

/// The things that a user can do in the feed.
package enum FeedAction: Codable, Hashable, Sendable {
    case posted(String)
    /// A photo with a text. The example's photos have one color each.
    case postedPhoto(String, color: String)
    case deleted(post: String)
    case restored(post: String)
    case liked(post: String)
    case unliked(post: String)
    case commented(post: String, text: String)
    /// Paid so that more people see the post. The authority decides how many; nil until then.
    case boosted(post: String, reach: Int?)
    case followed(String)
    case unfollowed(String)
    case blocked(String)
    case unblocked(String)

    /// Whether the authority keeps the action from other users.
    package var isPrivate: Bool {
        switch self {
        case .blocked, .unblocked: true
        case .posted, .postedPhoto, .deleted, .restored, .liked, .unliked, .commented, .boosted,
            .followed, .unfollowed:
            false
        }
    }
}

/// Posts with their likes and comments, and the followers of each user.
///
/// The device and the authority use the same projection. They differ when the authority knows more:
/// it sees all blocked users, and a device sees only the users that its own user blocked.
package struct Feed: Projection, Codable, Hashable {
    package var posts: [String: Post] = [:]
    /// The followers by the name of the followed user.
    package var followers: [String: Set<String>] = [:]
    /// The blocked users by the name of the user who blocked them.
    private var blocked: [String: Set<String>] = [:]

    package init() {}

    /// The post or the user that an event is about.
    ///
    /// A comment touches both, because blocked users cannot comment. A new post has its id before
    /// the event is confirmed (F12).
    package static func keys(touchedBy event: FeedEvent, _ context: EventContext) -> [String] {
        switch event.did {
        case .posted, .postedPhoto: [context.id()]
        case .commented(let id, _): [id, event.by]
        case .deleted(let id), .restored(let id), .liked(let id), .unliked(let id),
            .boosted(let id, _):
            [id]
        case .followed(let name), .unfollowed(let name), .blocked(let name), .unblocked(let name):
            [name]
        }
    }

    package mutating func apply(_ event: FeedEvent, _ context: EventContext) throws(FeedError) {
        switch event.did {
        case .posted(let text): posts[context.id()] = Post(by: event.by, text: text)
        case .postedPhoto(let text, let color):
            posts[context.id()] = Post(by: event.by, text: text, photo: color)
        case .deleted(let id): try change(id) { $0.isDeleted = true }
        case .restored(let id): try change(id, isDeleted: true) { $0.isDeleted = false }
        case .liked(let id): try change(id) { $0.likes.insert(event.by) }
        case .unliked(let id): try change(id) { $0.likes.remove(event.by) }
        case .commented(let id, let text):
            try requireUnblocked(event.by, commenting: id)
            try change(id) {
                $0.comments.append(Comment(id: context.id(), by: event.by, text: text))
            }
        case .boosted(let id, let reach):
            guard let reach else {
                throw FeedError(code: .unknown, description: "the reach of \(id) is not known yet")
            }
            let (sum, isTooLarge) = (posts[id]?.reach ?? 0).addingReportingOverflow(reach)
            guard !isTooLarge else {
                throw FeedError(code: .tooLarge, description: "the reach of \(id) is too large")
            }
            try change(id) { $0.reach = sum }
        case .followed(let name): followers[name, default: []].insert(event.by)
        case .unfollowed(let name): followers[name]?.remove(event.by)
        case .blocked(let name): blocked[event.by, default: []].insert(name)
        case .unblocked(let name): blocked[event.by]?.remove(name)
        }
    }

    private func requireUnblocked(_ name: String, commenting id: String) throws(FeedError) {
        guard let author = posts[id]?.by, let names = blocked[author], names.contains(name) else {
            return
        }
        throw FeedError(code: .blocked, description: "\(author) takes no comments from \(name)")
    }

    private mutating func change(
        _ id: String, isDeleted: Bool = false, _ body: (inout Post) -> Void
    ) throws(FeedError) {
        guard var post = posts[id] else {
            throw FeedError(code: .missing, description: "there is no \(id)")
        }
        guard post.isDeleted == isDeleted else {
            let did = post.isDeleted ? "deleted it" : "has not deleted it"
            throw FeedError(code: .deleted, description: "\(post.by) \(did)")
        }
        body(&post)
        posts[id] = post
    }
}

/// A post with its likes and comments.
package struct Post: Codable, Hashable, Sendable {
    package let by: String
    package let text: String
    /// The color of its photo; nil without a photo.
    package var photo: String?
    /// The names of the users who like it.
    package var likes: Set<String> = []
    package var comments: [Comment] = []
    /// How many people saw it because its author paid.
    package var reach = 0
    package var isDeleted = false

    package init(
        by: String, text: String, photo: String? = nil, likes: Set<String> = [],
        comments: [Comment] = [], reach: Int = 0, isDeleted: Bool = false
    ) {
        self.by = by
        self.text = text
        self.photo = photo
        self.likes = likes
        self.comments = comments
        self.reach = reach
        self.isDeleted = isDeleted
    }
}

/// A comment on a post.
package struct Comment: Codable, Hashable, Sendable {
    package let id: String
    package let by: String
    package let text: String

    package init(id: String, by: String, text: String) {
        self.id = id
        self.by = by
        self.text = text
    }
}

/// The reason why an event does not apply to a feed: a code for programs, a description for people.
package struct FeedError: Error, CustomStringConvertible {
    package enum Code: String { case missing, deleted, blocked, unknown, tooLarge }

    package let code: Code
    package let description: String
}
