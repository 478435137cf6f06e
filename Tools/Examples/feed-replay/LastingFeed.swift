import Foldback
import FoldbackExamples

/// The feed under a changed rule: posts cannot be deleted. `rerun` compares it with the feed.
struct LastingFeed: Projection {
    var feed = Feed()

    static func keys(touchedBy event: FeedEvent, _ context: EventContext) -> [String] {
        Feed.keys(touchedBy: event, context)
    }

    mutating func apply(_ event: FeedEvent, _ context: EventContext) throws {
        switch event.did {
        case .deleted, .restored: break
        case .posted, .postedPhoto, .liked, .unliked, .commented, .boosted, .followed,
            .unfollowed, .blocked, .unblocked:
            try feed.apply(event, context)
        }
    }
}

extension LastingFeed: CustomReflectable {
    /// The feed's mirror, so that `rerun` compares the two place by place.
    var customMirror: Mirror { Mirror(reflecting: feed) }
}

/// The number of posts by each author, as rows.
enum PostsByAuthor: StoredProjection {
    static let counts = RowTable("posts by author", key: String.self, row: Int.self)
    static let schema = RowSchema(counts)

    static func apply(
        _ event: FeedEvent, _ context: EventContext, to rows: inout TouchedRows
    ) throws {
        switch event.did {
        case .posted, .postedPhoto: break
        case .deleted, .restored, .liked, .unliked, .commented, .boosted, .followed, .unfollowed,
            .blocked, .unblocked:
            return
        }
        try rows.update(event.by, in: counts, default: 0) { $0 += 1 }
    }
}
