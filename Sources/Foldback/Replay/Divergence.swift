/// An entry behind which two states differ.
public struct Divergence: Hashable, Sendable {
    /// Behind which entry; 0: before the first.
    public let sequence: LogSequence
    /// Where the view differs, from what was to what is instead.
    public let view: [JSONDifference]
    /// The same of confirmed state.
    public let confirmed: [JSONDifference]
    /// Overlay intents that are conflicted in one of the two only.
    public let conflicts: [IntentNumber]

    var isNone: Bool { view.isEmpty && confirmed.isEmpty && conflicts.isEmpty }

    init<P: Projection, Q: Projection>(
        _ sequence: LogSequence, _ old: Snapshot<P>, _ new: Snapshot<Q>
    ) {
        self.sequence = sequence
        view = JSON(describing: old.view).differences(to: JSON(describing: new.view))
        confirmed = JSON(describing: old.confirmed)
            .differences(to: JSON(describing: new.confirmed))
        conflicts = Set(old.conflicted).symmetricDifference(new.conflicted).sorted()
    }
}

extension RecordedHistory {
    /// Where a branch of this history shows something else, entry by entry: behind each entry of this history,
    /// what the branch shows once it has had that one. The last is how both end.
    ///
    /// - Complexity: folds both; each state is looked at whole.
    public func divergences<P: Projection>(
        of branch: HistoryBranch<Event>, in projection: P.Type
    ) -> [Divergence] where P.Event == Event {
        var found: [Divergence] = []
        var others = branch.history.snapshots(of: projection)
        var other = RecordedHistory(empty: self).snapshot(of: projection)
        var places: [LogSequence: Int] = [:]
        for (place, sequence) in branch.history.sequences.enumerated() {
            if let origin = branch.origins[sequence] { places[origin] = place }
        }
        var taken = 0
        var last = other
        for snapshot in snapshots(of: projection) {
            // New entries behind this one belong to the next.
            while let place = places[snapshot.sequence], taken <= place, let next = others.next() {
                other = next
                taken += 1
            }
            let divergence = Divergence(snapshot.sequence, snapshot, other)
            if !divergence.isNone { found.append(divergence) }
            last = snapshot
        }
        guard taken < branch.history.count else { return found }
        while let next = others.next() { other = next }
        let end = Divergence(last.sequence, last, other)
        if found.last?.sequence == end.sequence { found.removeLast() }
        return end.isNone ? found : found + [end]
    }

    private init(empty other: RecordedHistory) {
        self = other.following([])
    }
}

/// What a history gives under two versions of a projection: ``LogReader/rerun(_:_:divergencesMax:)``.
public struct Rerun: Sendable {
    public enum Verdict: Hashable, Sendable {
        /// Every event can be read and applies as before.
        case fine
        /// It can be folded, and something does not apply that did: what, and behind which entry first.
        case risky(String, LogSequence)
        /// The new version cannot read what the old one could: why, and in which entry first.
        case impossible(String, LogSequence)
    }

    public let verdict: Verdict
    /// Entries behind which the two show something else, the first ones.
    public let divergences: [Divergence]
    /// How many there are in all.
    public let divergenceCount: Int
    public let entryCount: Int
}

extension LogReader {
    /// Folds the log under two versions of a projection side by side: whether the new one can take it, and where
    /// the results differ.
    ///
    /// - Parameters:
    ///   - old: what there was.
    ///   - new: what there is to be instead.
    ///   - divergencesMax: how many are kept.
    /// - Complexity: folds the log twice, and looks at both states whole behind each entry.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func rerun<Old: Projection, New: Projection>(
        _ old: Old.Type, _ new: New.Type, divergencesMax: Int = 100
    ) throws(FoldbackError) -> Rerun {
        var (first, second) = (try replay(old), try replay(new))
        var verdict = Rerun.Verdict.fine
        var divergences: [Divergence] = []
        var (divergenceCount, entryCount) = (0, 0)
        while let left = try first.next(), let right = try second.next() {
            entryCount += 1
            if let reason = Self.reason(left, right) {
                if case .impossible = verdict {
                } else {
                    verdict = .impossible(reason, left.sequence)
                }
            } else if verdict == .fine, let reason = Self.risk(first.snapshot, second.snapshot) {
                verdict = .risky(reason, left.sequence)
            }
            let divergence = Divergence(left.sequence, first.snapshot, second.snapshot)
            guard !divergence.isNone else { continue }
            divergenceCount += 1
            if divergences.count < divergencesMax { divergences.append(divergence) }
        }
        return Rerun(
            verdict: verdict, divergences: divergences, divergenceCount: divergenceCount,
            entryCount: entryCount)
    }

    private static func reason<A, B>(_ left: LogEntry<A>, _ right: LogEntry<B>) -> String? {
        for (old, new) in zip(left.events, right.events) where old.event != nil {
            if new.event == nil { return "the event of \(old.format) cannot be read: \(new.text)" }
        }
        return nil
    }

    private static func risk<A, B>(_ old: Snapshot<A>, _ new: Snapshot<B>) -> String? {
        if new.faults.count > old.faults.count, let fault = new.faults.last {
            return "a confirmed event no longer applies: \(fault.reason)"
        }
        for number in new.conflicted where old.conflict(of: number) == nil {
            return "intent \(number) no longer applies: \(new.conflict(of: number) ?? "")"
        }
        return nil
    }
}

extension LogEntry {
    /// The events that the entry brings.
    public var events: [LoggedEvent<Event>] {
        switch content {
        case .intent(_, let event, _, _, _): [event]
        case .acknowledged(_, _, let replacement): replacement.map { [$0] } ?? []
        case .confirmed(let events, _): events.map(\.event)
        case .rejected, .withdrawn, .dismissed: []
        }
    }
}

extension LoggedEvent {
    /// The event's bytes as text where they are any.
    public var text: String {
        String(validating: bytes, as: UTF8.self) ?? "\(bytes.count) bytes"
    }
}
