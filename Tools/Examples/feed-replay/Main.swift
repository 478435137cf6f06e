import FoldbackExamples
import FoldbackReplay

/// An example of an app's own replay tool, over the feed of the demo.
@main
struct FeedReplay: ReplayTool {
    static let projections = [ReplayProjection(Feed.self), ReplayProjection(PostsByAuthor.self)]
    static let reruns = [
        ReplayComparison("posts that stay", old: Feed.self, new: LastingFeed.self)
    ]
}
