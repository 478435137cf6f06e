import FoldbackExamples
import FoldbackReplay

/// What an app's own replay tool is: here over the feed of the demo.
@main
struct FeedReplay: ReplayTool {
    static let projections = [ReplayProjection(Feed.self), ReplayProjection(PostsByAuthor.self)]
    static let reruns = [
        ReplayComparison("posts that stay", old: Feed.self, new: LastingFeed.self)
    ]
}
