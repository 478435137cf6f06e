import Foldback
import FoldbackExamples
import FoldbackUI

/// The list of the feed: posts from the newest to the oldest, each with its comments.
struct FeedList: Sendable {
    /// The ids of posts that are shown before their content is known.
    var opened: [String] = []
    /// Whether there may be posts that the device does not know yet.
    var isLoading = true

    static let section = "feed"
    private static let placeholderCount = 8

    func build(_ list: inout FeedSnapshot.Builder, _ timeline: Timeline) {
        list.section(Self.section)
        list.known(ids: opened.filter { timeline.feed.posts[$0] == nil })
        let ghosts = Dictionary(grouping: list.ghosts, by: \.post)
        for ghost in list.ghosts where timeline.feed.posts[ghost.post] == nil { list.ghost(ghost) }
        for (id, post) in timeline.newestFirst {
            let ghosts = ghosts[id] ?? []
            if !post.isDeleted {
                list.items([FeedItem(id: id, post)])
                list.items(post.comments.map { FeedItem($0, of: id) })
            } else if !ghosts.isEmpty {
                // The work of the person stays where it was done.
                list.ghost(FeedItem(deleted: id, post))
            }
            for ghost in ghosts where ghost.id != id { list.ghost(ghost) }
        }
        if isLoading, timeline.order.isEmpty { list.placeholders(count: Self.placeholderCount) }
    }

    /// The row of a hidden intent, so that its text does not vanish (U32). An intent without a text
    /// has a row only if its post is deleted. Else the post has its mark.
    static func ghost(of intent: HiddenIntent<FeedEvent>, in timeline: Timeline) -> FeedItem? {
        let event = intent.event
        switch event.did {
        case .posted(let text): return FeedItem(id: intent.id(), Post(by: event.by, text: text))
        case .postedPhoto(let text, let color):
            return FeedItem(id: intent.id(), Post(by: event.by, text: text, photo: color))
        case .commented(let post, let text):
            return FeedItem(
                Comment(id: intent.id(), by: event.by, text: text), of: post,
                isGone: timeline.deleted(post) != nil)
        case .deleted(let post), .restored(let post), .liked(let post), .unliked(let post),
            .boosted(let post, _):
            return timeline.deleted(post).map { FeedItem(deleted: post, $0) }
        case .followed, .unfollowed, .blocked, .unblocked: return nil
        }
    }
}

extension Timeline {
    /// The deleted post with an id; nil if there is none.
    fileprivate func deleted(_ id: String) -> Post? {
        feed.posts[id].flatMap { $0.isDeleted ? $0 : nil }
    }
}
