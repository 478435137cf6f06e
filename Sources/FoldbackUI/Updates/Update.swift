import Foldback

/// A state of a store, and what changed for a view since the update before.
///
/// Everything except the news is absolute. So a receiver that skips updates misses nothing, whichever
/// update it has taken before.
struct Update: Sendable {
    var published: PublishedState
    /// The present statuses of the items whose marks changed.
    var statuses: [AnyItemID: ItemStatus] = [:]
    /// The marks of all rejected intents; nil if they did not change.
    var rejections: [IntentMark]?
    /// The intents that the server rejected since the update before, in log order.
    var news: [RejectedIntent] = []
    var condition: StoreCondition
    /// Shows the view; nil if it did not change.
    var view: ShowPart?
    /// Shows the parts of rows that changed.
    var parts: [PartID: ShowPart] = [:]
    /// Shows the lists that changed.
    var lists: [PartID: ShowPart] = [:]

    /// Returns whether there is nothing new for a receiver that has the state of a sequence, beside
    /// the condition.
    func isEmpty(since sequence: LogSequence?) -> Bool {
        published.sequence == sequence && statuses.isEmpty && rejections == nil && parts.isEmpty
            && lists.isEmpty
    }

    /// Adds the next update.
    mutating func append(_ next: Update) {
        published = next.published
        statuses.merge(next.statuses) { $1 }
        rejections = next.rejections ?? rejections
        news += next.news
        condition = next.condition
        view = next.view ?? view
        parts.merge(next.parts) { $1 }
        lists.merge(next.lists) { $1 }
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
