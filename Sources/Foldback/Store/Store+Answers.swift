/// The second door: what the authority says.
extension Store {
    /// Records that the authority accepted an intent.
    ///
    /// Durable on return, and the view is at this entry or later (L2, F15). Acknowledging an intent
    /// again changes nothing, so a repeated reply is harmless; one for a rejected or withdrawn intent
    /// overrides (F7).
    ///
    /// - Parameters:
    ///   - number: the intent's.
    ///   - position: the authority's position of the effect, from 1 up; nil where it has none (F3).
    ///     An error in an acknowledgement log.
    ///   - replacement: the authority's own words for the event (F3, F4).
    /// - Returns: the entry's sequence, or what the intent was already.
    /// - Throws: `.unknownIntent`, `.invalidBatch`, nothing changed; otherwise as recording.
    /// - Complexity: one write; a refold of the overlay behind the intent if `replacement` is given.
    @discardableResult
    public nonisolated(nonsending) func acknowledge(
        _ number: IntentNumber, position: Position? = nil, replacement: P.Event? = nil
    ) async throws(FoldbackError) -> AnswerResult {
        let words = Acknowledgement(number, position: position, replacement: replacement)
        let (command, bytes) = try command(words)
        return try await answered(try await submit(command, bytes: bytes))
    }

    /// The same for many at once, in their order and as far as possible in one commit.
    ///
    /// - Returns: as many outcomes as there are acknowledgements.
    /// - Throws: the first error, when all that were queued have been carried out. Every other one has
    ///   been recorded, but for those behind one that could not be queued (`.cancelled`, `.closed`);
    ///   repeating all is harmless (F7).
    @discardableResult
    public nonisolated(nonsending) func acknowledge(
        contentsOf acknowledgements: [Acknowledgement<P.Event>]
    ) async throws(FoldbackError) -> [AnswerResult] {
        // What cannot be encoded or is too large is found before anything is queued.
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

    /// Records the authority's definite refusal: the intent is folded no longer, and stays in the list
    /// of rejections until it is dismissed or retried (F10, F14). Time-outs and being offline are no
    /// rejections (A4).
    ///
    /// - Returns: the entry's sequence; or what the intent is, if it is not pending (F7).
    /// - Throws: `.unknownIntent`, `.tooLarge`, nothing changed; otherwise as recording.
    /// - Complexity: one write; a refold of the overlay behind the intent, none for the newest.
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
    /// Positions at or below the present `through` are not applied again; they still confirm the own,
    /// unsettled intents that they name.
    ///
    /// - Parameters:
    ///   - events: in any order; those of one position in the order in which they are to be applied.
    ///     All events of a position come in one batch.
    ///   - through: everything up to here that this replica may see has been delivered (A2); nil: the
    ///     highest position of the batch.
    /// - Throws: `.invalidBatch`, `.tooLarge`, `.notEncodable`, nothing changed; otherwise as recording.
    /// - Complexity: one write and one `apply` an event; a refold of the overlay, unless the batch just
    ///   brings its head as it was recorded.
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
        case let other: preconditionFailure("\(other) is no outcome of a batch")
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
        case let other: preconditionFailure("\(other) is no outcome of an answer")
        }
    }

    // MARK: Reading answers

    /// Everything that the log knows of an intent, also of one settled long ago.
    ///
    /// - Complexity: O(1) in the overlay, else two reads. May block on the disk.
    /// - Throws: `.unknownIntent`, `.damaged`, `.closed`, `.storage`.
    public func intent(_ number: IntentNumber) throws(FoldbackError) -> IntentStatus<P.Event> {
        IntentStatus(known: try core.status(of: number))
    }

    /// Rejected intents that are neither dismissed nor retried, ascending. O(n) in their count.
    public var rejections: [IntentNumber] { core.writer.publishedState.rejections.keys }

    /// A receipt for an intent recorded earlier, perhaps before a restart, to await its answer.
    ///
    /// - Throws: as ``intent(_:)``.
    public func receipt(
        for number: IntentNumber
    ) throws(FoldbackError) -> Receipt {
        let status = try core.status(of: number)
        return Receipt(
            id: status.recorded.id, sequence: status.recorded.sequence, isJoined: false, core: core)
    }

    /// Answers to this log's intents, from the entry behind `sequence` on; then as they come (F15). An
    /// app that keeps the sequence of the last one it has shown misses none, over restarts too.
    public func answers(after sequence: LogSequence) -> Answers {
        Answers(core: core, start: sequence)
    }

    /// Entries of the log from `start` on, at most `countMax` of them and a bounded piece of the log;
    /// none behind the end.
    ///
    /// - Complexity: O(n) in the entries read. May block on the disk.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func entries(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [LogEntry<P.Event>] {
        try core.records(from: start, countMax: countMax, upTo: core.writer.publishedState.sequence)
            .map(LogEntry.init)
    }
}
