extension StoreCore {
    /// - Throws: `.unknownIntent`, `.damaged`, `.closed`, `.storage`.
    package func status(
        of number: IntentNumber
    ) throws(FoldbackError) -> IntentStatus<Event> {
        try storage.requireUsable()
        let published = writer.published
        guard 1 <= number, number < published.nextNumber else { throw .unknownIntent(number) }
        if let intent = published.overlay[number] { return IntentStatus(intent) }
        let (row, recorded) = try storage.recall(number, codec: codec)
        guard case .rejected(let isDismissed) = row.verdict else {
            // Without a verdict it is back in the overlay since the last publication.
            let state = row.verdict?.state ?? .accepted
            return IntentStatus(recorded, state, answeredAt: row.verdictSequence)
        }
        let rejection = try rejection(of: number, at: row.verdictSequence)
        return IntentStatus(
            recorded, .rejected, answeredAt: row.verdictSequence, rejection: rejection,
            isDismissed: isDismissed)
    }

    private func rejection(
        of number: IntentNumber, at sequence: LogSequence
    ) throws(FoldbackError) -> Rejection {
        let record = try records(from: sequence, countMax: 1).first
        guard let record, case .rejected(number, let rejection) = record.entry else {
            throw .damaged(
                path: storage.path, sequence: sequence,
                reason: "it should be the rejection of intent \(number)")
        }
        return rejection
    }

    /// Records from `start` on, a bounded piece.
    package func records(
        from start: LogSequence, countMax: Int
    ) throws(FoldbackError) -> [Record<Event>] {
        try storage.decodedRecords(from: start, countMax: countMax, codec: codec)
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
                writer.published.overlay[number]?.state == status.state
            }
        }
    }
}

extension LogStorage {
    package func decodedRecords<Event: Sendable>(
        from start: LogSequence, countMax: Int, codec: any EventCodec<Event>
    ) throws(FoldbackError) -> [Record<Event>] {
        var decoded: [Record<Event>] = []
        for (sequence, bytes) in try records(from: start, countMax: countMax) {
            do throws(FormatError) {
                decoded.append(
                    try Record.decoded(
                        bytes, at: sequence, predecessor: nil, replicas: header.replicas,
                        codec: codec
                    ).record)
            } catch {
                throw FoldbackError(error, at: path, sequence: sequence)
            }
        }
        return decoded
    }
}

extension IntentStatus {
    init(_ intent: UnsettledIntent<Event>) {
        self.init(
            intent.recorded, intent.state, answeredAt: intent.acceptance?.sequence)
    }

    init(
        _ recorded: RecordedIntent<Event>, _ state: IntentState, answeredAt: LogSequence?,
        rejection: Rejection? = nil, isDismissed: Bool = false
    ) {
        self.init(
            id: recorded.id, state: state, event: recorded.payload.event, rejection: rejection,
            isDismissed: isDismissed, retries: recorded.retries,
            isConfirmOnly: recorded.isConfirmOnly, once: recorded.once?.string,
            info: recorded.info, recordedAt: recorded.time, sequence: recorded.sequence,
            answerSequence: answeredAt)
    }
}
