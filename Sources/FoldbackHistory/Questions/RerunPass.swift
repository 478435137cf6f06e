import Foldback

/// One pass over a log under two versions of a projection.
struct RerunPass<Old: Projection, New: Projection> {
    private var versions: VersionPair<Old, New>
    private let divergencesMax: Int
    /// Tells which entries need a look; nil if every entry needs one.
    private let parts: PartTracker?

    private var differing = DifferenceTracker()
    private var compatibility = Rerun.Compatibility.fine
    private var divergences: [Divergence] = []
    private var divergenceCount = 0
    private var entryCount = 0
    /// The number of entries after which whole states are compared next.
    private var nextCheck = 1_024

    init(
        _ versions: VersionPair<Old, New>, _ divergencesMax: Int,
        comparing parts: PartTracker?
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
    mutating func run() throws(LogError) -> Outcome {
        // The states may already differ before the first entry.
        look(at: .anything)
        while let unreadable = try versions.next() {
            entryCount += 1
            note(unreadable)
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
        if parts?.canHaveChanged(versions.readings, isDifferent: isDifferent) ?? true {
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

    private mutating func note(_ unreadable: UnreadableEvents) {
        if let reason = unreadable.lost {
            if case .impossible = compatibility { return }
            compatibility = .impossible(reason, versions.sequence)
        } else if let reason = unreadable.unread, compatibility == .fine {
            compatibility = .risky(reason, versions.sequence)
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
