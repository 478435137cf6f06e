/// What is known beside the entries of a log. Decisions depend on it, and no fold does (F1).
package struct LogFacts: Sendable {
    /// The attempts to send pending intents.
    package fileprivate(set) var attempts = Attempts()
    /// The lineage of the authority that the log has answers from; nil if none was named yet.
    package fileprivate(set) var lineage: Lineage?
    /// The finding that the authority has lost events; nil if it was not made.
    package fileprivate(set) var lostData: LostData?

    package init(
        attempts: Attempts = Attempts(), lineage: Lineage? = nil, lostData: LostData? = nil
    ) {
        self.attempts = attempts
        self.lineage = lineage
        self.lostData = lostData
    }
}

/// The finding that the authority has lost events that this log has from it (N6).
///
/// The log keeps it because the authority's head rises again. Later, nothing would show the loss.
/// The log does not keep that an answer had another lineage, because each answer shows it.
package struct LostData: Equatable, Sendable {
    /// The last position that the authority had when the loss was found.
    package let shared: Position

    package init(shared: Position) { self.shared = shared }
}

/// The decisions on what is known beside the entries.
extension LogState {
    /// Refuses everything of an authority that is not the one that the log knows, or that has lost
    /// events (N6).
    package func refusal(ofAuthority named: Lineage?) -> Refusal? {
        if let lostData = facts.lostData { return .superseded(shared: lostData.shared) }
        if let named, named.isOther(than: facts.lineage) { return .superseded(shared: 0) }
        return nil
    }

    /// Keeps the first lineage that an answer names. Returns nil if it is known already.
    package mutating func noteLineage(_ named: Lineage?) -> Lineage? {
        guard facts.lineage == nil, let named else { return nil }
        facts.lineage = named
        return named
    }

    /// Keeps, or with nil forgets, that the authority has lost events. Returns whether that is new.
    package mutating func noteLostData(_ lostData: LostData?) -> Bool {
        guard lostData != facts.lostData else { return false }
        facts.lostData = lostData
        return true
    }

    /// Keeps the attempts to send intents that are still pending, and ignores the others.
    ///
    /// - Returns: the attempts that were kept, in order of number.
    package mutating func noteAttempts(
        _ attempts: [IntentNumber: Attempt]
    ) -> [(number: IntentNumber, attempt: Attempt)] {
        let pending = attempts.filter { overlay[$0.key]?.state == .pending }  // mutant: attempted
        let kept = pending.sorted { $0.key < $1.key }
            .map { (number: $0.key, attempt: $0.value) }
        for (number, attempt) in kept { facts.attempts[number] = attempt }
        return kept
    }

    /// Forgets the attempts to send an intent that is answered. Returns whether there were any.
    package mutating func endAttempts(of number: IntentNumber) -> Bool {
        guard !facts.attempts.isEmpty, facts.attempts[number] != nil else { return false }
        facts.attempts[number] = nil
        return true
    }
}
