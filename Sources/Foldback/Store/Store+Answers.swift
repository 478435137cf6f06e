/// The second door: commands that record the authority's answers.
extension Store {
    /// Records that the authority accepted an intent.
    ///
    /// The record is durable on return, and the view is at this entry or later (L2, F15).
    /// Acknowledging an intent again changes nothing, so a repeated reply is harmless. An
    /// acknowledgement of a rejected or withdrawn intent overrides that state (F7). In a downlink
    /// log the intent stays in the overlay until the downlink delivers its effect (F3); in an
    /// acknowledgement log it is confirmed (F4).
    ///
    /// May be called from any task.
    ///
    /// - Parameters:
    ///   - number: the number of the accepted intent.
    ///   - position: the effect's position at the authority, from 1 up; nil if none (F3). An error
    ///     in an acknowledgement log (F4).
    ///   - replacement: the authority's own event in place of the intent's; nil if it accepted the
    ///     event as it was sent (F3, F4).
    /// - Returns: the entry's sequence, or the state that the intent already had.
    /// - Throws: `.unknownIntent` or `.invalidBatch`, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:info:)``.
    /// - Complexity: one write. A refold of the overlay after the intent if `replacement` is given,
    ///   or if the intent was rejected or withdrawn. In an acknowledgement log, also a refold of
    ///   the whole overlay unless the intent is its first.
    @discardableResult
    public nonisolated(nonsending) func acknowledge(
        _ number: IntentNumber, position: Position? = nil, replacement: P.Event? = nil
    ) async throws(FoldbackError) -> AnswerResult {
        let words = Acknowledgement(number, position: position, replacement: replacement)
        let (command, bytes) = try command(words)
        return try await answered(try await submit(command, bytes: bytes))
    }

    /// Records that the authority accepted several intents, in their order.
    ///
    /// Uses one commit if the acknowledgements fit, else several. They are not atomic. Each one has
    /// the guarantees of ``acknowledge(_:position:replacement:)``.
    ///
    /// - Returns: one result for each acknowledgement, in the same order.
    /// - Throws: the first error, after all queued acknowledgements were carried out. The others
    ///   were recorded, except those after one that could not be queued (`.cancelled`, `.closed`).
    ///   If an event cannot be encoded or is too large, nothing was recorded. Repeating all of them
    ///   is harmless (F7).
    /// - Complexity: as ``acknowledge(_:position:replacement:)`` for each, with fewer commits.
    @discardableResult
    public nonisolated(nonsending) func acknowledge(
        contentsOf acknowledgements: [Acknowledgement<P.Event>]
    ) async throws(FoldbackError) -> [AnswerResult] {
        // Encodes everything before it queues anything, so that these errors leave nothing
        // recorded.
        let works = try acknowledgements.map { words throws(FoldbackError) in
            let (command, bytes) = try command(words)
            return (work: Request.Work.command(command, isForced: true), bytes: bytes)
        }
        let (requests, failure) = await core.runner.submit(contentsOf: works)
        var outcomes: [AnswerResult] = []
        outcomes.reserveCapacity(requests.count)
        var earliest: FoldbackError?
        for request in requests {
            do throws(FoldbackError) {
                outcomes.append(try await answered(request))
            } catch {
                earliest = earliest ?? error
            }
        }
        if let failure = earliest ?? failure { throw failure }
        return outcomes
    }

    /// Records the authority's definite refusal of an intent.
    ///
    /// The intent leaves the view (F10). It stays in ``rejections`` until it is dismissed or
    /// retried (F14). The record is durable on return, and the view is at this entry or later (L2,
    /// F15). Rejecting an intent that is not pending changes nothing (F7).
    ///
    /// A timeout or a missing connection is not a rejection (A4): leave the intent pending.
    ///
    /// - Parameters:
    ///   - number: the number of the refused intent.
    ///   - code: the reason for programs, like "forbidden"; nil if none. At most 1,024 bytes.
    ///   - message: the reason for people and logs; at most 65,536 bytes.
    /// - Returns: the entry's sequence, or the intent's state if it is not pending.
    /// - Throws: `.unknownIntent` or `.tooLarge`, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:info:)``.
    /// - Complexity: one write; a refold of the overlay after the intent, so none for the newest
    ///   intent.
    @discardableResult
    public nonisolated(nonsending) func reject(
        _ number: IntentNumber, code: String? = nil, message: String
    ) async throws(FoldbackError) -> AnswerResult {
        try Limit.code.require(code?.utf8.count ?? 0)
        try Limit.message.require(message.utf8.count)
        let rejection = Rejection(code: code, message: message)
        return try await answered(
            try await submit(.reject(number, rejection), bytes: message.utf8.count))
    }

    /// Records a batch of confirmed events from the downlink (F5, F6).
    ///
    /// The batch is one entry: all of it is recorded, or nothing. The record is durable on return,
    /// and the view is at this entry or later (L2, F15). Events at or below the current `through`
    /// are not applied again, but still confirm this log's unsettled intents that they name (F6).
    /// So a repeated batch is harmless.
    ///
    /// - Parameters:
    ///   - events: the events in any order. Events with the same position are applied in the order
    ///     of the batch, and must all be in it (F5). At most 64 MiB together.
    ///   - through: the position up to which every event that this replica may see has been
    ///     delivered (A2). Nil is the highest position in the batch.
    /// - Returns: the entry's sequence with the new `through`, or that the batch had nothing new.
    /// - Throws: `.invalidBatch`, `.tooLarge` or `.notEncodable`, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:info:)``. `.invalidBatch` in an acknowledgement log
    ///   (F2).
    /// - Complexity: one write and one `apply` for each event. Also a refold of the overlay, unless
    ///   the batch confirms the overlay's first intents as they were recorded.
    @discardableResult
    public nonisolated(nonsending) func confirm(
        _ events: [ConfirmedEvent<P.Event>], through: Position? = nil
    ) async throws(FoldbackError) -> BatchResult {
        var confirmed: [Confirmed] = []
        for event in events {
            let payload = try encoded(event.event)
            confirmed.append(
                Confirmed(position: event.position, payload: payload, origin: event.origin))
        }
        let bytes = confirmed.limitedBytes
        try Limit.batch.require(bytes)
        switch try await submit(.confirm(confirmed, through: through), bytes: bytes).outcome() {
        case .confirmed(let sequence, let through): return .confirmed(sequence, through: through)
        case .batchIgnored(let through): return .ignored(through: through)
        case let other: preconditionFailure("\(other) is not an outcome of a batch")
        }
    }

    private func command(
        _ words: Acknowledgement<P.Event>
    ) throws(FoldbackError) -> (Command, bytes: Int) {
        let payload = try words.replacement.map { event throws(FoldbackError) in
            try encoded(event)
        }
        return (
            .acknowledge(words.intent, position: words.position, replacement: payload),
            payload?.bytes.count ?? 0
        )
    }

    private nonisolated(nonsending) func answered(
        _ request: Request
    ) async throws(FoldbackError) -> AnswerResult {
        switch try await request.outcome() {
        case .appended(let sequence): return .recorded(sequence)
        case .ignored(let state): return .ignored(state)
        case let other: preconditionFailure("\(other) is not an outcome of an answer")
        }
    }

    // MARK: Reading answers

    /// Returns an intent with its state and its latest answer, however long ago it was settled.
    ///
    /// May be called from any task. May block on the disk if the intent is settled.
    ///
    /// - Throws: `.unknownIntent` if this log never had the number; `.damaged`, `.newerFormat`,
    ///   `.closed`, `.latched`, `.storage`.
    /// - Complexity: O(log n) for an intent in the overlay. For a settled intent two reads by key,
    ///   three if it was rejected.
    public func intent(_ number: IntentNumber) throws(FoldbackError) -> IntentStatus<P.Event> {
        IntentStatus(known: try core.status(of: number))
    }

    /// Rejected intents that are neither dismissed nor retried, ascending. O(n) in their count,
    /// from any task.
    public var rejections: [IntentNumber] { core.writer.publishedState.rejections.keys }

    /// Returns a receipt for an intent that was recorded earlier, perhaps before a restart, to wait
    /// for its answer.
    ///
    /// - Throws: as ``intent(_:)``.
    /// - Complexity: as ``intent(_:)``.
    public func receipt(
        for number: IntentNumber
    ) throws(FoldbackError) -> Receipt {
        let status = try core.status(of: number)
        return Receipt(
            id: status.recorded.id, sequence: status.recorded.sequence, isJoined: false, core: core)
    }

    /// Returns the answers to this log's intents after entry `sequence`, then new answers as they
    /// come (F15).
    ///
    /// An app that keeps the sequence of the last answer that it has shown misses none, also over
    /// restarts. One entry can have several answers, so keep the sequence once all of them are
    /// shown.
    public func answers(after sequence: LogSequence) -> Answers {
        Answers(core: core, start: sequence)
    }

    /// Returns the log's entries from `start` on; none after the end.
    ///
    /// Returns at most `countMax` entries, at most 512, and about 1 MiB. To read more, call it
    /// again with the sequence after the last entry. May block on the disk.
    ///
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    /// - Complexity: O(n) in the entries returned.
    public func entries(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [LogEntry<P.Event>] {
        try core.records(from: start, countMax: countMax, upTo: core.writer.publishedState.sequence)
            .map(LogEntry.init)
    }
}
