import FoldbackExamples
import FoldbackReplay
import FoldbackServer

/// An example of a replay tool over a server's log: the decisions of `feed-web`, also beside the log of
/// a device.
@main
struct FeedDecisions: ReplayTool {
    static let projections = [
        ReplayProjection(Decided<Feed>.self), ReplayProjection(DecisionIndex<Feed>.self),
        ReplayProjection(Feed.self),
    ]
}
