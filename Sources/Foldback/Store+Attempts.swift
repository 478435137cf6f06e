/// What is known of sending: beside the log, so sequence, view and chain are as they were (F1).
extension Store {
    /// Attempts of pending intents, by number. A row goes with the intent's answer, in one transaction.
    ///
    /// Any task; still there when the store is closed or latched. O(n) in pending intents that were
    /// ever sent.
    public var attempts: [IntentNumber: Attempt] {
        Dictionary(uniqueKeysWithValues: core.writer.attempts.map { ($0.key, $0.value) })
    }

    /// What is known of sending a pending intent; nil where it was never begun, or it is answered. O(log n).
    public func attempt(of number: IntentNumber) -> Attempt? { core.writer.attempts[number] }

    /// Writes attempts of those intents that are pending still; the rest is passed over.
    ///
    /// From a first attempt on an intent cannot be withdrawn, so those that are returned, and no others,
    /// may be sent (F7).
    /// - Parameter flushes: whether everything written so far, the intents included, survives a power cut
    ///   when this returns, under `.relaxed` too (L2).
    /// - Returns: the intents that are pending, ascending.
    /// - Throws: `.cancelled`, `.closed`, `.latched`, `.storage`: nothing was written. `.outcomeUnknown`:
    ///   it may have been (L6).
    package nonisolated(nonsending) func note(
        _ attempts: [IntentNumber: Attempt], flushes: Bool
    ) async throws(FoldbackError) -> [IntentNumber] {
        let request = try await core.submit(
            .attempt(attempts, flushes: flushes), bytes: attempts.count * 64)
        switch try await request.outcome() {
        case .attempted(let numbers): return numbers
        case let other: preconditionFailure("\(other) is no outcome of noting attempts")
        }
    }
}
