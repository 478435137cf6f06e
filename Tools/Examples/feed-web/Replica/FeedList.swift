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
        let ghosts = Dictionary(grouping: list.ghosts, by: \.place)
        for ghost in ghosts[.top] ?? [] { list.ghost(ghost) }
        for (id, post) in timeline.newestFirst {
            list.items([FeedItem(id: id, post)])
            list.items(post.comments.map { FeedItem($0, of: id) })
            for ghost in ghosts[.after(post: id)] ?? [] { list.ghost(ghost) }
        }
        if isLoading, timeline.order.isEmpty { list.placeholders(count: Self.placeholderCount) }
    }

    /// The row of a refused intent, so that its text does not vanish (U32).
    static func ghost(of intent: HiddenIntent<FeedEvent>, in timeline: Timeline) -> FeedItem? {
        let event = intent.event
        switch event.did {
        case .posted(let text): return FeedItem(id: intent.id(), Post(by: event.by, text: text))
        case .postedPhoto(let text, let color):
            return FeedItem(id: intent.id(), Post(by: event.by, text: text, photo: color))
        case .commented(let post, let text):
            return FeedItem(Comment(id: intent.id(), by: event.by, text: text), of: post)
        case .deleted, .restored, .liked, .unliked, .boosted, .followed, .unfollowed, .blocked,
            .unblocked:
            return nil
        }
    }
}

/// Where the ghost of an item is.
private enum GhostPlace: Hashable { case top, after(post: String) }

extension FeedItem {
    fileprivate var place: GhostPlace { kind == .post ? .top : .after(post: post) }
}
