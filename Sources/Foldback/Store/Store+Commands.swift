/// The first door: commands of the app and its user.
extension Store {
    /// Records an intent, and returns when it is in the log and in the view.
    ///
    /// The intent is durable on return, as the store was opened. The view is at this entry or later
    /// (L2, F15). The intent is queued on the caller's actor before the first suspension, so two
    /// tasks of the main actor record in the order in which they start.
    ///
    /// May be called from any task. Suspends, and does not block on the disk.
    ///
    /// - Parameters:
    ///   - event: the change that the user intends. At most 16 MiB as bytes.
    ///   - force: whether to record the intent even if a projection throws. It is then conflicted
    ///     (F9).
    ///   - confirmOnly: whether to fold the intent only once it is confirmed. It is sent and listed
    ///     before (F13).
    ///   - once: a once key, like one for a double tap; at most 1,024 bytes. While an intent with
    ///     this key is in the overlay, nothing is recorded, and that intent is returned (F14).
    ///   - key: a replacing key, like one for a slider or a text field; at most 1,024 bytes. The pending
    ///     intent that was recorded with this key last is withdrawn, in the same entry, if its sending
    ///     never began and no later intent touches what it touches
    ///     (``Projection/keys(touchedBy:_:)``). Else this intent comes after it (F16).
    ///   - held: whether the intent is a draft: in the view, and not sent before ``release(_:)`` (F22).
    ///   - info: notes for replay, like the screen or the feature that began it. At most 256 bytes,
    ///     with one or two bytes for the length of each key and value. Projections do not get it
    ///     (F12).
    /// - Returns: a receipt, with which the answer can be awaited.
    /// - Throws: `.inapplicable`, `.notEncodable` or `.tooLarge`; `.log` with `.cancelled`, `.closed`,
    ///   `.usedAfterFork`, `.latched`, `.damaged` or `.storage`; and nothing was recorded.
    ///   `.log(.outcomeUnknown)` if it may have been recorded; after that, the store refuses writes
    ///   until it is reopened (L6).
    /// - Complexity: one write, and one `apply` for each projection.
    @discardableResult
    public nonisolated(nonsending) func record(
        _ event: P.Event, force: Bool = false, confirmOnly: Bool = false, once: String? = nil,
        replacing key: String? = nil, held: Bool = false, info: [String: String] = [:]
    ) async throws(CommandError) -> Receipt {
        let proposal = try proposal(
            event, confirmOnly: confirmOnly, once: once, replacing: key, held: held, info: info)
        return Receipt(
            recorded: try await core.runner.outcome(
                of: .command(.record(proposal), isForced: force),
                bytes: proposal.payload.bytes.count),
            in: core)
    }

    /// Queues an intent, and returns before its commit.
    ///
    /// The order in which these calls return is the order in the log. A call waits only if the
    /// queue is full (L3). Once this returns, the intent is carried out, also if the task is
    /// canceled. So one task can queue many keystrokes in order, and another task can await them.
    ///
    /// Parameters, and the rest, are as in ``record(_:force:confirmOnly:once:replacing:held:info:)``. Prefer that
    /// method if the caller needs the result.
    ///
    /// - Returns: the queued intent, whose ``QueuedIntent/receipt()`` waits for the commit.
    /// - Throws: `.notEncodable` or `.tooLarge`; `.log` with `.cancelled`, `.closed` or
    ///   `.usedAfterFork`; and nothing was queued. ``QueuedIntent/receipt()`` throws the other errors.
    public nonisolated(nonsending) func enqueue(
        _ event: P.Event, force: Bool = false, confirmOnly: Bool = false, once: String? = nil,
        replacing key: String? = nil, held: Bool = false, info: [String: String] = [:]
    ) async throws(CommandError) -> QueuedIntent {
        let proposal = try proposal(
            event, confirmOnly: confirmOnly, once: once, replacing: key, held: held, info: info)
        return QueuedIntent(
            request: try await submit(
                .record(proposal), isForced: force, bytes: proposal.payload.bytes.count),
            core: core)
    }

    /// Records several events as one action: all of them, or none (F20).
    ///
    /// They are in one commit, and the view changes once. The server decides on each of them. They
    /// carry the number of the first (``OverlayIntent/group``), so that ``undo(_:force:)``,
    /// ``retry(all:force:)`` and ``withdraw(all:)`` treat them as one action.
    ///
    /// ```swift
    /// try await store.record(contentsOf: selected.map { .done(task: $0) })
    /// ```
    ///
    /// - Parameters:
    ///   - events: at most 1,024, of at most 4 MiB as bytes together. Nothing is recorded for none.
    ///   - once: a once key for the action, like one for a double tap (F14).
    ///   - force: whether to record events that do not apply, each as in
    ///     ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    ///   - confirmOnly: whether the view shows each event only once it is confirmed (F13).
    ///   - held: whether each is a draft (F22).
    ///   - info: short texts that each intent carries.
    /// - Returns: their receipts, in order.
    /// - Throws: `.inapplicable` for the first event that does not apply; `.onceKeyInUse`; `.tooMany`,
    ///   `.tooLarge`; else as ``record(_:force:confirmOnly:once:replacing:held:info:)``. Nothing was
    ///   recorded. `.log(.outcomeUnknown)` if all may have been recorded.
    /// - Complexity: one write, and one `apply` for each event and projection.
    @discardableResult
    public nonisolated(nonsending) func record(
        contentsOf events: [P.Event], force: Bool = false, confirmOnly: Bool = false,
        once: String? = nil, held: Bool = false, info: [String: String] = [:]
    ) async throws(CommandError) -> [Receipt] {
        guard !events.isEmpty else { return [] }
        guard events.count <= Limits.commitCountMax else {
            throw .tooMany(
                what: "events of one action", count: events.count, countMax: Limits.commitCountMax)
        }
        var proposals: [Proposal] = []
        for event in events {
            proposals.append(
                try proposal(
                    event, confirmOnly: confirmOnly, once: proposals.isEmpty ? once : nil,
                    replacing: nil, held: held, info: info))
        }
        let bytes = proposals.reduce(0) { $0 + $1.payload.bytes.count }
        try Limit.together.require(bytes)
        let result = try await core.runner.outcome(
            of: .command(.recordAll(proposals), isForced: force), bytes: bytes)
        return Receipt.all(recorded: result, in: core)
    }

    private func proposal(
        _ event: P.Event, confirmOnly: Bool, once: String?, replacing key: String?, held: Bool,
        info: [String: String]
    ) throws(CommandError) -> Proposal {
        let payload = try encoded(event)
        if let once { try Limit.once.require(once.utf8.count) }
        if let key { try Limit.replacingKey.require(key.utf8.count) }
        if !info.isEmpty { try Limit.info.require(Record.encoded(info: info).count) }
        return Proposal(
            payload: payload, isConfirmOnly: confirmOnly, once: once.map { ExactString($0) },
            info: info,
            terms: IntentTerms(isHeld: held, replacingKey: key.map { ExactString($0) }))
    }

    /// Lets a draft be sent (F22).
    ///
    /// The record is durable on return (L2). The view does not change. Under a policy that keeps
    /// order, the intent is sent as if it had been recorded now.
    ///
    /// - Returns: the entry's sequence.
    /// - Throws: `.log(.unknownIntent)`, or `.notHeld` also if it was released before, and nothing
    ///   changed; else as ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write.
    @discardableResult
    public nonisolated(nonsending) func release(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await appended(.change(number, .release))
    }

    /// Withdraws all intents that were recorded together with this one, or none (F20).
    ///
    /// Those that are withdrawn already stay so. The record is durable on return, and the view changes
    /// once (L2, F15).
    ///
    /// - Returns: the first entry's sequence.
    /// - Throws: `.mayHaveLeft` with the first whose sending has begun; `.notPending` with the first
    ///   that has an answer, or if nothing is left to withdraw; `.log(.unknownIntent)`; and nothing
    ///   changed. Else as ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write; a refold of the overlay after the first.
    @discardableResult
    public nonisolated(nonsending) func withdraw(
        all number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await appended(.change(number, .withdrawAll))
    }

    /// Withdraws a pending intent that cannot have left the device. An intent whose sending has
    /// begun can only be abandoned: ``abandon(_:)``.
    ///
    /// The intent leaves the view, as if it had not been recorded (F7). The record is durable on
    /// return, and the view is at this entry or later (L2, F15).
    ///
    /// - Returns: the entry's sequence.
    /// - Throws: `.log(.unknownIntent)`, `.notPending`, or `.mayHaveLeft` if its sending has begun, and
    ///   nothing changed; else as ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write; a refold of the overlay after the intent.
    @discardableResult
    public nonisolated(nonsending) func withdraw(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await appended(.change(number, .withdraw))
    }

    /// Gives up a pending intent that may have left the device (F19).
    ///
    /// The intent leaves the view and is not sent again, as if it had not been recorded. If the
    /// authority has it, its answer still counts: an acknowledgement or a confirmed event brings
    /// the effect back, and a rejection is ignored (F7). So this is for an intent that fails again
    /// and again, such as a quarantined intent of an outbox. For an intent that cannot have left,
    /// use ``withdraw(_:)``, because then the authority never sees it.
    ///
    /// In a log that is confirmed by acknowledgements, an acceptance whose answer was lost stays
    /// unknown, because the intent is not sent again.
    ///
    /// The record is durable on return, and the view is at this entry or later (L2, F15).
    ///
    /// - Returns: the entry's sequence.
    /// - Throws: `.log(.unknownIntent)` or `.notPending`, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write; a refold of the overlay after the intent.
    @discardableResult
    public nonisolated(nonsending) func abandon(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await appended(.change(number, .abandon))
    }

    /// Removes a rejection from ``rejections``, for example because the user has seen it (F14).
    ///
    /// The record is durable on return (L2). The view does not change. The intent stays rejected.
    ///
    /// - Returns: the entry's sequence.
    /// - Throws: `.log(.unknownIntent)`, or `.notRejected` also if it was dismissed before, and nothing
    ///   changed; else as ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write.
    @discardableResult
    public nonisolated(nonsending) func dismiss(
        _ number: IntentNumber
    ) async throws(CommandError) -> LogSequence {
        try await appended(.change(number, .dismiss))
    }

    /// Records a rejected intent's event again as a new intent, or the event as the user edited it,
    /// and dismisses the rejection (F14).
    ///
    /// Both are one entry, durable on return; the view is at it or later (L2, F15). The new intent
    /// has the terms of the rejected intent: once key, `info`, and whether it is confirm-only. If
    /// another intent in the overlay has the once key, the retry only dismisses the rejection, and
    /// returns that intent; an edited event is then not recorded (``Receipt/isJoined``).
    ///
    /// - Parameters:
    ///   - number: the number of the rejected intent.
    ///   - edited: the event to record instead; nil records the rejected intent's event.
    ///   - force: whether to record the new intent even if a projection throws (F9).
    /// - Returns: a receipt of the new intent, or of the intent with the once key.
    /// - Throws: `.log(.unknownIntent)`, `.notRejected` or `.inapplicable`, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write, and one `apply` for each projection.
    @discardableResult
    public nonisolated(nonsending) func retry(
        _ number: IntentNumber, with edited: P.Event? = nil, force: Bool = false
    ) async throws(CommandError) -> Receipt {
        let payload = try edited.map { event throws(CommandError) in try encoded(event) }
        let command: Command = payload.map { .retry(number, with: $0) } ?? .change(number, .retry)
        return try await QueuedIntent(
            request: try await submit(
                command, isForced: force, bytes: payload?.bytes.count ?? 0),
            core: core
        ).receipt()
    }

    /// Records the events of all listed rejections of one action again, as one action, and dismisses
    /// the rejections (F14, F20).
    ///
    /// - Parameters:
    ///   - number: any intent of the action.
    ///   - force: whether to record even if a projection throws (F9).
    /// - Returns: the receipts of the new intents, in the order of the old ones.
    /// - Throws: `.notRejected` if none of them has a listed rejection; `.onceKeyInUse`;
    ///   `.log(.unknownIntent)`; else as
    ///   ``record(contentsOf:force:confirmOnly:once:held:info:)``. Nothing changed.
    @discardableResult
    public nonisolated(nonsending) func retry(
        all number: IntentNumber, force: Bool = false
    ) async throws(CommandError) -> [Receipt] {
        let request = try await submit(
            .change(number, .retryAll), isForced: force, bytes: 0)
        return Receipt.all(recorded: try await request.outcome(), in: core)
    }

    // MARK: Parts of all commands

    nonisolated(nonsending) func submit(
        _ command: Command, isForced: Bool = true, bytes: Int
    ) async throws(CommandError) -> Request {
        try await core.runner.submit(.command(command, isForced: isForced), bytes: bytes)
    }

    nonisolated(nonsending) func submit(
        answer: Command, from lineage: Lineage?, at digest: NotedDigest? = nil, bytes: Int
    ) async throws(CommandError) -> Request {
        try await core.runner.submit(.answer(answer, from: lineage, at: digest), bytes: bytes)
    }

    nonisolated(nonsending) private func appended(
        _ command: Command
    ) async throws(CommandError) -> LogSequence {
        switch try await submit(command, bytes: 0).outcome() {
        case .appended(let sequence): return sequence
        case let other: preconditionFailure("\(other) is not an outcome of \(command)")
        }
    }

    func encoded(
        _ event: P.Event, comparison: EventComparison? = nil
    ) throws(CommandError) -> Payload {
        let payload: Payload
        do { payload = try codec.payload(of: event, comparison: comparison) } catch {
            throw .notEncodable(reason: "\(error)")
        }
        try Limit.event.require(payload.bytes.count)
        return payload
    }

    /// Returns the payload of an event that the authority delivered. Bytes are kept as they came.
    func payload(of delivered: DeliveredEvent<P.Event>) throws(CommandError) -> Payload {
        switch delivered {
        case .event(let event): return try encoded(event, comparison: comparison)
        case .recorded(let recorded):
            try Limit.event.require(recorded.bytes.count)
            let payload = reader.payload(  // mutant: unknown-event
                reading: recorded.bytes, format: recorded.format, comparison: comparison)
            return payload
        }
    }
}

/// An intent that is queued for the log; see ``Store/enqueue(_:force:confirmOnly:once:replacing:held:info:)``.
///
/// ```swift
/// let queued = try await store.enqueue(.typed("a"))  // in order
/// Task { show(try await queued.receipt().number) }  // later
/// ```
///
/// The intent is carried out even if nothing waits for its receipt.
public struct QueuedIntent: Sendable {
    let request: Request
    let core: StoreCore

    /// Waits for the commit, and returns the intent's receipt.
    ///
    /// Canceling the task does not withdraw the intent. The call still returns the true outcome
    /// (L3). It may be called several times, from any task.
    ///
    /// - Throws: as ``Store/record(_:force:confirmOnly:once:replacing:held:info:)``.
    public nonisolated(nonsending) func receipt() async throws(CommandError) -> Receipt {
        Receipt(recorded: try await request.outcome(), in: core)
    }
}
