import Foldback
import FoldbackUI

/// The feed of the product's first page.
struct FrontPage: Projection, Itemized, Codable {
    struct Post: Codable, Sendable, Equatable, Identifiable {
        let id: String
        let text: String
        var likes = 0
    }

    enum Event: Codable, Sendable { case posted(text: String), liked(post: String) }
    private(set) var posts: [String: Post] = [:]

    mutating func apply(_ event: Event, _ context: EventContext) throws {
        switch event {
        case .posted(let text): posts[context.id()] = Post(id: context.id(), text: text)
        case .liked(let post): posts[post]?.likes += 1
        }
    }

    static func items(of event: Event, _ context: EventContext) -> [ItemReference<String>] {
        switch event {
        case .posted: [ItemReference(context.id())]
        case .liked(let post): [ItemReference(post)]
        }
    }

    /// The posts, newest first.
    var newest: [Post] { posts.values.sorted { $0.id > $1.id } }
}

typealias Post = FrontPage.Post
