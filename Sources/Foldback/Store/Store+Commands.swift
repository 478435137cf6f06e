/// The first door: what the app and its user want.
extension Store {
    /// Records an intent, and returns when it is in the log and in the view.
    ///
    /// Durable on return as the store was opened; the view is at this entry or later (L2, F15). Queued
    /// on the caller's actor before the first suspension, so two tasks of the main actor record in the
    /// order in which they start.
    ///
    /// - Parameters:
    ///   - event: what the user intends.
    ///   - force: record even if a projection throws; the intent is then conflicted (F9).
    ///   - confirmOnly: send and list it, and fold it only once it is confirmed (F13).
    ///   - once: while an intent with this key is in the overlay, that intent is returned and nothing
    ///     is recorded: a double tap (F14). At most 1,024 bytes.
    ///   - info: what replay wants to know later, like who began it or where on screen; at most 256
    ///     bytes with one or two for the length of each key and value. Not seen by projections.
    /// - Throws: `.inapplicable`, `.notEncodable`, `.tooLarge`, `.cancelled`, `.closed`, `.latched`,
    ///   `.storage`: nothing was recorded. `.outcomeUnknown`: it may have been (L6).
    /// - Complexity: one write, one `apply` for each projection.
    public nonisolated(nonsending) func record(
        _ event: P.Event, force: Bool = false, confirmOnly: Bool = false, once: String? = nil,
        info: [String: String] = [:]
    ) async throws(FoldbackError) -> Receipt {
        try await enqueue(
            event, force: force, confirmOnly: confirmOnly, once: once, info: info
        ).receipt()
    }

    /// Queues an intent without waiting for the commit: the order in which these calls return is the
    /// order in the log. Waits only where the queue is full (L3).
    ///
    /// With many keystrokes in flight, one task can queue them in order and another await them. See
    /// ``record(_:force:confirmOnly:once:info:)`` for everything else.
    public nonisolated(nonsending) func enqueue(
        _ event: P.Event, force: Bool = false, confirmOnly: Bool = false, once: String? = nil,
        info: [String: String] = [:]
    ) async throws(FoldbackError) -> QueuedIntent {
        let payload = try encoded(event)
        if let once { try Limit.once.require(once.utf8.count) }
        if !info.isEmpty { try Limit.info.require(Record.encoded(info: info).count) }
        let proposal = Proposal(
            payload: payload, isConfirmOnly: confirmOnly, once: once.map { ExactString($0) },
            info: info)
        return QueuedIntent(
            request: try await submit(
                .record(proposal), isForced: force, bytes: payload.bytes.count),
            core: core)
    }

    /// Takes back a pending intent that cannot have left the device: it is folded no longer (F7).
    ///
    /// - Returns: the entry's sequence.
    /// - Throws: `.unknownIntent`, `.notPending`, `.mayHaveLeft`, nothing changed; otherwise as recording.
    @discardableResult
    public nonisolated(nonsending) func withdraw(
        _ number: IntentNumber
    ) async throws(FoldbackError) -> LogSequence {
        try await appended(.change(number, .withdraw))
    }

    /// Takes a rejection out of the list of rejections (F14).
    ///
    /// - Returns: the entry's sequence.
    /// - Throws: `.unknownIntent`, `.notRejected`, nothing changed; otherwise as recording.
    @discardableResult
    public nonisolated(nonsending) func dismiss(
        _ number: IntentNumber
    ) async throws(FoldbackError) -> LogSequence {
        try await appended(.change(number, .dismiss))
    }

    /// Records a rejected intent's event anew under the same terms, and takes the rejection out of the
    /// list, in one entry (F14). Where its once key is in use again, the intent that has it is returned
    /// and only the rejection dismissed.
    ///
    /// - Throws: `.unknownIntent`, `.notRejected`, `.inapplicable`, nothing changed; otherwise as
    ///   recording.
    public nonisolated(nonsending) func retry(
        _ number: IntentNumber, force: Bool = false
    ) async throws(FoldbackError) -> Receipt {
        try await QueuedIntent(
            request: try await submit(.change(number, .retry), isForced: force, bytes: 0),
            core: core
        ).receipt()
    }

    // MARK: What all commands share

    nonisolated(nonsending) func submit(
        _ command: Command, isForced: Bool = true, bytes: Int
    ) async throws(FoldbackError) -> Request {
        try await core.runner.submit(.command(command, isForced: isForced), bytes: bytes)
    }

    nonisolated(nonsending) private func appended(
        _ command: Command
    ) async throws(FoldbackError) -> LogSequence {
        switch try await submit(command, bytes: 0).outcome() {
        case .appended(let sequence): return sequence
        case let other: preconditionFailure("\(other) is no outcome of \(command)")
        }
    }

    func encoded(_ event: P.Event) throws(FoldbackError) -> Payload {
        let payload: Payload
        do { payload = try codec.payload(of: event) } catch {
            throw .notEncodable(reason: "\(error)")
        }
        try Limit.event.require(payload.bytes.count)
        return payload
    }
}

/// An intent that is queued: on its way into the log, whether or not anybody waits for it.
public struct QueuedIntent: Sendable {
    let request: Request
    let core: StoreCore

    /// Waits for the commit. Cancelling the task does not take the intent back; the true outcome is
    /// returned (L3).
    /// - Throws: as ``Store/record(_:force:confirmOnly:once:info:)``.
    public nonisolated(nonsending) func receipt() async throws(FoldbackError) -> Receipt {
        switch try await request.outcome() {
        case .recorded(let id, let sequence):
            return Receipt(id: id, sequence: sequence, isJoined: false, core: core)
        case .joined(let id, let sequence):
            return Receipt(id: id, sequence: sequence, isJoined: true, core: core)
        case let other: preconditionFailure("\(other) is no outcome of recording")
        }
    }
}
