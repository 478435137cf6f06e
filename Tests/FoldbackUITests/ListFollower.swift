import FoldbackUI

/// A consumer of a list that must not skip an update: it has the first list with all differences
/// since (U25).
@MainActor final class ListFollower {
    private(set) var snapshot: NoteList
    private var subscription: ListSubscription?

    /// - Parameter updated: called after each update, with the reason if its difference did not lead
    ///   to its snapshot.
    init(
        _ list: ListModel<String, Note>,
        updated: @escaping @MainActor (ListUpdate<String, Note>, String?) -> Void
    ) {
        snapshot = list.snapshot
        subscription = list.listen { [unowned self] update in
            updated(update, apply(update.difference, expecting: update.snapshot))
        }
    }

    private func apply(_ difference: NoteDifference, expecting next: NoteList) -> String? {
        do throws(ListError) {
            snapshot = try difference.applied(to: snapshot)
        } catch {
            return error.description
        }
        return snapshot == next ? nil : "\(difference) leads to another list"
    }
}
