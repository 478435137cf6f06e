/// The events that an entry added to the states or took out of them; nil means any events.
///
/// A projection says what its events touch. So these events say which keys and places of its
/// states may have changed, whatever the projection is.
package struct TouchedEvents: Sendable {
    package var view: [Folded]? = []
    package var confirmed: [Folded]? = []

    package static let anything = TouchedEvents(view: nil, confirmed: nil)

    package var isViewTouched: Bool { view?.isEmpty != true }
    package var isConfirmedTouched: Bool { confirmed?.isEmpty != true }

    /// Creates the events of an entry that changes nothing.
    package init() {}

    private init(view: [Folded]?, confirmed: [Folded]?) {
        self.view = view
        self.confirmed = confirmed
    }
}

/// Finds the events that each entry adds to the states or takes out of them.
///
/// The tracker follows the fold plan, so its cost is in proportion to the cost of the fold. An
/// entry that only moves the border between confirmed state and the overlay adds its events to
/// confirmed state alone. If an entry makes the overlay fold again from an intent, it takes out all
/// intents from there on as they were before, and adds them as they are now.
package struct TouchTracker: Sendable {
    /// The events of the overlay's optimistic intents, as the view has them.
    private var ofIntents = NumberMap<IntentNumber, Folded>()
    /// Which projections share their conflicts. If any do, an intent that the view left out can
    /// come into it when it is confirmed.
    private let shared: SharedConflicts
    /// The intents that were undone. If one that the view left out is confirmed, what undoes it comes
    /// into the view (F21).
    private var undone: Set<IntentNumber> = []

    /// Creates the tracker of a fold, for the entries after it.
    package init(_ fold: LogFold) {
        shared = fold.shared
        undone = Set(fold.state.undoneBy.keys)
        for (number, intent) in fold.state.overlay { ofIntents[number] = intent.folded }
    }

    /// Returns the events that an entry touches.
    ///
    /// - Parameters:
    ///   - plan: the fold plan of the entry.
    ///   - overlay: the overlay after the entry.
    ///   - sequences: the entry before, and the entry.
    package mutating func take(
        _ plan: FoldPlan, _ overlay: Overlay, _ sequences: (before: LogSequence, now: LogSequence)
    ) -> TouchedEvents {
        var found = TouchedEvents()
        found.confirmed = plan.confirm
        if case .apply(let intent) = plan.view, let number = intent.recorded.terms.undoes {
            undone.insert(number)
        }
        let mayBringMore = !shared.isEmpty || plan.removed.contains(where: undone.contains)
        switch plan.view {
        case .unchanged where !mayBringMore || plan.confirm.isEmpty: break
        case .apply(let intent):
            guard let folded = intent.folded else { break }
            ofIntents[intent.recorded.number] = folded
            found.view = [folded]
        case .rollBack(let number), .replace(let number, _):
            found.view = plan.confirm + takeAgain(from: number, overlay)
        case .rebase, .unchanged:
            found.view = plan.confirm + takeAgain(from: 0, overlay)
        }
        for number in plan.removed { ofIntents[number] = nil }
        // With another period, every view may change.
        if shared.changes(after: sequences.before, upTo: sequences.now) { found.view = nil }
        return found
    }

    /// Returns the events of all intents from `number` on, before and after the entry.
    private mutating func takeAgain(
        from number: IntentNumber, _ overlay: Overlay
    ) -> [Folded] {
        var found: [Folded] = []
        for (_, folded) in ofIntents.from(number) { found.append(folded) }
        ofIntents.removeAll(from: number)
        for (number, intent) in overlay.from(number) {
            guard let folded = intent.folded else { continue }
            ofIntents[number] = folded
            found.append(folded)
        }
        return found
    }
}

extension UnsettledIntent {
    /// The event as the view folds it; nil for a confirm-only intent, which it does not fold.
    fileprivate var folded: Folded? {
        guard isOptimistic else { return nil }
        return Folded(payload: payload, context: EventContext(.intent(recorded.id)))
    }
}
