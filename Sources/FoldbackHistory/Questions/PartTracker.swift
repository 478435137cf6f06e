import Foldback

/// Tells at which entries the difference between two versions can have changed, by the parts of the
/// keys that each entry touches (``TraceableProjection/part(at:)``).
struct PartTracker {
    private let versions: any PartedVersions.Type
    private let view: _PartDifferences
    private let confirmed: _PartDifferences

    /// Creates the tracker of two versions.
    ///
    /// - Returns: nil if they have no parts, or do not have the same types of keys and parts.
    init?<Old: Projection, New: Projection>(_: Old.Type, _: New.Type) {
        guard let versions = VersionPair<Old, New>.self as? any PartedVersions.Type,
            let view = versions.makeDifferences(), let confirmed = versions.makeDifferences()
        else { return nil }
        self.versions = versions
        self.view = view
        self.confirmed = confirmed
    }

    /// Returns whether the last entry can have changed the difference between the states: a part of
    /// a key that it touches differs, or differed before.
    ///
    /// - Parameter isDifferent: whether the described states differed before the entry.
    func canHaveChanged(_ readings: Readings, isDifferent: Bool) -> Bool {
        let old = readings.touchedByOld
        let new = readings.touchedByNew
        var canHaveChanged = false
        // Most entries touch only one of the two states.
        if old.isViewTouched || new.isViewTouched {
            view.begin(isDifferent: isDifferent)
            compare(old.view, new.view, readings, .view, view)
            canHaveChanged = view.isFound
        }
        if old.isConfirmedTouched || new.isConfirmedTouched {
            confirmed.begin(isDifferent: isDifferent)
            compare(old.confirmed, new.confirmed, readings, .confirmed, confirmed)
            canHaveChanged = canHaveChanged || confirmed.isFound
        }
        return canHaveChanged
    }

    /// Compares the parts of the keys that the events touch.
    ///
    /// - Parameters:
    ///   - old: the events as the old version reads them; nil means any events.
    ///   - new: the same for the new version.
    private func compare(
        _ old: [Folded]?, _ new: [Folded]?, _ readings: Readings, _ state: ComparedState,
        _ differences: _PartDifferences
    ) {
        guard let old, let new, old.count == new.count else {
            return differences.noteUnknownKeys()
        }
        versions.compare(old, new, readings, state, differences)
    }
}

/// Two versions whose parts can be compared.
private protocol PartedVersions {
    /// Returns nil if the versions have no parts.
    static func makeDifferences() -> _PartDifferences?

    /// Compares the parts of the keys that events touch.
    ///
    /// - Parameters:
    ///   - old: the events as the old version reads them.
    ///   - new: the same events as the new version reads them.
    static func compare(
        _ old: [Folded], _ new: [Folded], _ readings: Readings, _ state: ComparedState,
        _ differences: _PartDifferences)
}

extension VersionPair: PartedVersions
where
    Old: TraceableProjection, New: TraceableProjection, Old.Key == New.Key, Old.Part == New.Part
{
    fileprivate static func makeDifferences() -> _PartDifferences? {
        Old.Part.self == Never.self ? nil : _KeyedPartDifferences<Old.Key, Old.Part>()
    }

    fileprivate static func compare(
        _ old: [Folded], _ new: [Folded], _ readings: Readings, _ state: ComparedState,
        _ differences: _PartDifferences
    ) {
        let oldState = readings.oldFold.state(state, of: Old.self)
        let newState = readings.newFold.state(state, of: New.self)
        for (old, new) in zip(old, new) {
            differences.beginEvent()
            // An event that cannot be read touches no key, because it changes nothing.
            if let event: Old.Event = old.payload.event() {
                oldState._noteParts(touchedBy: event, old.context, in: differences)
            }
            if differences.hasNoted { newState._compareParts(in: differences) }
            // One version names the same keys again.
            guard Old.self != New.self else { continue }
            if let event: New.Event = new.payload.event() {
                newState._noteParts(touchedBy: event, new.context, in: differences)
            }
            if differences.hasNoted { oldState._compareParts(in: differences) }
        }
    }
}
