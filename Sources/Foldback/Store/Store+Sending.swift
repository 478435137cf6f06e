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
    package var pendingIntents: PendingIntents { PendingIntents(core.publication) }

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
        guard let intent = core.published.overlay[number], intent.state == .pending,
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

    package init(_ number: IntentNumber, attempt: Attempt?, isReadable: Bool, bytes: Int = 1) {
        self.number = number
        self.attempt = attempt
        self.isReadable = isReadable
        self.bytes = bytes
    }

    init(_ recorded: RecordedIntent, attempt: Attempt?) {
        self.init(
            recorded.number, attempt: attempt, isReadable: !recorded.payload.isUnreadable,
            bytes: recorded.payload.bytes.count)
    }
}

/// The pending intents of a log, followed from one published state to another. It reads nothing from
/// the log: each change is the difference of two overlays.
package struct PendingIntents: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let publication: Publication
    /// The overlay of the last element. An older state would keep its views in memory.
    private var seen = Overlay()
    private var sequence: LogSequence?

    fileprivate init(_ publication: Publication) { self.publication = publication }

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
            if new?.state == .pending, let recorded = new?.recorded {
                changes.recorded.append(
                    PendingIntent(recorded, attempt: published.attempts[number]))
            } else if old?.state == .pending {
                changes.answered.append(number)
            }
        }
        (seen, sequence) = (published.overlay, published.sequence)
        return changes
    }
}

/// The changes to the pending intents of a log.
package struct PendingChanges: Sendable {
    /// Intents that are pending now and were not before, in number order.
    package fileprivate(set) var recorded: [PendingIntent] = []
    /// Intents that were pending before and are not now, in number order.
    package fileprivate(set) var answered: [IntentNumber] = []
}
