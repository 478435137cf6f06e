import FoldbackUI
import Observation

/// A consumer of a list that needs the edits: it has the first list with the differences of all lists
/// since, each from the list that it had (U25).
@MainActor final class ListFollower {
    private(set) var snapshot: NoteList
    private let list: ListModel<String, Note>
    private let shown: @MainActor (String?) -> Void
    private let changed: @MainActor () -> Void
    /// Whether there is a list that it has not compared.
    private var isNotified = false

    /// - Parameters:
    ///   - shown: called for each list that was shown, with the reason if its difference was empty or
    ///     did not lead to it.
    ///   - changed: called a moment after each change.
    init(
        _ list: ListModel<String, Note>, shown: @escaping @MainActor (String?) -> Void,
        changed: @escaping @MainActor () -> Void = {}
    ) {
        (self.list, self.shown, self.changed) = (list, shown, changed)
        snapshot = list.snapshot
        follow()
    }

    private func follow() {
        withObservationTracking {
            _ = list.snapshot
        } onChange: { [weak self] in
            // The observers are called before the change, so the model has the list before.
            MainActor.assumeIsolated { self?.listChanges() }
        }
    }

    private func listChanges() {
        catchUp()
        isNotified = true
        follow()
        // The test that owns this may be over by then.
        Task { [weak self] in
            self?.catchUp()
            self?.changed()
        }
    }

    /// Compares the present list.
    func catchUp() {
        guard isNotified else { return }
        isNotified = false
        let next = list.snapshot
        shown(apply(next.difference(from: snapshot), expecting: next))
    }

    private func apply(_ difference: NoteDifference, expecting next: NoteList) -> String? {
        if difference.isEmpty { return "an equal list was shown: \(next)" }
        do throws(ListError) {
            snapshot = try difference.applied(to: snapshot)
        } catch {
            return error.description
        }
        return snapshot == next ? nil : "\(difference) leads to another list"
    }
}

/// The edits since a list that was shown, such as those that a page has to draw.
@MainActor final class Edits {
    private let list: ListModel<String, Note>
    private var last: NoteList

    init(of list: ListModel<String, Note>) {
        self.list = list
        last = list.snapshot
    }

    /// Returns the edits since the last call.
    func next() -> [String] {
        defer { last = list.snapshot }
        return edits(of: list.snapshot.difference(from: last))
    }
}
