import Foldback

/// Tells at which entries the difference between two versions can have changed, by the parts of the
/// keys that each entry touches (``/Foldback/Projection/part(at:)``).
struct PartTracker {
    private let view: _PartDifferences
    private let confirmed: _PartDifferences
    /// Whether both versions are one type. Then they name the same keys.
    private let isOneVersion: Bool

    /// Creates the tracker of two versions.
    ///
    /// - Returns: nil if they have no parts, or do not have the same types of keys and parts.
    init?<Old: Projection, New: Projection>(_: Old.Type, _: New.Type) {
        guard Old.Part.self != Never.self,
            let versions = VersionPair<Old, New>.self as? any PartComparable.Type
        else { return nil }
        view = versions.makeDifferences()
        confirmed = versions.makeDifferences()
        isOneVersion = Old.self == New.self
    }

    /// Returns whether the last entry can have changed the difference between the states: a part of
    /// a key that it touches differs, or differed before.
    ///
    /// - Parameter isDifferent: whether the described states differed before the entry.
    func canHaveChanged(_ versions: Readings, isDifferent: Bool) -> Bool {
        let old = versions.touchedByOld
        let new = versions.touchedByNew
        var canHaveChanged = false
        // Most entries touch only one of the two states.
        if old.isViewTouched || new.isViewTouched {
            view.begin(isDifferent: isDifferent)
            compare(old.view, new.view, versions, .view, view)
            canHaveChanged = view.isFound
        }
        if old.isConfirmedTouched || new.isConfirmedTouched {
            confirmed.begin(isDifferent: isDifferent)
            compare(old.confirmed, new.confirmed, versions, .confirmed, confirmed)
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
        _ old: [Folded]?, _ new: [Folded]?, _ versions: Readings, _ state: ComparedState,
        _ differences: _PartDifferences
    ) {
        guard let old, let new, old.count == new.count else {
            return differences.noteUnknownKeys()
        }
        let (oldFold, newFold) = (versions.oldFold, versions.newFold)
        for place in old.indices {
            differences.beginEvent()
            oldFold.noteParts(touchedBy: old[place], in: state, differences)
            newFold.compareParts(in: state, differences)
            guard !isOneVersion else { continue }
            newFold.noteParts(touchedBy: new[place], in: state, differences)
            oldFold.compareParts(in: state, differences)
        }
    }
}

/// Two versions whose parts can be compared.
private protocol PartComparable {
    static func makeDifferences() -> _PartDifferences
}

extension VersionPair: PartComparable where Old.Key == New.Key, Old.Part == New.Part {
    fileprivate static func makeDifferences() -> _PartDifferences {
        _KeyedPartDifferences<Old.Key, Old.Part>()
    }
}
