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
    /// - Throws: `.log(.unknownIntent)` or `.invalidBatch`, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write. A refold of the overlay after the intent if `replacement` is another
    ///   event, or if the intent was rejected or withdrawn. In an acknowledgement log, also a refold
    ///   of the whole overlay unless the intent is its first.
    @discardableResult
    public nonisolated(nonsending) func acknowledge(
        _ number: IntentNumber, position: Position? = nil, replacement: P.Event? = nil
    ) async throws(CommandError) -> AnswerResult {
        let words = Acknowledgement(number, position: position, replacement: replacement)
        let (command, bytes) = try command(words)
        return try await answered(try await submit(answer: command, from: nil, bytes: bytes))
    }

    /// Records that the authority accepted several intents, in their order.
    ///
    /// Uses one commit if the acknowledgements fit, else several. They are not atomic. Each one has
    /// the guarantees of ``acknowledge(_:position:replacement:)``.
    ///
    /// - Parameters:
    ///   - acknowledgements: the acceptances, each of one intent.
    ///   - lineage: the lineage of the authority that answered; nil if it has none.
    /// - Returns: one result for each acknowledgement, in the same order.
    /// - Throws: the first error, after all queued acknowledgements were carried out. The others
    ///   were recorded, except those after one that could not be queued (`.log` with
    ///   `.cancelled` or `.closed`).
    ///   If an event cannot be encoded or is too large, or if the log knows another lineage
    ///   (`.superseded`), nothing was recorded. Repeating all of them is harmless (F7).
    /// - Complexity: as ``acknowledge(_:position:replacement:)`` for each, with fewer commits.
    @discardableResult
    public nonisolated(nonsending) func acknowledge(
        contentsOf acknowledgements: [Acknowledgement<P.Event>], from lineage: Lineage? = nil
    ) async throws(CommandError) -> [AnswerResult] {
        let works = try works(acknowledgements, from: lineage)
        let (requests, failure) = await core.runner.submit(contentsOf: works)
        var outcomes: [AnswerResult] = []
        outcomes.reserveCapacity(acknowledgements.count)
        var earliest: CommandError?
        for request in requests {
            do throws(CommandError) {
                guard case .answers(let answers) = try await request.outcome() else {
                    preconditionFailure("a request of answers has no outcomes")
                }
                for answer in answers {
                    switch answer {
                    case .success(let result): outcomes.append(AnswerResult(result))
                    case .failure(let error): earliest = earliest ?? error
                    }
                }
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
    ///   - lineage: the lineage of the authority that answered; nil if it has none.
    /// - Returns: the entry's sequence, or the intent's state if it is not pending.
    /// - Throws: `.log(.unknownIntent)`, `.tooLarge` or `.superseded`, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    /// - Complexity: one write; a refold of the overlay after the intent. For the newest intent, that is
    ///   none, or the other intents of its commit.
    @discardableResult
    public nonisolated(nonsending) func reject(
        _ number: IntentNumber, code: String? = nil, message: String, from lineage: Lineage? = nil
    ) async throws(CommandError) -> AnswerResult {
        try Limit.code.require(code?.utf8.count ?? 0)
        try Limit.message.require(message.utf8.count)
        let rejection = Rejection(code: code, message: message)
        return try await answered(
            try await submit(
                answer: .reject(number, rejection), from: lineage, bytes: message.utf8.count))
    }

    /// Records a batch of confirmed events from the downlink (F5, F6).
    ///
    /// The batch is one entry: all of it is recorded, or nothing. The record is durable on return,
    /// and the view is at this entry or later (L2, F15). Events at or below the current `through`
    /// are not applied again, but still confirm this log's unsettled intents that they name (F6).
    /// So a repeated batch is harmless.
    ///
    /// An event that came as bytes is decoded on the calling task. The log keeps its bytes and its
    /// format. If this code cannot read it, it is a fault until code comes that can (E4).
    ///
    /// - Parameters:
    ///   - events: the events in any order. Events with the same position are applied in the order
    ///     of the batch, and must all be in it (F5). At most 64 MiB together.
    ///   - through: the position up to which every event that this replica may see has been
    ///     delivered (A2). Nil is the highest position in the batch.
    ///   - lineage: the lineage of the authority that sent the batch; nil if it has none. The log
    ///     keeps the first lineage that it is given, and refuses all others.
    /// - Returns: the entry's sequence with the new `through`, or that the batch had nothing new.
    /// - Throws: `.invalidBatch`, `.tooLarge`, `.notEncodable` or `.superseded`, and nothing changed;
    ///   else as ``record(_:force:confirmOnly:once:replacing:held:info:)``. `.invalidBatch` in an acknowledgement
    ///   log (F2).
    /// - Complexity: one write and one `apply` for each event. Also a refold of the overlay, unless
    ///   the batch confirms the overlay's first intents as they were recorded. An event whose bytes
    ///   differ from its intent's is compared by what the store's codec encodes of both.
    @discardableResult
    public nonisolated(nonsending) func confirm(
        _ events: [ConfirmedEvent<P.Event>], through: Position? = nil, from lineage: Lineage? = nil
    ) async throws(CommandError) -> BatchResult {
        try await confirm(events, through: through, from: lineage, noting: nil)
    }

    /// The same for a batch with the authority's digest at its `through`. The log keeps the digest in the
    /// transaction of the batch, until `through` rises.
    @discardableResult
    package nonisolated(nonsending) func confirm(
        _ events: [ConfirmedEvent<P.Event>], through: Position?, from lineage: Lineage?,
        noting digest: NotedDigest?
    ) async throws(CommandError) -> BatchResult {
        var confirmed: [Confirmed] = []
        for event in events {
            confirmed.append(
                Confirmed(
                    position: event.position, payload: try payload(of: event.delivered),
                    origin: event.origin))
        }
        let bytes = confirmed.limitedBytes
        try Limit.batch.require(bytes)
        let command = Command.confirm(confirmed, through: through)
        let request = try await submit(answer: command, from: lineage, at: digest, bytes: bytes)
        switch try await request.outcome() {
        case .confirmed(let sequence, let through): return .confirmed(sequence, through: through)
        case .batchIgnored(let through): return .ignored(through: through)
        case let other: preconditionFailure("\(other) is not an outcome of a batch")
        }
    }

    /// Divides acknowledgements into requests that fit into a transaction.
    ///
    /// Encodes everything, so that these errors leave nothing recorded.
    private func works(
        _ acknowledgements: [Acknowledgement<P.Event>], from lineage: Lineage?
    ) throws(CommandError) -> [(work: Request.Work, bytes: Int)] {
        var works: [(work: Request.Work, bytes: Int)] = []
        var commands: [Command] = []
        var bytes = 0
        for words in acknowledgements {
            let (command, more) = try command(words)
            let isFull =
                commands.count == Limits.answersCountMax || bytes + more > Limits.commitBytesMax
            if isFull, !commands.isEmpty {
                works.append((.answers(commands, from: lineage), bytes))
                (commands, bytes) = ([], 0)
            }
            commands.append(command)
            bytes += more
        }
        if !commands.isEmpty { works.append((.answers(commands, from: lineage), bytes)) }
        return works
    }

    private func command(
        _ words: Acknowledgement<P.Event>
    ) throws(CommandError) -> (Command, bytes: Int) {
        let replacement = try words.replacement.map { event throws(CommandError) in
            try payload(of: event)
        }
        return (
            .acknowledge(words.intent, position: words.position, replacement: replacement),
            replacement?.bytes.count ?? 0
        )
    }

    private nonisolated(nonsending) func answered(
        _ request: Request
    ) async throws(CommandError) -> AnswerResult {
        AnswerResult(try await request.outcome())
    }

    /// Notes the lineage of an authority that answered without an answer to record.
    ///
    /// - Throws: `.superseded` if the log knows another lineage, and nothing changed; else as
    ///   ``record(_:force:confirmOnly:once:replacing:held:info:)``.
    package nonisolated(nonsending) func noteLineage(
        _ lineage: Lineage
    ) async throws(CommandError) {
        guard core.publication.read(\.lineage) != lineage else { return }
        _ = try await core.runner.submit(.noteLineage(lineage), bytes: 64).outcome()
    }

    /// Notes that an authority has superseded this log, and returns the error for it.
    package func noteSuperseded(shared: Position) -> CommandError {
        core.publication.change { $0.superseded = shared }
        return .superseded(shared: shared)
    }

    /// Notes that the authority has lost events, and keeps that in the log: no answer is recorded
    /// any more, also after the log is opened again (N6).
    ///
    /// If the log cannot be written, only this store knows it. The same holds for a log that
    /// acknowledgements confirm: it has no positions to lose, and cannot continue on a new log.
    ///
    /// - Returns: the error that ends the caller's work: `.superseded`; the errors of
    ///   ``noteLineage(_:)`` if the log cannot be written, because the finding is then lost when
    ///   the store is closed.
    package nonisolated(nonsending) func noteLostData(
        shared: Position
    ) async -> CommandError {
        var failure: CommandError?
        if core.storage.header.kind == .downlink {
            let work = Request.Work.noteLostData(LostData(shared: shared))
            do throws(LogError) {
                _ = try await core.runner.result(ofOwn: work, bytes: 64)
            } catch {
                // A closed store and a canceled task end the caller's work anyway.
                switch error {
                case .closed, .cancelled: break
                default: failure = .log(error)
                }
            }
        }
        let superseded = noteSuperseded(shared: shared)
        return failure ?? superseded
    }

    /// The last position that the log shares with an authority that superseded it; nil if none did.
    /// O(1), from any task.
    package var superseded: Position? { core.publication.read(\.superseded) }

    /// - Throws: `.log` with `.latched` or `.damaged`; `.superseded`.
    package func requireSyncable() throws(CommandError) {
        if let obstacle = core.publication.read(\.syncObstacle) { throw obstacle }
    }

    /// Notes that the authority has everything that the log has from it after all.
    ///
    /// - Throws: as ``noteLineage(_:)``, and the log stays superseded.
    package nonisolated(nonsending) func noteNotSuperseded() async throws(LogError) {
        _ = try await core.runner.result(ofOwn: .noteLostData(nil), bytes: 64)
        core.publication.change { $0.superseded = nil }
    }

    /// What this log knows of the authority's data. O(1), from any task.
    public var syncPoint: SyncPoint {
        core.publication.read {
            SyncPoint(
                lineage: $0.lineage, through: $0.through, digest: $0.facts.digest(at: $0.through))
        }
    }

    // MARK: Reading answers

    /// Returns an intent with its state and its latest answer, however long ago it was settled.
    ///
    /// May be called from any task. May block on the disk if the intent is settled. Right after
    /// opening, it then also waits until the store has checked the file's pages (L5).
    ///
    /// - Throws: `.unknownIntent` if this log never had the number; `.compactedIntent` with its state if
    ///   a compaction has removed its entry; `.damaged`, `.newerFormat`, `.closed`, `.latched`,
    ///   `.storage`.
    /// - Complexity: O(log n) for an intent in the overlay. For a settled intent two reads by key,
    ///   three if it was rejected.
    public func intent(_ number: IntentNumber) throws(LogError) -> IntentStatus<P.Event> {
        let known = try core.status(of: number)
        guard let recorded = known.recorded else { throw .compactedIntent(number, known.state) }
        return IntentStatus(known: known, recorded: recorded)
    }

    /// Rejected intents that are neither dismissed nor retried, ascending. O(n) in their count,
    /// from any task.
    public var rejections: [IntentNumber] { core.published.rejections.keys }

    /// Returns a receipt for an intent that was recorded earlier, perhaps before a restart, to wait
    /// for its answer.
    ///
    /// May block on the disk for a short read if the intent is settled.
    ///
    /// - Throws: as ``intent(_:)``.
    /// - Complexity: as ``intent(_:)``.
    public func receipt(
        for number: IntentNumber
    ) throws(LogError) -> Receipt {
        let recorded = try core.recorded(number)
        return Receipt(
            id: recorded.id, sequence: recorded.sequence, isJoined: false, core: core)
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
    /// - Throws: `.compacted` if a compaction has removed the entry at `start`; `.damaged`,
    ///   `.newerFormat`, `.closed`, `.storage`.
    /// - Complexity: O(n) in the entries returned.
    public func entries(
        from start: LogSequence, countMax: Int
    ) throws(LogError) -> [LogEntry<P.Event>] {
        try core.records(from: start, countMax: countMax, upTo: core.published.sequence)
            .map(LogEntry.init)
    }

    /// Returns the checksum of an entry's record, which covers all records up to it (L5).
    ///
    /// May block on the disk. O(n) in the record's bytes.
    ///
    /// - Throws: `.damaged` also if the log lacks the entry; `.closed`, `.storage`; `.compacted`.
    package func checksum(at sequence: LogSequence) throws(LogError) -> UInt64 {
        try core.storage.checksum(at: sequence)
    }

    /// The confirmed events that this code read only in part. O(1), from any task.
    package var partlyRead: PartlyReadEvents { core.publication.read(\.partlyRead) }

    /// The same with events as bytes: a caller that decodes them itself asks for no members that were left
    /// unread, which costs as much as decoding.
    package func recordedEntries(
        from start: LogSequence, countMax: Int
    ) throws(LogError) -> [LogEntry<[UInt8]>] {
        try core.records(
            from: start, countMax: countMax, upTo: core.published.sequence, codec: RawCodec()
        ).map(LogEntry.init)
    }
}

extension AnswerResult {
    fileprivate init(_ result: RequestResult) {
        switch result {
        case .appended(let sequence): self = .recorded(sequence)
        case .ignored(let state): self = .ignored(state)
        case let other: preconditionFailure("\(other) is not an outcome of an answer")
        }
    }
}
