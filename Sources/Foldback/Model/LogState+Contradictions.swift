extension LogState {
    /// Why an entry read from a disk cannot follow on this state, nil if it can. The checksums say that
    /// it is what was written; this says that what was written makes sense, so that `apply` can rely
    /// on it.
    package func contradiction(in entry: Entry) -> String? {
        switch entry {
        case .intent(let intent):
            intent.number == nextNumber
                ? nil : "intent \(intent.number) comes where \(nextNumber) should"
        case .acknowledged(let answer):
            unknown(answer.number)
                ?? (kind == .acknowledgement && !answer.settles
                    ? "an acknowledgement log has an accepted intent" : nil)
        case .rejected(let number, _), .withdrawn(let number):
            overlay[number] == nil ? "intent \(number) is not in the overlay" : nil
        case .dismissed(let number): unknown(number)
        case .confirmed(let batch):
            kind == .acknowledgement
                ? "an acknowledgement log has a batch"
                : batch.settled.lazy.compactMap { unknown($0) }.first
        }
    }

    private func unknown(_ number: IntentNumber) -> String? {
        wasRecorded(number) ? nil : "intent \(number) was never recorded"
    }
}
