import Foldback

/// What an entry can lose without being taken out.
extension Entry {
    /// The entry with one term less, in each way that can make a difference to what is folded.
    ///
    /// Times, `info` and the words of a rejection make none, and help whoever reads the entry.
    var simpler: [Entry] {
        switch self {
        case .intent(let intent):
            var simpler: [RecordedIntent] = []
            if intent.retries != nil { simpler.append(intent.replacing(retries: nil)) }
            if intent.once != nil { simpler.append(intent.replacing(once: nil)) }
            if intent.isConfirmOnly { simpler.append(intent.replacing(isConfirmOnly: false)) }
            return simpler.map(Entry.intent)
        case .acknowledged(let answer):
            var simpler: [Acknowledged] = []
            if answer.replacement != nil { simpler.append(answer.replacing(replacement: nil)) }
            if answer.position != nil { simpler.append(answer.replacing(position: nil)) }
            return simpler.map(Entry.acknowledged)
        case .confirmed(let batch):
            guard let highest = batch.events.map(\.position).max(), highest < batch.through else {
                return []
            }
            return [.confirmed(batch.replacing(through: highest))]
        case .changed: return []
        }
    }

    /// In a fixed order.
    var payloads: [Payload] {
        switch self {
        case .intent(let intent): [intent.payload]
        case .acknowledged(let answer): answer.replacement.map { [$0] } ?? []
        case .confirmed(let batch): batch.events.map(\.payload)
        case .changed: []
        }
    }

    /// With other payloads; `change` gets them in the order of ``payloads``.
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

    /// With another payload at a place in ``payloads``.
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

    /// Whether it still settles is decided where it is taken in.
    func replacing(position: Position?) -> Acknowledged {
        Acknowledged(
            number: number, position: position, replacement: replacement, settles: settles)
    }
}

extension ConfirmedBatch {
    /// Whom it still settles is decided where it is taken in.
    func replacing(events: [Confirmed]) -> ConfirmedBatch {
        ConfirmedBatch(events: events, through: through, settled: settled)
    }

    func replacing(through: Position) -> ConfirmedBatch {
        ConfirmedBatch(events: events, through: through, settled: settled)
    }
}
