/// What is known beside the entries of a log. Decisions depend on it, and no fold does (F1).
package struct LogFacts: Sendable {
    /// The attempts to send pending intents.
    package fileprivate(set) var attempts = Attempts()
    /// The pending intents that another log may have sent, because this one is a copy of it (BK2).
    let sentElsewhere: Set<IntentNumber>
    /// The lineage of the authority that the log has answers from; nil if none was named yet.
    package fileprivate(set) var lineage: Lineage?
    /// The newest digest that a page named; nil if none did.
    fileprivate(set) var digest: NotedDigest?
    /// The finding that the authority has lost events; nil if it was not made.
    package fileprivate(set) var lostData: LostData?
    /// The faults that a person has seen; nil if none were marked.
    package fileprivate(set) var seenFaults: SeenFaults?

    package init(
        attempts: Attempts = Attempts(), sentElsewhere: Set<IntentNumber> = [],
        lineage: Lineage? = nil, digest: NotedDigest? = nil, lostData: LostData? = nil,
        seenFaults: SeenFaults? = nil
    ) {
        self.sentElsewhere = sentElsewhere
        self.seenFaults = seenFaults
        self.attempts = attempts
        self.lineage = lineage
        self.digest = digest
        self.lostData = lostData
    }

    /// Returns the authority's digest at the position that the log covers; nil if it is not known: the page
    /// that raised `through` named none, or older code recorded it.
    func digest(at through: Position) -> RunningDigest? {
        digest.flatMap { $0.through == through ? $0.digest : nil }  // mutant: stale-digest
    }

    /// Whether the authority may have a pending intent (F7, BK2).
    func mayHaveLeft(_ number: IntentNumber) -> Bool {
        attempts[number] != nil || sentElsewhere.contains(number)
    }
}

/// The digest that an authority has at a position (N6).
package struct NotedDigest: Equatable, Sendable {
    let through: Position
    let digest: RunningDigest

    package init(_ digest: RunningDigest, at through: Position) {
        self.through = through
        self.digest = digest
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

/// The mark of the faults that a person has seen.
///
/// Faults depend on the code of the app, so a number of faults would mean something else after an
/// update.
package struct SeenFaults: Equatable, Sendable {
    /// The last entry whose faults were shown.
    package let through: LogSequence
    /// The hashes of the reasons that were shown; nil if there were too many to show.
    package let reasons: Set<UInt64>?

    package init(through: LogSequence, reasons: Set<UInt64>?) {
        self.through = through
        self.reasons = reasons
    }
}

/// The decisions on what is known beside the entries.
extension LogState {
    /// Refuses everything of an authority that is not the one that the log knows, or that has lost
    /// events (N6).
    ///
    /// - Parameter digest: what the answer names as the authority's digest; nil if it names none.
    package func refusal(
        ofAuthority named: Lineage?, with digest: NotedDigest? = nil
    ) -> Refusal? {
        if let lostData = facts.lostData { return .superseded(shared: lostData.shared) }
        if let named, named.isOther(than: facts.lineage) { return .superseded(shared: 0) }
        if let digest, let known = facts.digest, digest.through == known.through, digest != known {
            return .superseded(shared: 0)
        }
        return nil
    }

    /// Keeps the first lineage that an answer names. Returns nil if it is known already.
    package mutating func noteLineage(_ named: Lineage?) -> Lineage? {
        guard facts.lineage == nil, let named else { return nil }
        facts.lineage = named
        return named
    }

    /// Keeps the authority's digest if it is that of exactly what the log covers. Returns whether that is
    /// new.
    package mutating func noteDigest(_ named: NotedDigest) -> Bool {
        guard named.through == through, named != facts.digest else { return false }
        facts.digest = named
        return true
    }

    /// Forgets the authority's digest. Returns whether one was known.
    package mutating func forgetDigest() -> Bool {
        defer { facts.digest = nil }
        return facts.digest != nil
    }

    /// Keeps, or with nil forgets, that the authority has lost events. Returns whether that is new.
    package mutating func noteLostData(_ lostData: LostData?) -> Bool {
        guard lostData != facts.lostData else { return false }
        facts.lostData = lostData
        return true
    }

    /// Keeps which faults a person has seen. Returns whether that is new.
    package mutating func noteSeenFaults(_ seen: SeenFaults) -> Bool {
        // A late mark of an earlier summary takes nothing back.
        guard seen != facts.seenFaults, seen.through >= facts.seenFaults?.through ?? 0 else {
            return false
        }
        facts.seenFaults = seen
        return true
    }

    /// Keeps the attempts to send intents that are still pending, and ignores the others.
    ///
    /// - Returns: the attempts that were kept, in order of number.
    package mutating func noteAttempts(
        _ attempts: [IntentNumber: Attempt]
    ) -> [(number: IntentNumber, attempt: Attempt)] {
        let pending = attempts.filter { overlay[$0.key]?.state == .pending }  // mutant: attempted
        let sendable = pending.filter { drafts[$0.key] != .held }  // mutant: attempted-draft
        let kept = sendable.sorted { $0.key < $1.key }
            .map { (number: $0.key, attempt: $0.value) }
        for (number, attempt) in kept { facts.attempts[number] = attempt }
        return kept
    }

    /// Returns the pending intents that another log may have sent, because it has them too (BK2).
    ///
    /// Drafts are left out, and so is what undoes a pending intent: no log sends them as they are.
    ///
    /// - Parameter isCopied: whether another log has an intent.
    package func sentElsewhere(where isCopied: (IntentID) -> Bool) -> [RecordedIntent] {
        var sent: [RecordedIntent] = []
        for (number, intent) in overlay where intent.state == .pending {
            guard isCopied(intent.recorded.id) else { continue }  // mutant: copied-intent
            let undone = intent.recorded.terms.undoes.flatMap { overlay[$0] }
            if drafts[number] == .held || undone?.state == .pending { continue }
            sent.append(intent.recorded)
        }
        return sent
    }

    /// Forgets the attempts to send an intent that is answered. Returns whether there were any.
    package mutating func endAttempts(of number: IntentNumber) -> Bool {
        guard !facts.attempts.isEmpty, facts.attempts[number] != nil else { return false }
        facts.attempts[number] = nil
        return true
    }
}
