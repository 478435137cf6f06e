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
    func replacing(payload: Payload) -> RecordedIntent { copy(payload: payload) }

    func replacing(isConfirmOnly: Bool) -> RecordedIntent { copy(isConfirmOnly: isConfirmOnly) }

    func replacing(once: ExactString?) -> RecordedIntent { copy(once: .some(once)) }

    func replacing(retries: IntentNumber?) -> RecordedIntent { copy(retries: .some(retries)) }

    func replacing(terms: IntentTerms) -> RecordedIntent { copy(terms: terms) }

    /// Returns the intent with other values; nil keeps a value.
    private func copy(
        payload: Payload? = nil, isConfirmOnly: Bool? = nil, once: ExactString?? = nil,
        retries: IntentNumber?? = nil, terms: IntentTerms? = nil
    ) -> RecordedIntent {
        RecordedIntent(
            id: id, payload: payload ?? self.payload,
            isConfirmOnly: isConfirmOnly ?? self.isConfirmOnly, once: once ?? self.once,
            retries: retries ?? self.retries, info: info, sequence: sequence, time: time,
            terms: terms ?? self.terms)
    }
}

extension IntentTerms {
    /// Copies of the terms that lack one term each.
    var simpler: [IntentTerms] {
        var simpler: [IntentTerms] = []
        func add(if isThere: Bool, _ change: (inout IntentTerms) -> Void) {
            guard isThere else { return }
            var terms = self
            change(&terms)
            simpler.append(terms)
        }
        add(if: undoes != nil) { $0.undoes = nil }
        add(if: replaces != nil) { $0.replaces = nil }
        add(if: group != nil) { $0.group = nil }
        add(if: isHeld) { $0.isHeld = false }
        add(if: replacingKey != nil) { $0.replacingKey = nil }
        add(if: inverse != nil) { $0.inverse = nil }
        return simpler
    }

    /// Adds everything in the terms to a hash.
    func hash(into hasher: inout Hasher) {
        hasher.combine(isHeld)
        hasher.combine(replacingKey)
        hasher.combine(replaces)
        hasher.combine(group)
        hasher.combine(undoes)
        hasher.combine(inverse?.bytes)
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
