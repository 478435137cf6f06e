import Foldback

/// What somebody did in the feed.
package struct FeedEvent: Codable, Hashable, Sendable {
    /// The user's name; somebody may have two devices. That it is the one who is signed in would be
    /// for the authority to check, and everybody is honest here.
    package let by: String
    package let did: Deed

    package init(by: String, did: Deed) {
        self.by = by
        self.did = did
    }
}

package enum Deed: Codable, Hashable, Sendable {
    case posted(String)
    case deleted(post: String)
    case restored(post: String)
    case liked(post: String)
    case commented(post: String, text: String)
    /// Paid for being shown to more people. How many is for the authority to say; until then nil.
    case boosted(post: String, reach: Int?)
    case followed(String)
    case blocked(String)
    case unblocked(String)

    /// What is nobody's business but the user's: the authority tells nobody else.
    package var isPrivate: Bool {
        switch self {
        case .blocked, .unblocked: true
        case .posted, .deleted, .restored, .liked, .commented, .boosted, .followed: false
        }
    }
}

/// Posts with their likes and comments, and who follows whom.
///
/// The device and the authority fold the same function. They come to different verdicts where the
/// authority knows more: who has blocked whom.
package struct Feed: Projection, Codable, Hashable {
    package var posts: [String: Post] = [:]
    /// By the name of the one who is followed.
    package var followers: [String: Set<String>] = [:]
    /// By the name of the one who blocked them; on a device, those whom its user blocked.
    private var blocked: [String: Set<String>] = [:]

    package init() {}

    /// The post or the person that an event is about; for a comment both, because who is blocked has a say
    /// in it. What an event makes has an id that is known before anybody has confirmed it (F12).
    package static func keys(touchedBy event: FeedEvent, _ context: EventContext) -> [String] {
        switch event.did {
        case .posted: [context.id()]
        case .commented(let id, _): [id, event.by]
        case .deleted(let id), .restored(let id), .liked(let id), .boosted(let id, _): [id]
        case .followed(let name), .blocked(let name), .unblocked(let name): [name]
        }
    }

    package mutating func apply(_ event: FeedEvent, _ context: EventContext) throws(FeedError) {
        switch event.did {
        case .posted(let text): posts[context.id()] = Post(by: event.by, text: text)
        case .deleted(let id): try change(id) { $0.isDeleted = true }
        case .restored(let id): try change(id, isDeleted: true) { $0.isDeleted = false }
        case .liked(let id): try change(id) { $0.likes.insert(event.by) }
        case .commented(let id, let text):
            try requireUnblocked(event.by, commenting: id)
            try change(id) {
                $0.comments.append(Comment(id: context.id(), by: event.by, text: text))
            }
        case .boosted(let id, let reach):
            guard let reach else {
                throw FeedError(code: .unknown, description: "nobody knows how far \(id) will go")
            }
            try change(id) { $0.reach += reach }
        case .followed(let name): followers[name, default: []].insert(event.by)
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
            throw FeedError(
                code: .deleted, description: post.isDeleted ? "\(id) is gone" : "\(id) is there")
        }
        body(&post)
        posts[id] = post
    }
}

package struct Post: Codable, Hashable, Sendable {
    package let by: String
    package let text: String
    /// The names of those who like it.
    package var likes: Set<String> = []
    package var comments: [Comment] = []
    /// How many people it was shown to for money.
    package var reach = 0
    package var isDeleted = false

    package init(
        by: String, text: String, likes: Set<String> = [], comments: [Comment] = [], reach: Int = 0,
        isDeleted: Bool = false
    ) {
        self.by = by
        self.text = text
        self.likes = likes
        self.comments = comments
        self.reach = reach
        self.isDeleted = isDeleted
    }
}

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

/// Why an event does not apply to a feed: a code for programs, a description for people.
package struct FeedError: Error, CustomStringConvertible {
    package enum Code: String { case missing, deleted, blocked, unknown }

    package let code: Code
    package let description: String
}
