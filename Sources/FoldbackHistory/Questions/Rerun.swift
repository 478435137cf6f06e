import Foldback

/// What a history gives under two versions of a projection: ``LogReader/rerun(_:_:divergencesMax:)``.
public struct Rerun: Sendable {
    public enum Compatibility: Hashable, Sendable {
        /// Every event can be read and applies as before.
        case fine
        /// It can be folded, and something does not apply that did, or neither version can read an event: what, and
        /// behind which entry first.
        case risky(String, LogSequence)
        /// The new version cannot read what the old one could: why, and in which entry first.
        case impossible(String, LogSequence)
    }

    public let verdict: Compatibility
    /// What each entry brought, the first ones.
    public let divergences: [Divergence]
    /// How many there are in all.
    public let divergenceCount: Int
    /// All that differs in the end.
    public let end: Divergence
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
    /// - Complexity: folds the log twice; looks at what an entry touched where both versions'
    ///   ``Projection/places(touchedBy:_:)`` say so, otherwise at both states whole behind each entry.
    /// - Throws: `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func rerun<Old: Projection, New: Projection>(
        _ old: Old.Type, _ new: New.Type, divergencesMax: Int = 100
    ) throws(FoldbackError) -> Rerun {
        var (first, second) = (try replay(old), try replay(new))
        first.noteTouched()
        second.noteTouched()
        var differing = DifferenceTracker()
        // Before the first entry they may differ already.
        var divergences = [differing.look(first.snapshot, second.snapshot, at: .anything)]
            .compactMap { $0 }
        var verdict = Rerun.Compatibility.fine
        var (divergenceCount, entryCount) = (divergences.count, 0)
        while let left = try first.nextRecord(), let right = try second.nextRecord() {
            entryCount += 1
            let (lost, unread) = Self.unreadable(left, right)
            if let reason = lost {
                if case .impossible = verdict {
                } else {
                    verdict = .impossible(reason, left.stamp.sequence)
                }
            } else if verdict == .fine,
                let reason = unread ?? Self.risk(first.snapshot, second.snapshot)
            {
                verdict = .risky(reason, left.stamp.sequence)
            }
            var touched = first.touched
            touched.unite(second.touched)
            guard let divergence = differing.look(first.snapshot, second.snapshot, at: touched)
            else { continue }
            divergenceCount += 1
            if divergences.count < divergencesMax { divergences.append(divergence) }
        }
        return Rerun(
            verdict: verdict, divergences: divergences, divergenceCount: divergenceCount,
            end: differing.whole(at: first.sequence), entryCount: entryCount)
    }

    /// - Returns: of which event the new version cannot read what the old one can, and which neither can.
    private static func unreadable(
        _ left: Record, _ right: Record
    ) -> (lost: String?, unread: String?) {
        var unread: String?
        for (old, new) in zip(left.entry.payloads, right.entry.payloads) where new.isUnreadable {
            let event = "the event of \(old.format) cannot be read"
            guard old.isUnreadable else { return ("\(event): \(new.text)", nil) }
            unread = unread ?? "\(event) by either version: \(new.text)"
        }
        return (nil, unread)
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
