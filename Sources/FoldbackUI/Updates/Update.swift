import Foldback

/// What changed for a view between two moments of a store.
struct Update: Sendable {
    /// The state that the reader of the updates had before.
    var base: PublishedState
    var published: PublishedState
    var isViewChanged: Bool
    var isConfirmedChanged: Bool
    /// The present statuses of the items whose marks changed.
    var statuses: [AnyItemID: ItemStatus]
    /// The marks of all rejected intents; nil if they did not change.
    var rejections: [IntentMark]?
    /// The intents that the server rejected in between, in log order.
    var news: [RejectedIntent]
    var condition: StoreCondition
    /// Shows the parts of rows that changed.
    var parts: [PartID: ShowPart] = [:]
    /// Shows the lists that changed, each with its difference from the list that the receiver has.
    var lists: [PartID: ShowPart] = [:]

    var isEmpty: Bool {
        base.sequence == published.sequence && statuses.isEmpty && rejections == nil
            && parts.isEmpty && lists.isEmpty
    }

    /// Adds the next update, which begins with the same base.
    mutating func append(_ next: Update) {
        published = next.published
        isViewChanged = next.isViewChanged
        isConfirmedChanged = next.isConfirmedChanged
        statuses.merge(next.statuses) { $1 }
        rejections = next.rejections ?? rejections
        news += next.news
        condition = next.condition
        parts.merge(next.parts) { $1 }
        lists.merge(next.lists) { $1 }
    }
}

extension Update {
    /// An update of a store that is gone, to its last state.
    ///
    /// - Parameter equal: whether the two states are known to be equal.
    init(
        closedAt last: PublishedState, from shown: PublishedState,
        _ equal: (views: Bool, confirmed: Bool)
    ) {
        self.init(
            base: shown, published: last, isViewChanged: !equal.views,
            isConfirmedChanged: !equal.confirmed, statuses: [:], rejections: nil, news: [],
            condition: .closed)
    }
}

/// An intent that the server has rejected.
struct RejectedIntent: Sendable {
    let recorded: RecordedIntent
    let rejection: Rejection
}

/// The state of a store, as a view shows it.
public enum StoreCondition: Equatable, Sendable {
    /// The store takes commands.
    case open
    /// A write failed, so the store refuses commands until it is opened again (L6). Views stay.
    case latched(StorageFailure)
    /// The store found damage in the log's file after opening, so it refuses commands (L5). Opening
    /// it again does not help. Views stay.
    case damaged(reason: String)
    /// The marks of some intents cannot be read from the log, and are left out. Views stay.
    case unreadable(reason: String)
    /// The store is closed. The last view stays.
    case closed
}

extension StoreCondition {
    /// The condition of a store that this failure has latched.
    init(latchedBy failure: StorageFailure) {
        self = failure.isPageFinding ? .damaged(reason: failure.detail) : .latched(failure)
    }
}
