import Foldback

/// Copies of entries with other payloads or terms.
extension Entry {
    /// The payloads of the entry, always in the same order.
    var payloads: [Payload] {
        switch self {
        case .intent(let intent): [intent.payload]
        case .acknowledged(let answer): answer.replacement.map { [$0] } ?? []
        case .confirmed(let batch): batch.events.map(\.payload)
        case .changed: []
        }
    }

    /// Returns the entry with the payloads that `change` returns. Calls `change` in the order of
    /// ``payloads``.
    func mappingPayloads(_ change: (Payload) -> Payload) -> Entry {
        switch self {
        case .intent(let intent): .intent(intent.replacing(payload: change(intent.payload)))
        case .acknowledged(let answer):
            .acknowledged(answer.replacing(replacement: answer.replacement.map(change)))
        case .confirmed(let batch):
            .confirmed(
                batch.replacing(
                    events: batch.events.map {
                        Confirmed(
                            position: $0.position, payload: change($0.payload), origin: $0.origin)
                    }))
        case .changed: self
        }
    }

    /// Returns the entry with `payload` at one place in ``payloads``.
    func replacingPayload(at place: Int, with payload: Payload) -> Entry {
        var next = -1
        return mappingPayloads {
            next += 1
            return next == place ? payload : $0
        }
    }
}

extension Record {
    func replacing(_ entry: Entry) -> Record {
        Record(stamp: stamp, replica: replica, info: info, entry: entry)
    }
}

extension RecordedIntent {
    func replacing(payload: Payload) -> RecordedIntent {
        replacing(payload, isConfirmOnly: isConfirmOnly, once: once, retries: retries)
    }

    func replacing(isConfirmOnly: Bool) -> RecordedIntent {
        replacing(payload, isConfirmOnly: isConfirmOnly, once: once, retries: retries)
    }

    func replacing(once: ExactString?) -> RecordedIntent {
        replacing(payload, isConfirmOnly: isConfirmOnly, once: once, retries: retries)
    }

    func replacing(retries: IntentNumber?) -> RecordedIntent {
        replacing(payload, isConfirmOnly: isConfirmOnly, once: once, retries: retries)
    }

    private func replacing(
        _ payload: Payload, isConfirmOnly: Bool, once: ExactString?, retries: IntentNumber?
    ) -> RecordedIntent {
        RecordedIntent(
            id: id, payload: payload, isConfirmOnly: isConfirmOnly, once: once, retries: retries,
            info: info, sequence: sequence, time: time)
    }
}

extension Acknowledged {
    func replacing(replacement: Payload?) -> Acknowledged {
        Acknowledged(
            number: number, position: position, replacement: replacement, settles: settles)
    }

    /// Copies `settles`. ``HistoryFold`` decides again whether the acknowledgement settles its
    /// intent.
    func replacing(position: Position?) -> Acknowledged {
        Acknowledged(
            number: number, position: position, replacement: replacement, settles: settles)
    }
}

extension ConfirmedBatch {
    /// Copies `settled`. ``HistoryFold`` decides again which intents the batch settles.
    func replacing(events: [Confirmed]) -> ConfirmedBatch {
        ConfirmedBatch(events: events, through: through, settled: settled)
    }

    func replacing(through: Position) -> ConfirmedBatch {
        ConfirmedBatch(events: events, through: through, settled: settled)
    }
}
