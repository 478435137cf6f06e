import Foldback
import Synchronization

/// The reader's side of an ``OptimisticModel``: its view and its confirmed state.
final class ViewPart<P: Projection>: Sendable {
    /// Shows the states that are not nil.
    @MainActor weak var model: OptimisticModel<P>?
    let views: Relay<P>
    private let index: Int
    private let confirmed: Relay<P>
    /// The sequence of the states that were sent last.
    private let sentAt: Mutex<LogSequence>

    /// - Parameter published: the state that the model shows at first.
    init(_ published: PublishedState, at index: Int) {
        self.index = index
        let first = Snapshot<P>(published, index)
        views = Relay(first.view, areEqual: isEqual)
        confirmed = Relay(first.confirmed, areEqual: isEqual)
        sentAt = Mutex(published.sequence)
    }

    /// Returns how to show the states of a publication; nil if they are equal to those sent last.
    func show(_ published: PublishedState) -> ShowPart? {
        let last = sentAt.withLock { last in
            defer { last = published.sequence }
            return last
        }
        if last == published.sequence { return nil }
        let next = Snapshot<P>(published, index)
        let areNew = [views.send(next.view), confirmed.send(next.confirmed)]
        guard areNew.contains(true) else { return nil }
        return { [self, view = views.sent, state = confirmed.sent] in
            model?.show(views.show(view), confirmed.show(state))
        }
    }
}

/// Returns whether two values are known to be equal. False if their type has no `==`.
private func isEqual<Value>(_ first: Value, _ second: Value) -> Bool {
    func compared<E: Equatable>(_ first: E) -> Bool { first == second as? E }
    guard let first = first as? any Equatable else { return false }
    return compared(first)
}
