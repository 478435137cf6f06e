import Foldback

/// What became of an intent, and what it did to the view: ``LogReader/story(of:in:)``.
public struct IntentStory<Event: Sendable>: Sendable {
    public let number: IntentNumber
    /// By now.
    public let state: IntentState
    /// Its own entry, all that say something of it, and those behind which it came to be conflicted or no longer
    /// was, oldest first.
    public let chapters: [Chapter]
    /// What is known of sending it, where it is pending.
    public let attempt: Attempt?

    /// One entry, and what was otherwise behind it.
    public struct Chapter: Sendable {
        public let entry: LogEntry<Event>
        /// Nil before it was recorded, and once no entry of this log can say more of it.
        public let state: IntentState?
        /// Why the intent, in the overlay, does not apply; nil where it does.
        public let conflict: String?
        /// Where the view differs from that before the entry.
        public let changes: [JSONDifference]
        /// Later intents in the overlay that came out otherwise because of the entry.
        public let others: [ChangedIntent]
    }

    /// A later intent of the overlay.
    public struct ChangedIntent: Sendable, Hashable {
        public let number: IntentNumber
        public let old: Effect
        public let new: Effect
    }

    /// What folding an intent over those before it does.
    public enum Effect: Sendable, Hashable {
        /// It does not apply, and why.
        case conflicted(String)
        case changes([JSONDifference])
    }
}

extension LogReader {
    /// When and with what an intent was recorded, by whom and why it was answered, what the view showed
    /// otherwise behind each of these entries, and which later intents came out differently because of it.
    ///
    /// - Complexity: folds the log twice; behind each entry that concerns the intent, the overlay twice more.
    /// - Throws: `.unknownIntent`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func story<P: Projection>(
        of number: IntentNumber, in projection: P.Type
    ) throws(FoldbackError) -> IntentStory<P.Event> {
        let (state, places) = try outline(of: number, in: projection)
        var chapters: [IntentStory<P.Event>.Chapter] = []
        var replay = try replay(projection)
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
                    others: Self.outcomes(behind: number, before, after)))
        }
        return IntentStory(
            number: number, state: state, chapters: chapters, attempt: try attempts()[number])
    }

    /// What the intent is by now; and behind which sequences the entries come that are told of. No state is kept, so
    /// that the next entry need not copy it.
    private func outline<P: Projection>(
        of number: IntentNumber, in projection: P.Type
    ) throws(FoldbackError) -> (state: IntentState, places: [LogSequence]) {
        var places: [LogSequence] = []
        var replay = try replay(projection)
        var id: IntentID?
        var (previous, wasConflicted) = (replay.sequence, false)
        while let entry = try replay.next() {
            if id == nil, case .intent(number, _, _, _, _) = entry.content {
                id = IntentID(replica: entry.replica, number: number)
            }
            if let id {
                let isConflicted = replay.snapshot.conflict(of: number) != nil
                if entry.concerns(id) || isConflicted != wasConflicted { places.append(previous) }
                wasConflicted = isConflicted
            }
            previous = replay.sequence
        }
        guard id != nil else { throw .unknownIntent(number) }
        var state = replay.snapshot.overlay.first { $0.id.number == number }?.state
        if state == nil { state = try verdict(of: number) }
        guard let state else {
            throw .damaged(
                path: log.path, sequence: nil,
                reason: "intent \(number) should be in the overlay and is not")
        }
        return (state, places)
    }

    private static func outcomes<P: Projection>(
        behind number: IntentNumber, _ before: Snapshot<P>, _ after: Snapshot<P>
    ) -> [IntentStory<P.Event>.ChangedIntent] {
        let old = before.effects(behind: number)
        let new = after.effects(behind: number)
        return old.keys.sorted().compactMap { number in
            guard let old = old[number], let new = new[number], old != new else { return nil }
            return IntentStory.ChangedIntent(number: number, old: old, new: new)
        }
    }
}

extension Snapshot {
    /// What each folded intent of the overlay behind `number` does, over those before it.
    fileprivate func effects(
        behind number: IntentNumber
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
                let places = P.places(touchedBy: event, context)
                effects[intent.id.number] = .changes(state.differences(to: next, at: places))
            }
            state = next
        }
        return effects
    }
}

extension Projection {
    /// - Parameter places: where they may differ; nil: anywhere.
    package func differences(
        to new: Self, at places: [JSONPointer]? = nil
    ) -> [JSONDifference] {
        guard let places else {
            return JSON(describing: self).differences(to: JSON(describing: new))
        }
        var found: [JSONDifference] = []
        for place in places {
            JSON.compare(shown(at: place), new.shown(at: place), at: place, &found)
        }
        return found
    }
}
