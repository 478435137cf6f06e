/// Attempts to send intents. They are kept beside the log, so they do not change sequence, view or
/// chain (F1).
extension Store {
    /// The attempts of pending intents, by number.
    ///
    /// The answer to an intent removes its attempt, in the same transaction. May be read from any
    /// task, also when the store is closed or latched. O(n) in the pending intents that were ever
    /// sent.
    public var attempts: [IntentNumber: Attempt] {
        Dictionary(uniqueKeysWithValues: core.published.attempts.map { ($0.key, $0.value) })
    }

    /// Returns the attempt to send a pending intent; nil if its sending was never begun, or if it
    /// was answered.
    ///
    /// O(log n), from any task.
    public func attempt(of number: IntentNumber) -> Attempt? {
        core.publication.read { $0.attempts[number] }
    }

    /// Records attempts to send the intents that are still pending; ignores the others.
    ///
    /// After its first attempt, an intent cannot be withdrawn. So only the returned intents may be
    /// sent (F7).
    ///
    /// - Parameter flushes: whether everything that was written so far, the intents included,
    ///   survives a power cut on return, also under `.relaxed` (L2).
    /// - Returns: the numbers of the pending intents, ascending.
    /// - Throws: `.cancelled`, `.closed`, `.usedAfterFork`, `.latched`, `.damaged`, `.storage`, and
    ///   nothing was written. `.outcomeUnknown` if it may have been written (L6).
    package nonisolated(nonsending) func recordAttempts(
        _ attempts: [IntentNumber: Attempt], flushes: Bool
    ) async throws(LogError) -> [IntentNumber] {
        let work = Request.Work.recordAttempts(attempts, flushes: flushes)
        switch try await core.runner.result(ofOwn: work, bytes: attempts.count * 64) {
        case .attempted(let numbers): return numbers
        case let other: preconditionFailure("\(other) is not an outcome of recording attempts")
        }
    }
}

/// What the outbox needs of a log.
extension Store {
    /// Follows the pending intents: all of them once, then the changes to them.
    ///
    /// - Parameter lane: returns the lane of an event (S1); nil if intents have no lanes.
    package func pendingIntents(
        lane: (@Sendable (P.Event) -> String?)? = nil
    ) -> PendingIntents {
        guard let lane else { return PendingIntents(core.publication, lane: nil) }
        return PendingIntents(core.publication) { payload in
            payload.event(as: P.Event.self).flatMap(lane)
        }
    }

    /// Waits until nothing more can be sent or fetched for this log: another caller has found that
    /// the store is latched or the log is superseded.
    ///
    /// - Returns: that error; nil if the store was closed or the task was canceled first.
    package func waitForSyncObstacle() async -> CommandError? {
        await core.publication.next { $0.syncObstacle != nil || $0.isClosed }?.syncObstacle
    }

    /// Returns a pending intent as it was recorded, and its event; nil if the intent is not pending,
    /// or if this code cannot read the event (L5).
    ///
    /// O(log n), from any task.
    package func pendingIntent(
        _ number: IntentNumber
    ) -> (recorded: RecordedIntent, event: P.Event)? {
        let published = core.published
        guard let intent = published.overlay[number], intent.state == .pending,
            published.drafts[number] != .held,
            let event = intent.recorded.payload.event(as: P.Event.self)
        else { return nil }
        return (intent.recorded, event)
    }
}

extension PublishedState {
    /// The number of pending intents.
    package var pendingCount: Int { overlay.count - acceptedCount }

    /// Returns whether an intent is pending. O(log n).
    package func isPending(_ number: IntentNumber) -> Bool { overlay[number]?.state == .pending }
}

/// A pending intent, as the outbox needs it.
package struct PendingIntent: Hashable, Sendable {
    package let number: IntentNumber
    /// The attempt to send it; nil if its sending was never begun.
    package let attempt: Attempt?
    /// Whether this code can read the event (L5).
    package let isReadable: Bool
    /// The bytes of the event as it was recorded.
    package let bytes: Int
    /// Whether it is a draft that is held (F22).
    package let isHeld: Bool
    /// The entry that gives it its place in the order of sending: its own, or its release.
    package let place: LogSequence
    /// The entry that released it; nil unless it is a released draft (F22).
    package let released: LogSequence?
    /// The pending intents that must have an answer before it is sent, because they are drafts, or
    /// wait for drafts, and it touches their keys (F22).
    package let after: [IntentNumber]
    /// The pending intent that it undoes, which must have an answer before (F21).
    package let undoes: IntentNumber?
    /// The lane that the app gave it; nil for a lane of its own (S1).
    package let lane: String?

    /// - Parameters:
    ///   - released: the entry that released it; nil unless it is a released draft.
    ///   - place: nil for the place of the number.
    package init(
        _ number: IntentNumber, attempt: Attempt?, isReadable: Bool, bytes: Int = 1,
        isHeld: Bool = false, released: LogSequence? = nil, place: LogSequence? = nil,
        after: [IntentNumber] = [],
        undoes: IntentNumber? = nil, lane: String? = nil
    ) {
        self.number = number
        self.attempt = attempt
        self.isReadable = isReadable
        self.bytes = bytes
        self.isHeld = isHeld
        self.released = released
        self.place = released ?? place ?? LogSequence(number.value)
        self.after = after
        self.undoes = undoes
        self.lane = lane
    }

    init(
        _ recorded: RecordedIntent, attempt: Attempt?, draft: Draft?, after: [IntentNumber],
        undoes: IntentNumber?, lane: String?
    ) {
        let released: LogSequence? =
            if case .released(let sequence) = draft { sequence } else { nil }
        self.init(
            recorded.number, attempt: attempt, isReadable: !recorded.payload.isUnreadable,
            bytes: recorded.payload.bytes.count, isHeld: draft == .held, released: released,
            place: recorded.sequence, after: after, undoes: undoes, lane: lane)
    }
}

/// The pending intents of a log, followed from one published state to another. It reads nothing from
/// the log: each change is the difference of two overlays.
package struct PendingIntents: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let publication: Publication
    private let lane: (@Sendable (Payload) -> String?)?
    /// The overlay of the last element. An older state would keep its views in memory.
    private var seen = Overlay()
    private var seenDrafts = Drafts()
    private var sequence: LogSequence?
    private var blocked = BlockedIntents()

    fileprivate init(_ publication: Publication, lane: (@Sendable (Payload) -> String?)?) {
        self.publication = publication
        self.lane = lane
    }

    package func makeAsyncIterator() -> PendingIntents { self }

    /// Returns the changes since the last element; the first has all pending intents. Waits for an
    /// entry that is newer. Nil if the store is closed or the task is canceled.
    ///
    /// - Complexity: O(n) in the intents that changed.
    package mutating func next() async -> PendingChanges? { await next(isolation: nil) }

    package mutating func next(
        isolation actor: isolated (any Actor)?
    ) async -> PendingChanges? {
        guard !Task.isCancelled else { return nil }
        let last = sequence
        let published = await publication.next { last != $0.sequence || $0.isClosed }
        guard let published, last != published.sequence else { return nil }
        var changes = PendingChanges()
        published.overlay.forEachChange(since: seen, areSame: { $0.state == $1.state }) {
            number, old, new in
            if new?.state == .pending, let new {
                changes.recorded.append(pending(new, in: published))
            } else if old?.state == .pending {
                changes.answered.append(number)
                blocked.remove(number)
            }
        }
        addReleased(to: &changes, in: published)
        addAgain(to: &changes, in: published)
        changes.recorded.sort { $0.number < $1.number }
        (seen, seenDrafts, sequence) = (published.overlay, published.drafts, published.sequence)
        return changes
    }

    /// Adds the drafts that were released since the last element.
    private mutating func addReleased(
        to changes: inout PendingChanges, in published: PublishedState
    ) {
        guard !seenDrafts.isEmpty else { return }
        published.drafts.forEachChange(since: seenDrafts, areSame: ==) { number, old, new in
            guard old == .held, new != nil, let intent = published.overlay[number] else { return }
            blocked.remove(number)
            changes.recorded.append(pending(intent, in: published))
        }
    }

    /// Finds again what the intents wait for that waited for one that is gone: they may have to wait for
    /// what that one waited for.
    private mutating func addAgain(to changes: inout PendingChanges, in published: PublishedState) {
        var gone = Set(changes.answered)
        guard !gone.isEmpty else { return }
        for (number, waiting) in blocked.intents
        where waiting.waits.contains(where: gone.contains) {
            guard let intent = published.overlay[number] else { continue }
            blocked.remove(number)
            let again = pending(intent, in: published)
            if blocked.intents[number] != nil {
                changes.recorded.append(again)
            } else {
                gone.insert(number)
            }
        }
    }

    /// Returns an intent with what it waits for.
    private mutating func pending(
        _ intent: UnsettledIntent, in published: PublishedState
    ) -> PendingIntent {
        let recorded = intent.recorded
        let draft = published.drafts[recorded.number]
        let undone = recorded.terms.undoes.flatMap { published.isPending($0) ? $0 : nil }
        let after = blocked.add(intent, draft, undone, in: published)
        return PendingIntent(
            recorded, attempt: published.attempts[recorded.number], draft: draft, after: after,
            undoes: undone, lane: lane?(recorded.payload))
    }
}

/// The changes to the pending intents of a log.
package struct PendingChanges: Sendable {
    /// Intents that are pending now and were not before, or that wait for others than before, in number
    /// order.
    package fileprivate(set) var recorded: [PendingIntent] = []
    /// Intents that were pending before and are not now, in number order.
    package fileprivate(set) var answered: [IntentNumber] = []

    package var isEmpty: Bool { recorded.isEmpty && answered.isEmpty }
}
