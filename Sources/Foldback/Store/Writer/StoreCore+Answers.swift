import FoldbackLMDB

extension StoreCore {
    /// - Throws: `.unknownIntent`, `.damaged`, `.closed`, `.storage`.
    package func status(
        of number: IntentNumber
    ) throws(FoldbackError) -> KnownIntent {
        try storage.requireUsable()
        let published = writer.publishedState
        guard 1 <= number, number < published.nextNumber else { throw .unknownIntent(number) }
        if let intent = published.overlay[number] {
            return KnownIntent(
                recorded: intent.recorded, state: intent.state,
                answeredAt: intent.acceptance?.sequence)
        }
        let (row, recorded) = try storage.settledIntent(number, codec: codec)
        // A commit that is not published yet, but will be at once: nobody hears of it before (F15).
        guard row.verdictSequence <= writer.publishedState.sequence else {
            if let failure = writer.latched { throw .latched(failure) }
            return try status(of: number)
        }
        guard case .rejected(let isDismissed) = row.verdict else {
            // Without a verdict it is back in the overlay since the last publication.
            let state = row.verdict?.state ?? .accepted
            return KnownIntent(
                recorded: recorded, state: state, answeredAt: row.verdictSequence)
        }
        let rejection = try rejection(of: number, at: row.verdictSequence)
        return KnownIntent(
            recorded: recorded, state: .rejected, answeredAt: row.verdictSequence,
            rejection: rejection, isDismissed: isDismissed)
    }

    private func rejection(
        of number: IntentNumber, at sequence: LogSequence
    ) throws(FoldbackError) -> Rejection {
        let record = try records(from: sequence, upTo: sequence).first
        guard let record, case .changed(number, .rejected(let rejection)) = record.entry else {
            throw .damaged(
                path: storage.path, sequence: sequence,
                reason: "it should be the rejection of intent \(number)")
        }
        return rejection
    }

    /// Records from `start` to `end`, a bounded piece.
    package func records(
        from start: LogSequence, countMax: Int = Limits.readCountMax, upTo end: LogSequence
    ) throws(FoldbackError) -> [Record] {
        try storage.requireUsable()
        guard start <= end else { return [] }
        let left = Int(clamping: end.value - start.value).addingReportingOverflow(1).partialValue
        let records = try storage.decodedRecords(
            from: start, countMax: min(countMax, max(left, 1)), codec: codec)
        if records.isEmpty, countMax > 0 { throw storage.missing(start) }
        return records
    }

    package func answer(
        to number: IntentNumber, where isEnough: @Sendable (IntentState) -> Bool
    ) async throws(FoldbackError) -> Answer {
        while true {
            let status = try status(of: number)
            if isEnough(status.state), let answer = status.answer { return answer }
            guard !writer.listeners.isClosed else { throw .closed(path: storage.path) }
            guard !Task.isCancelled else { throw .cancelled }
            await writer.listeners.wait(for: .intent(number)) { [writer] in
                writer.publishedState.overlay[number]?.state == status.state
            }
        }
    }
}

extension StoreCore {
    package func verify(
        folds: [any AnyFold], rows: [RowFold] = []
    ) async throws(FoldbackError) -> Verification {
        try storage.requireUsable()
        let (storage, codec, writer) = (storage, codec, writer)
        return try await Platform.onThread { () throws(FoldbackError) in
            var verifier = Verifier(storage, folds: folds, rows: rows, codec: codec)
            return try verifier.verification(against: writer.publishedState)
        }
    }
}

/// One intent as the log knows it.
package struct KnownIntent: Sendable {
    package let recorded: RecordedIntent
    package let state: IntentState
    /// The entry that made the state what it is; nil while pending.
    package let answeredAt: LogSequence?
    package var rejection: Rejection?
    package var isDismissed = false

    package var answer: Answer? {
        guard let answeredAt else { return nil }
        let content: Answer.Content
        switch state {
        case .pending: return nil
        case .accepted: content = .accepted
        case .confirmed: content = .confirmed
        case .rejected: content = .rejected(rejection ?? Rejection(message: ""))
        case .withdrawn: content = .withdrawn
        }
        return Answer(intent: recorded.number, content: content, sequence: answeredAt)
    }
}
