import Foldback

/// The results of a log under two versions of a projection: see
/// ``LogReader/rerun(_:_:also:divergencesMax:)``.
public struct Rerun: Hashable, Sendable {
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
    /// The entry after which a check found that the parts of keys had missed a difference; nil if
    /// none did. The result then comes from a comparison without parts.
    public internal(set) var partsFailed: LogSequence?
}

extension LogReader {
    /// Folds the log under two versions of a projection. Returns whether the new version can fold
    /// it, and where the states differ.
    ///
    /// After each entry, the states are compared as JSON at the places that the entry touches. If
    /// both versions have keys and parts of the same types (``TraceableProjection/part(at:)``), the
    /// parts of the touched keys are compared first. Then only an entry at which one of them
    /// differs, or differed before, needs the comparison as JSON.
    ///
    /// Law P16 of FoldbackTesting checks that parts show every difference. This function checks it
    /// too: it compares the whole states after 1,024 entries, 4,096 entries, and so on, and at the
    /// end. If the parts have missed a difference, the log is folded again and compared without
    /// parts (``Rerun/partsFailed``). A difference that no part shows, and that comes and goes
    /// between two of these checks, is not found.
    ///
    /// - Parameters:
    ///   - old: the present version.
    ///   - new: the version to use instead, also where conflicts are shared.
    ///   - also: the log's other projections; see ``replay(_:also:from:)``.
    ///   - divergencesMax: the maximum number of divergences in the result.
    /// - Complexity: folds the log under both versions. Without parts, if
    ///   ``TraceableProjection/places(touchedBy:_:)`` of both versions says what an entry touches,
    ///   only these places are compared as JSON. Else both states are compared as a whole.
    /// - Throws: `.lacksProjections`, `.damaged`, `.newerFormat`, `.closed`, `.storage`.
    public func rerun<Old: Projection, New: Projection>(
        _ old: Old.Type, _ new: New.Type, also: [AdditionalProjection<Old.Event>] = [],
        divergencesMax: Int = 100
    ) throws(LogError) -> Rerun {
        var failed: LogSequence?
        if let parts = PartTracker(old, new) {
            var pass = RerunPass(
                try VersionPair<Old, New>(log, also: also), divergencesMax, comparing: parts)
            switch try pass.run() {
            case .done(let rerun): return rerun
            case .partsFailed(let sequence): failed = sequence
            }
        }
        var rerun = try rerunWithoutParts(old, new, also: also, divergencesMax: divergencesMax)
        rerun.partsFailed = failed
        return rerun
    }

    /// Returns the same as ``rerun(_:_:also:divergencesMax:)``, without comparing parts.
    ///
    /// - Complexity: as if the versions had no parts.
    /// - Throws: as ``rerun(_:_:also:divergencesMax:)``.
    package func rerunWithoutParts<Old: Projection, New: Projection>(
        _: Old.Type, _: New.Type, also: [AdditionalProjection<Old.Event>] = [],
        divergencesMax: Int = 100
    ) throws(LogError) -> Rerun {
        var pass = RerunPass(
            try VersionPair<Old, New>(log, also: also), divergencesMax, comparing: nil)
        guard case .done(let rerun) = try pass.run() else {
            preconditionFailure("a pass without parts said that they failed")
        }
        return rerun
    }
}
