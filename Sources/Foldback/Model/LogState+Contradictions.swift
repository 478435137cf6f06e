extension LogState {
    /// Returns why an entry read from disk cannot follow this state, or nil if it can (L5).
    ///
    /// A checksum proves that the entry is as it was written. This check proves that it makes sense
    /// here, so that `apply` keeps the invariants of this type.
    package func contradiction(in entry: Entry) -> String? {
        switch entry {
        case .intent(let intent):
            if intent.number != nextNumber {
                return "intent \(intent.number) is recorded where intent \(nextNumber) should be"
            }
            return intent.retries.flatMap { notRejected($0) } ?? contradiction(in: intent)
        case .acknowledged(let answer): return contradiction(in: answer)
        case .changed(let number, .rejected), .changed(let number, .withdrawn),
            .changed(let number, .abandoned), .changed(let number, .undone),
            .changed(let number, .lapsed):
            return notPending(number)
        case .changed(let number, .dismissed): return notRejected(number)
        case .changed(let number, .released):
            return drafts[number] == .held ? nil : "intent \(number) is not held"
        case .changed(let number, .restored):
            return unknown(number)
                ?? (overlay[number] == nil ? nil : "intent \(number) is in the overlay already")
        case .confirmed(let batch): return contradiction(in: batch)
        }
    }

    private func contradiction(in intent: RecordedIntent) -> String? {
        let terms = intent.terms
        if let old = terms.replaces, let flaw = notPending(old) { return flaw }
        if let undone = terms.undoes, undone >= intent.number {
            return "intent \(intent.number) undoes intent \(undone), which is not before it"
        }
        if let first = terms.group, first > intent.number {
            return "intent \(intent.number) is in a group that begins at intent \(first)"
        }
        return nil
    }

    private func contradiction(in answer: Acknowledged) -> String? {
        if let unknown = unknown(answer.number) { return unknown }
        if overlay[answer.number]?.state == .accepted {
            return "intent \(answer.number) is accepted already"
        }
        switch kind {
        case .acknowledgement:
            return answer.settles && answer.position == nil
                ? nil : "an acknowledgement log has a position or an accepted intent"
        case .downlink:
            let isCovered = answer.position.map { $0 <= through } ?? false
            if answer.position == 0 { return "intent \(answer.number) has position 0" }
            if answer.settles == isCovered { return nil }
            return "intent \(answer.number) is \(answer.settles ? "confirmed" : "accepted") "
                + "where it should be \(isCovered ? "confirmed" : "accepted")"
        }
    }

    private func contradiction(in batch: ConfirmedBatch) -> String? {
        if kind == .acknowledgement { return "an acknowledgement log has a batch" }
        let highest = batch.events.map(\.position).max() ?? 0
        if highest > batch.through || batch.events.contains(where: { $0.position < 1 }) {
            return "a batch through \(batch.through) has a position below 1 or above it"
        }
        if !zip(batch.settled, batch.settled.dropFirst()).allSatisfy({ $0 < $1 }) {
            return "a batch settles an intent twice"
        }
        return batch.settled.lazy.compactMap { unknown($0) }.first
    }

    private func notPending(_ number: IntentNumber) -> String? {
        overlay[number]?.state == .pending ? nil : "intent \(number) is not pending"
    }

    /// Returns why the number is unknown, or nil if it was recorded.
    private func unknown(_ number: IntentNumber) -> String? {
        wasRecorded(number) ? nil : "intent \(number) was never recorded"
    }

    /// Returns why the intent has no listed rejection, or nil if it has one.
    private func notRejected(_ number: IntentNumber) -> String? {
        rejections[number] == nil ? "intent \(number) is not in the list of rejections" : nil
    }
}
