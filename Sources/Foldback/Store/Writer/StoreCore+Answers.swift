import FoldbackLMDB

extension StoreCore {
    /// Returns an intent as it was recorded.
    ///
    /// May block on the disk for a short read if the intent is settled. Does not wait for the check
    /// of pages, because each row of a settled intent names the entry that recorded it, an old row
    /// too.
    ///
    /// - Throws: as ``status(of:)``.
    package func recorded(_ number: IntentNumber) throws(LogError) -> RecordedIntent {
        try storage.requireUsable()
        let published = self.published
        guard 1 <= number, number < published.nextNumber else { throw .unknownIntent(number) }
        if let intent = published.overlay[number] { return intent.recorded }
        return try storage.settledIntent(number, codec: codec).recorded
    }

    /// Returns an intent with its state and its latest answer.
    ///
    /// May block on the disk if the intent is settled. Right after opening, it then also waits for
    /// the check of pages.
    ///
    /// - Throws: `.unknownIntent`, `.damaged`, `.newerFormat`, `.closed`, `.latched`, `.storage`.
    package func status(
        of number: IntentNumber
    ) throws(LogError) -> KnownIntent {
        try storage.requireUsable()
        let published = self.published
        guard 1 <= number, number < published.nextNumber else { throw .unknownIntent(number) }
        if let intent = published.overlay[number] {
            return KnownIntent(
                id: intent.recorded.id, recorded: intent.recorded, state: intent.state,
                answeredAt: intent.acceptance?.sequence)
        }
        // Before the check, the row could be an earlier row of the intent, from an old page.
        try writer.pageCheck.requireSoundPages()
        let found = try storage.foundIntent(number, codec: codec)
        let row = found.row
        // The row can be of a commit that is not published yet. Its answer must not be returned
        // before the commit is published, which happens at once or never (F15).
        guard row.settlementSequence <= publication.read(\.sequence) else {
            if let refusal = publication.read(\.refusal) { throw refusal }
            return try status(of: number)
        }
        // The row has no verdict if the intent has returned to the overlay since (F7, F21).
        guard let settlement = row.settlement else { return try status(of: number) }
        guard case .rejected(let isDismissed) = settlement else {
            return KnownIntent(
                id: found.id, recorded: found.recorded, state: settlement.state,
                answeredAt: row.settlementSequence)
        }
        let rejection = try rejection(of: number, at: row.settlementSequence)
        return KnownIntent(
            id: found.id, recorded: found.recorded, state: .rejected,
            answeredAt: row.settlementSequence,
            rejection: rejection, isDismissed: isDismissed)
    }

    package func rejection(
        of number: IntentNumber, at sequence: LogSequence
    ) throws(LogError) -> Rejection {
        try storage.requireUsable()
        return try storage.rejection(of: number, at: sequence, codec: codec)
    }

    /// Returns the records from `start` to `end`, or the first of them: a bounded piece (L8). None
    /// if `start` is after `end`.
    ///
    /// - Throws: `.damaged` if a record is missing or damaged, `.newerFormat`, `.closed`,
    ///   `.storage`.
    package func records(
        from start: LogSequence, countMax: Int = Limits.readCountMax, upTo end: LogSequence,
        codec: (any PayloadCodec)? = nil
    ) throws(LogError) -> [Record] {
        try storage.requireUsable()
        guard start <= end else { return [] }
        let left = Int(clamping: end.value - start.value).addingReportingOverflow(1).partialValue
        let records = try storage.decodedRecords(
            from: start, countMax: min(countMax, max(left, 1)), codec: codec ?? self.codec)
        if records.isEmpty, countMax > 0 { throw storage.missing(start) }
        return records
    }

    /// Waits until `isEnough` returns true for the intent's state, and returns the latest answer.
    ///
    /// - Throws: `.cancelled`, `.closed`, and the errors of ``status(of:)``.
    package func answer(
        to number: IntentNumber, where isEnough: @Sendable (IntentState) -> Bool
    ) async throws(LogError) -> Answer {
        var last: IntentState?
        while true {
            let intent = try await intent(number, after: last)
            if isEnough(intent.state), let answer = intent.answer { return answer }
            last = intent.state
        }
    }

    /// Waits until an intent has another state than `last`, and returns it. Returns at once if
    /// `last` is nil.
    ///
    /// - Throws: `.cancelled`, `.closed`, and the errors of ``status(of:)``.
    package func intent(
        _ number: IntentNumber, after last: IntentState?
    ) async throws(LogError) -> KnownIntent {
        while true {
            let intent = try status(of: number)
            if intent.state != last { return intent }
            guard !publication.read(\.isClosed) else { throw .closed(path: storage.path) }
            guard !Task.isCancelled else { throw .cancelled }
            await publication.waitForAnswer(to: number, after: last)
        }
    }
}

extension StoreCore {
    /// Checks the whole log on its own thread; see ``Store/verify()``.
    package func verify() async throws(LogError) -> Verification {
        try storage.requireUsable()
        let (storage, codec, publication) = (storage, codec, publication)
        let projections = projections
        return try await Platform.onThread { () throws(LogError) in
            var verifier = try Verifier(storage, projections, codec: codec)
            return try verifier.verification(against: publication.current)
        }
    }
}

/// An intent with its state and its latest answer, without its event's type.
package struct KnownIntent: Sendable {
    package let id: IntentID
    /// The intent as its entry has it; nil if the entry was removed (C4).
    package let recorded: RecordedIntent?
    package let state: IntentState
    /// The entry that set the state; nil while the intent is pending.
    package let answeredAt: LogSequence?
    /// The authority's refusal; nil unless the state is `.rejected`.
    package var rejection: Rejection?
    /// Whether the rejection was dismissed or retried (F14).
    package var isDismissed = false

    /// The latest answer; nil while the intent is pending.
    package var answer: Answer? {
        guard let answeredAt else { return nil }
        let content: Answer.Content
        switch state {
        case .pending: return nil
        case .accepted: content = .accepted
        case .confirmed: content = .confirmed
        case .rejected:
            guard let rejection else {
                preconditionFailure("intent \(id) is rejected without a rejection")
            }
            content = .rejected(rejection)
        case .withdrawn: content = .withdrawn
        }
        return Answer(intent: id.number, content: content, sequence: answeredAt)
    }
}
