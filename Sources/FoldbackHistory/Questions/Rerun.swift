import Foldback

/// The results of a log under two versions of a projection: see
/// ``LogReader/rerun(_:_:also:divergencesMax:)``.
public struct Rerun: Sendable {
    /// Whether the new version can fold the log, and the first reason against it.
    public enum Compatibility: Hashable, Sendable {
        /// Every event can be read and applies as before.
        case fine
        /// The log can be folded, but an event that applied does not apply, or neither version can
        /// read an event. With the reason and the first such entry.
        case risky(String, LogSequence)
        /// The new version cannot read an event that the old version can. With the reason and the
        /// first such entry.
        case impossible(String, LogSequence)
    }

    public let compatibility: Compatibility
    /// The first divergences, at most `divergencesMax`.
    public let divergences: [Divergence]
    /// The number of all divergences.
    public let divergenceCount: Int
    /// Everything that differs at the end.
    public let end: Divergence
    public let entryCount: Int
}

extension LogReader {
    /// Folds the log under two versions of a projection. Returns whether the new version can fold
    /// it, and where the states differ.
    ///
    /// - Parameters:
    ///   - old: the present version.
    ///   - new: the version to use instead, also where conflicts are shared.
    ///   - also: the log's other projections; see ``replay(_:also:from:)``.
    ///   - divergencesMax: the maximum number of divergences in the result.
    /// - Complexity: folds the log twice. If ``/Foldback/Projection/places(touchedBy:_:)`` of both
    ///   versions says what an entry touches, only these places are compared. Else both states are
    ///   compared as a whole after each entry.
    /// - Throws: `.lacksProjections`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func rerun<Old: Projection, New: Projection>(
        _ old: Old.Type, _ new: New.Type, also: [AdditionalProjection<Old.Event>] = [],
        divergencesMax: Int = 100
    ) throws(FoldbackError) -> Rerun {
        var first = try replay(old, also: also)
        // Another version may have other events. Then the other projections cannot fold with it.
        let others = also as Any as? [AdditionalProjection<New.Event>] ?? []
        var second = try LogReplay<New>(log, also: others, from: 0, inPlaceOf: Old.memberName)
        first.startTracking()
        second.startTracking()
        var differing = DifferenceTracker()
        // The states may already differ before the first entry.
        var divergences = [differing.look(first.snapshot, second.snapshot, at: .anything)]
            .compactMap { $0 }
        var compatibility = Rerun.Compatibility.fine
        var (divergenceCount, entryCount) = (divergences.count, 0)
        while let left = try first.nextRecord(), let right = try second.nextRecord() {
            entryCount += 1
            let (lost, unread) = Self.unreadable(left, right)
            if let reason = lost {
                if case .impossible = compatibility {
                } else {
                    compatibility = .impossible(reason, left.stamp.sequence)
                }
            } else if compatibility == .fine,
                let reason = unread ?? Self.risk(first.snapshot, second.snapshot)
            {
                compatibility = .risky(reason, left.stamp.sequence)
            }
            var touched = first.touched
            touched.unite(second.touched)
            guard let divergence = differing.look(first.snapshot, second.snapshot, at: touched)
            else { continue }
            divergenceCount += 1
            if divergences.count < divergencesMax { divergences.append(divergence) }
        }
        return Rerun(
            compatibility: compatibility, divergences: divergences,
            divergenceCount: divergenceCount,
            end: differing.whole(at: first.sequence), entryCount: entryCount)
    }

    /// - Returns: in `lost` the first event that the old version can read and the new version
    ///   cannot; in `unread` an event that neither version can read.
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
