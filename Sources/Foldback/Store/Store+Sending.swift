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
    ) async throws(FoldbackError) -> [IntentNumber] {
        let request = try await core.runner.submit(
            .recordAttempts(attempts, flushes: flushes), bytes: attempts.count * 64)
        switch try await request.outcome() {
        case .attempted(let numbers): return numbers
        case let other: preconditionFailure("\(other) is not an outcome of recording attempts")
        }
    }
}

/// The outbox's view of the log: the pending intents once, then only the changes to them.
extension Store {
    /// All pending intents in number order, and the sequence at which they are pending. O(n) in the
    /// overlay.
    package var pendingIntents: (intents: [PendingIntent], sequence: LogSequence) {
        let published = core.published
        let intents = published.overlay.values.filter { $0.state == .pending }
            .map { PendingIntent($0.recorded, attempt: published.attempts[$0.recorded.number]) }
        return (intents, published.sequence)
    }

    /// The pending intents at the last commit, to ask for single ones. O(1).
    package var pendingNow: PendingNow { PendingNow(core.published) }

    /// Returns the changes to pending intents by a bounded piece of the entries after `sequence`.
    ///
    /// May block on the disk.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    /// - Complexity: O(n) in the entries read.
    package func pendingChanges(
        after sequence: LogSequence
    ) throws(FoldbackError) -> PendingChanges {
        let published = core.published
        var changes = PendingChanges(sequence: sequence)
        for record in try core.records(from: sequence.next, upTo: published.sequence) {
            changes.sequence = record.stamp.sequence
            if case .intent(let recorded) = record.entry {
                // An intent that was answered in the meantime is not pending.
                guard published.overlay[recorded.number]?.state == .pending else { continue }
                changes.recorded.append(PendingIntent(recorded, attempt: nil))
            } else {
                changes.answered += Answer.all(in: record).map(\.intent)
            }
        }
        return changes
    }

    /// Waits until the log has an entry after `sequence`.
    ///
    /// - Returns: false if the store was closed or the task was canceled first.
    package func waitForEntry(after sequence: LogSequence) async -> Bool {
        let published = await core.publication.next { $0.sequence > sequence || $0.isClosed }
        return published.map { $0.sequence > sequence } ?? false
    }

    /// Waits until nothing more can be sent or fetched for this log: another caller has found that
    /// the store is latched or the log is superseded.
    ///
    /// - Returns: that error; nil if the store was closed or the task was canceled first.
    package func waitForSyncObstacle() async -> FoldbackError? {
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

/// The pending intents of a log at one sequence.
package struct PendingNow: Sendable {
    private let published: PublishedState

    fileprivate init(_ published: PublishedState) { self.published = published }

    /// The number of pending intents.
    package var count: Int { published.overlay.count - published.acceptedCount }

    /// Returns whether an intent is pending. O(log n).
    package func contains(_ number: IntentNumber) -> Bool {
        published.overlay[number]?.state == .pending
    }
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

/// The changes to pending intents by some entries.
package struct PendingChanges: Sendable {
    /// Intents that the entries recorded and that are still pending, in number order.
    package fileprivate(set) var recorded: [PendingIntent] = []
    /// Intents that the entries answered.
    package fileprivate(set) var answered: [IntentNumber] = []
    /// The last entry that was read.
    package fileprivate(set) var sequence: LogSequence
}
