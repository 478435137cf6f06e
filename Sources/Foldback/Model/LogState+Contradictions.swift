extension LogState {
    /// Why an entry read from a disk cannot follow on this state, nil if it can. The checksums say that
    /// it is what was written; this says that what was written makes sense here, so that what follows
    /// can rely on the invariants of this type.
    package func contradiction(in entry: Entry) -> String? {
        switch entry {
        case .intent(let intent):
            if intent.number != nextNumber {
                return "intent \(intent.number) comes where \(nextNumber) should"
            }
            return intent.retries.flatMap { notRejected($0) }
        case .acknowledged(let answer): return contradiction(in: answer)
        case .changed(let number, .rejected), .changed(let number, .withdrawn):
            return overlay[number]?.state == .pending ? nil : "intent \(number) is not pending"
        case .changed(let number, .dismissed): return notRejected(number)
        case .confirmed(let batch): return contradiction(in: batch)
        }
    }

    private func contradiction(in answer: Acknowledged) -> String? {
        if let unknown = unknown(answer.number) { return unknown }
        if overlay[answer.number]?.state == .accepted {
            return "intent \(answer.number) is accepted already"
        }
        switch kind {
        case .acknowledgement:
            return answer.settles && answer.position == nil
                ? nil : "an acknowledgement log has a position, or an accepted intent"
        case .downlink:
            let hasCome = answer.position.map { $0 <= through } ?? false
            return answer.position != 0 && answer.settles == hasCome
                ? nil : "intent \(answer.number) is confirmed where it should be accepted, or not"
        }
    }

    private func contradiction(in batch: ConfirmedBatch) -> String? {
        if kind == .acknowledgement { return "an acknowledgement log has a batch" }
        let highest = batch.events.map(\.position).max() ?? 0
        if highest > batch.through || batch.events.contains(where: { $0.position < 1 }) {
            return "a batch through \(batch.through) has a position outside of it"
        }
        if !zip(batch.settled, batch.settled.dropFirst()).allSatisfy({ $0 < $1 }) {
            return "a batch settles an intent twice"
        }
        return batch.settled.lazy.compactMap { unknown($0) }.first
    }

    private func unknown(_ number: IntentNumber) -> String? {
        wasRecorded(number) ? nil : "intent \(number) was never recorded"
    }

    private func notRejected(_ number: IntentNumber) -> String? {
        rejections[number] == nil ? "intent \(number) is not in the list of rejections" : nil
    }
}
