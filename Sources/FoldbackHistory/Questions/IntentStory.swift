import Foldback

/// The story of an intent: its entries, its state, and how it changed the view. See
/// ``LogReader/story(of:in:also:)``.
public struct IntentStory<Event: Sendable>: Sendable {
    public let number: IntentNumber
    /// The present state.
    public let state: IntentState
    /// The entry that recorded the intent, the entries that concern it, and the entries that
    /// started or ended a conflict of it, oldest first.
    public let chapters: [Chapter]
    /// The attempts to send the intent, if it is pending and was sent.
    public let attempt: Attempt?

    /// One entry, and what it changed.
    public struct Chapter: Sendable {
        public let entry: LogEntry<Event>
        /// The state of the intent in the overlay after the entry; nil if the intent is not there.
        public let state: IntentState?
        /// Why the intent in the overlay does not apply; nil if it applies.
        public let conflict: String?
        /// Where the view differs from the view before the entry.
        public let changes: [JSONDifference]
        /// Later intents of the overlay whose effect changed because of the entry.
        public let others: [ChangedIntent]
    }

    /// A later intent of the overlay, with its effect before and after the entry.
    public struct ChangedIntent: Sendable, Hashable {
        public let number: IntentNumber
        public let old: Effect
        public let new: Effect
    }

    /// The effect of folding an intent after the intents before it.
    public enum Effect: Sendable, Hashable {
        /// The intent does not apply, for this reason.
        case conflicted(String)
        case changes([JSONDifference])
    }
}

extension LogReader {
    /// Returns the story of an intent: the entries that recorded and answered it, what each of them
    /// changed in the view, and the later intents whose effects changed because of them.
    ///
    /// - Parameters:
    ///   - number: the intent.
    ///   - projection: the projection whose view is compared.
    ///   - also: the log's other projections; see ``replay(_:also:from:)``.
    /// - Complexity: folds the log twice, and the overlay twice more for each entry of the story.
    /// - Throws: `.unknownIntent`; `.compactedIntent` if a compaction has removed its entries;
    ///   `.lacksProjections`, `.damaged`, `.newerFormat`, `.closed`,
    ///   `.storage`.
    public func story<P: Projection>(
        of number: IntentNumber, in projection: P.Type,
        also: [AdditionalProjection<P.Event>] = []
    ) throws(LogError) -> IntentStory<P.Event> {
        let (state, places) = try outline(of: number, in: projection, also)
        var chapters: [IntentStory<P.Event>.Chapter] = []
        var replay = try replay(projection, also: also)
        for previous in places {
            while replay.sequence < previous, try replay.nextRecord() != nil {}
            let before = replay.snapshot
            guard let entry = try replay.next() else { break }
            let after = replay.snapshot
            chapters.append(
                IntentStory.Chapter(
                    entry: entry,
                    state: after.overlay.first { $0.id.number == number }?.state,
                    conflict: after.conflict(of: number),
                    changes: before.view.differences(to: after.view),
                    others: Self.changedIntents(
                        from: before.effects(after: number), to: after.effects(after: number))))
        }
        return IntentStory(
            number: number, state: state, chapters: chapters, attempt: try attempts()[number])
    }

    /// Returns the present state of the intent, and the sequence before each entry of the story. No
    /// snapshot is kept, so the next entry need not copy the states.
    private func outline<P: Projection>(
        of number: IntentNumber, in projection: P.Type, _ also: [AdditionalProjection<P.Event>]
    ) throws(LogError) -> (state: IntentState, places: [LogSequence]) {
        var places: [LogSequence] = []
        var replay = try replay(projection, also: also)
        // The entry of an old intent may be before the base of a compacted log.
        var id = replay.snapshot.overlay.first { $0.id.number == number }?.id
        var (previous, wasConflicted) = (replay.sequence, false)
        while let entry = try replay.next() {
            if id == nil, case .intent(let intent) = entry.content, intent.number == number {
                id = IntentID(replica: entry.replica, number: number)
            }
            if let id {
                let isConflicted = replay.snapshot.conflict(of: number) != nil
                if entry.concerns(id) || isConflicted != wasConflicted { places.append(previous) }
                wasConflicted = isConflicted
            }
            previous = replay.sequence
        }
        guard id != nil else {
            guard let base = log.base, number < base.nextNumber else {
                throw .unknownIntent(number)
            }
            throw .compactedIntent(number, try settlement(of: number) ?? .pending)
        }
        var state = replay.snapshot.overlay.first { $0.id.number == number }?.state
        if state == nil { state = try settlement(of: number) }
        guard let state else {
            throw .damaged(
                path: log.path, sequence: nil,
                reason: "intent \(number) should be in the overlay and is not")
        }
        return (state, places)
    }

    /// Returns the intents that are in both overlays, with different effects.
    static func changedIntents<Event>(
        from old: [IntentNumber: IntentStory<Event>.Effect],
        to new: [IntentNumber: IntentStory<Event>.Effect]
    ) -> [IntentStory<Event>.ChangedIntent] {
        old.keys.sorted().compactMap { number in
            guard let old = old[number], let new = new[number], old != new else { return nil }
            return IntentStory.ChangedIntent(number: number, old: old, new: new)
        }
    }
}

extension Snapshot {
    /// Returns the effect of each folded intent of the overlay after `number`.
    func effects(
        after number: IntentNumber
    ) -> [IntentNumber: IntentStory<P.Event>.Effect] {
        var effects: [IntentNumber: IntentStory<P.Event>.Effect] = [:]
        var state = confirmed
        for intent in overlay where !intent.isConfirmOnly {
            guard conflict(of: intent.id.number) == nil, let event = intent.event else {
                if intent.id.number > number {
                    effects[intent.id.number] = .conflicted(conflict(of: intent.id.number) ?? "")
                }
                continue
            }
            let context = EventContext(.intent(intent.id))
            var next = state
            do { try next.apply(event, context) } catch { continue }
            if intent.id.number > number {
                let places = P.tracedPlaces(of: event, context)
                effects[intent.id.number] = .changes(state.differences(to: next, at: places))
            }
            state = next
        }
        return effects
    }
}

extension Projection {
    /// Returns the places where `new` differs from this state.
    ///
    /// - Parameter places: the places that may differ; nil means any place.
    package func differences(
        to new: Self, at places: [JSONPointer]? = nil
    ) -> [JSONDifference] {
        var found: [JSONDifference] = []
        guard let places else {
            guard let parts = differingParts(to: new) else {
                return JSON(describing: self).differences(to: JSON(describing: new))
            }
            for part in parts { JSON.compare(part.old, part.new, at: part.place, &found) }
            return found
        }
        // In one order, because effects are compared as lists, and places may come from a set.
        for place in places.sorted() {
            JSON.compare(shown(at: place), new.shown(at: place), at: place, &found)
        }
        return found
    }
}
