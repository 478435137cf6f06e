import Foldback

/// One pass over a log under two versions of a projection.
struct RerunPass<Old: Projection, New: Projection> {
    private var versions: VersionPair<Old, New>
    private let divergencesMax: Int
    /// Tells which entries need a look; nil if every entry needs one.
    private var parts: (any PartTracker<Old, New>)?

    private var differing = DifferenceTracker()
    private var compatibility = Rerun.Compatibility.fine
    private var divergences: [Divergence] = []
    private var divergenceCount = 0
    private var entryCount = 0
    /// The number of entries after which whole states are compared next.
    private var nextCheck = 1_024

    init(
        _ versions: VersionPair<Old, New>, _ divergencesMax: Int,
        comparing parts: (any PartTracker<Old, New>)?
    ) {
        self.versions = versions
        self.divergencesMax = divergencesMax
        self.parts = parts
    }

    enum Outcome {
        case done(Rerun)
        /// A comparison of the whole states, after this entry, found a difference that the parts
        /// had missed.
        case partsFailed(LogSequence)
    }

    /// Goes through the whole log.
    mutating func run() throws(FoldbackError) -> Outcome {
        // The states may already differ before the first entry.
        look(at: .anything)
        while let (old, new) = try versions.next() {
            entryCount += 1
            note(unreadable(old, new), at: old.stamp.sequence)
            if let touched = placesToLookAt() { look(at: touched) }
            if entryCount == nextCheck {
                nextCheck *= 4
                guard hasFoundAll() else { return .partsFailed(versions.sequence) }
            }
        }
        guard hasFoundAll() else { return .partsFailed(versions.sequence) }
        return .done(
            Rerun(
                compatibility: compatibility, divergences: divergences,
                divergenceCount: divergenceCount,
                end: differing.whole(at: versions.sequence), entryCount: entryCount))
    }

    /// Returns the places at which the difference may have changed; nil if the last entry needs no
    /// look at all.
    private mutating func placesToLookAt() -> TouchedPlaces? {
        let isDifferent = differing.isStateDifferent
        if parts?.canHaveChanged(versions, isDifferent: isDifferent) ?? true {
            return versions.touchedPlaces
        }
        let isRisky = versions.hasConflicts || (compatibility == .fine && versions.hasNewFaults)
        return isRisky || differing.hasConflicts ? TouchedPlaces() : nil
    }

    /// Compares the two versions after the last entry.
    private mutating func look(at touched: TouchedPlaces) {
        let (old, new) = versions.snapshots()
        if compatibility == .fine, entryCount > 0, let reason = Self.risk(old, new) {
            compatibility = .risky(reason, versions.sequence)
        }
        guard let divergence = differing.look(old, new, at: touched) else { return }
        divergenceCount += 1
        if divergences.count < divergencesMax { divergences.append(divergence) }
    }

    /// Returns whether the differences that were found are the differences of the whole states.
    private mutating func hasFoundAll() -> Bool {
        guard parts != nil else { return true }  // mutant: parts-check
        let (old, new) = versions.snapshots()
        return differing.agrees(with: old, new)
    }

    // MARK: Compatibility

    /// Returns in `lost` the first event that the old version can read and the new version cannot;
    /// in `unread` an event that neither version can read.
    private func unreadable(_ left: Record, _ right: Record) -> (lost: String?, unread: String?) {
        let payloads = right.entry.payloads
        guard payloads.contains(where: \.isUnreadable) else { return (nil, nil) }
        var unread: String?
        for (old, new) in zip(left.entry.payloads, payloads) where new.isUnreadable {
            let event = "the event of \(old.format) cannot be read"
            guard old.isUnreadable else { return ("\(event): \(new.text)", nil) }
            unread = unread ?? "\(event) by either version: \(new.text)"
        }
        return (nil, unread)
    }

    private mutating func note(
        _ unreadable: (lost: String?, unread: String?), at sequence: LogSequence
    ) {
        if let reason = unreadable.lost {
            if case .impossible = compatibility { return }
            compatibility = .impossible(reason, sequence)
        } else if compatibility == .fine, let reason = unreadable.unread {
            compatibility = .risky(reason, sequence)
        }
    }

    private static func risk(_ old: Snapshot<Old>, _ new: Snapshot<New>) -> String? {
        if new.faults.count > old.faults.count, let fault = new.faults.last {
            return "a confirmed event no longer applies: \(fault.reason)"
        }
        for number in new.conflicted where old.conflict(of: number) == nil {
            return "intent \(number) no longer applies: \(new.conflict(of: number) ?? "")"
        }
        return nil
    }
}
