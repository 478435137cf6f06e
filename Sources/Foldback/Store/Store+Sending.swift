/// What is known of sending: beside the log, so sequence, view and chain are as they were (F1).
extension Store {
    /// Attempts of pending intents, by number. A row goes with the intent's answer, in one transaction.
    ///
    /// Any task; still there when the store is closed or latched. O(n) in pending intents that were
    /// ever sent.
    public var attempts: [IntentNumber: Attempt] {
        Dictionary(uniqueKeysWithValues: core.writer.attempts.map { ($0.key, $0.value) })
    }

    /// What is known of sending a pending intent; nil where it was never begun, or it is answered. O(log n).
    public func attempt(of number: IntentNumber) -> Attempt? { core.writer.attempts[number] }

    /// Writes attempts of those intents that are pending still; the rest is passed over.
    ///
    /// From a first attempt on an intent cannot be withdrawn, so those that are returned, and no others,
    /// may be sent (F7).
    /// - Parameter flushes: whether everything written so far, the intents included, survives a power cut
    ///   when this returns, under `.relaxed` too (L2).
    /// - Returns: the intents that are pending, ascending.
    /// - Throws: `.cancelled`, `.closed`, `.latched`, `.storage`: nothing was written. `.outcomeUnknown`:
    ///   it may have been (L6).
    package nonisolated(nonsending) func recordAttempts(
        _ attempts: [IntentNumber: Attempt], flushes: Bool
    ) async throws(FoldbackError) -> [IntentNumber] {
        let request = try await core.runner.submit(
            .recordAttempts(attempts, flushes: flushes), bytes: attempts.count * 64)
        switch try await request.outcome() {
        case .attempted(let numbers): return numbers
        case let other: preconditionFailure("\(other) is no outcome of noting attempts")
        }
    }
}

/// What an outbox follows the log by: what changed, never the whole overlay again.
extension Store {
    /// All pending intents, ascending, and the sequence as of which they are. O(n) in the overlay.
    package var pendingIntents: (intents: [PendingIntent], sequence: LogSequence) {
        let published = core.writer.publishedState
        let attempts = core.writer.attempts
        let intents = published.overlay.values.filter { $0.state == .pending }
            .map { PendingIntent($0.recorded, attempt: attempts[$0.recorded.number]) }
        return (intents, published.sequence)
    }

    /// What entries behind `sequence` did to pending intents: a bounded piece of them.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    /// - Complexity: O(n) in the entries read. May block on the disk.
    package func pendingChanges(
        after sequence: LogSequence
    ) throws(FoldbackError) -> PendingChanges {
        let published = core.writer.publishedState
        var changes = PendingChanges(sequence: sequence)
        for record in try core.records(from: sequence.next, upTo: published.sequence) {
            changes.sequence = record.stamp.sequence
            if case .intent(let recorded) = record.entry {
                // What has been answered since need not be looked at.
                guard published.overlay[recorded.number]?.state == .pending else { continue }
                changes.recorded.append(PendingIntent(recorded, attempt: nil))
            } else {
                changes.answered += Answer.all(in: record).map(\.intent)
            }
        }
        return changes
    }

    /// Waits until the log has an entry behind `sequence`.
    ///
    /// - Returns: false where the store is closed or the task was cancelled first.
    package func waitForEntry(after sequence: LogSequence) async -> Bool {
        let writer = core.writer
        while writer.publishedState.sequence <= sequence {
            guard !writer.listeners.isClosed, !Task.isCancelled else { return false }
            await writer.listeners.wait(for: .nextCommit) {
                writer.publishedState.sequence <= sequence
            }
        }
        return true
    }

    /// A pending intent's event as it was recorded; nil where the intent is answered, or this code cannot
    /// read it. O(log n).
    package func pendingEvent(_ number: IntentNumber) -> (id: IntentID, event: P.Event)? {
        guard let intent = core.writer.publishedState.overlay[number], intent.state == .pending,
            let event = intent.recorded.payload.event(as: P.Event.self)
        else { return nil }
        return (intent.recorded.id, event)
    }
}

/// A pending intent, for whoever sends it.
package struct PendingIntent: Hashable, Sendable {
    package let number: IntentNumber
    /// Nil where sending it was never begun.
    package let attempt: Attempt?
    /// Whether this code can read the event (L5).
    package let isReadable: Bool

    package init(_ number: IntentNumber, attempt: Attempt?, isReadable: Bool) {
        self.number = number
        self.attempt = attempt
        self.isReadable = isReadable
    }

    init(_ recorded: RecordedIntent, attempt: Attempt?) {
        self.init(
            recorded.number, attempt: attempt, isReadable: !recorded.payload.isUnreadable)
    }
}

/// What some entries did to pending intents.
package struct PendingChanges: Sendable {
    /// Still pending, ascending.
    package fileprivate(set) var recorded: [PendingIntent] = []
    package fileprivate(set) var answered: [IntentNumber] = []
    /// Of the last entry that was looked at.
    package fileprivate(set) var sequence: LogSequence
}
