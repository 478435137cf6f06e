import Foldback

/// Tells at which entries the difference between two versions can have changed, by the parts of the
/// keys that each entry touches (``/Foldback/Projection/part(at:)``).
protocol PartTracker<Old, New>: Sendable {
    associatedtype Old: Projection
    associatedtype New: Projection

    /// Returns whether the last entry can have changed the difference between the states: a part of
    /// a key that it touches differs, or differed before.
    ///
    /// - Parameter isDifferent: whether the described states differed before the entry.
    mutating func canHaveChanged(_ versions: VersionPair<Old, New>, isDifferent: Bool) -> Bool
}

extension VersionPair {
    /// A tracker for these versions; nil if they do not have the same types of keys and parts, or
    /// have no parts.
    static var partTracker: (any PartTracker<Old, New>)? {
        guard Old.Part.self != Never.self else { return nil }
        return (Self.self as? any PartComparable.Type)?.tracker as? any PartTracker<Old, New>
    }
}

/// Two versions whose parts can be compared.
private protocol PartComparable {
    static var tracker: any Sendable { get }
}

extension VersionPair: PartComparable where Old.Key == New.Key, Old.Part == New.Part {
    static var tracker: any Sendable { KeyTracker<Old, New>() }
}

/// The keys whose parts differ between two versions.
private struct KeyTracker<Old: Projection, New: Projection>: PartTracker
where Old.Key == New.Key, Old.Part == New.Part {
    private var view = DifferingKeys<Old, New>()
    private var confirmed = DifferingKeys<Old, New>()

    mutating func canHaveChanged(_ versions: VersionPair<Old, New>, isDifferent: Bool) -> Bool {
        let old = versions.touchedByOld
        let new = versions.touchedByNew
        var canHaveChanged = false
        // Most entries touch only one of the two states.
        if old.isViewTouched || new.isViewTouched {
            canHaveChanged = view.take(
                old.view, new.view, versions.oldView, versions.newView, isDifferent: isDifferent)
        }
        if old.isConfirmedTouched || new.isConfirmedTouched {
            let isFound = confirmed.take(
                old.confirmed, new.confirmed, versions.oldConfirmed, versions.newConfirmed,
                isDifferent: isDifferent)
            canHaveChanged = canHaveChanged || isFound
        }
        return canHaveChanged
    }
}

/// The keys whose parts differ in one of the two states: the view or confirmed state.
private struct DifferingKeys<Old: Projection, New: Projection>: Sendable
where Old.Key == New.Key, Old.Part == New.Part {
    private var keys: Set<Old.Key> = []
    /// Whether an event touched unknown keys since the described states were last equal. Then
    /// `keys` may lack some.
    private var isIncomplete = false

    /// Compares the parts of the keys that the events touch.
    ///
    /// - Parameters:
    ///   - oldEvents: the events as the old version reads them; nil means any events.
    ///   - newEvents: the same for the new version.
    ///   - isDifferent: whether the described states differed before the entry.
    /// - Returns: whether any of these parts differs, or differed before.
    mutating func take(
        _ oldEvents: [Folded]?, _ newEvents: [Folded]?, _ old: Old, _ new: New, isDifferent: Bool
    ) -> Bool {
        // Where the described states are equal, the law says that an entry which makes them differ
        // touches a key whose part differs after it. So earlier keys do not matter.
        if isIncomplete, !isDifferent {
            keys.removeAll()
            isIncomplete = false
        }
        guard let oldEvents, let newEvents else {
            isIncomplete = true
            return true
        }
        var found = isIncomplete
        for folded in oldEvents {
            guard let event: Old.Event = folded.payload.event() else { continue }
            found = look(at: Old.keys(touchedBy: event, folded.context), old, new) || found
        }
        // One type names the same keys twice.
        guard Old.self != New.self else { return found }
        for folded in newEvents {
            guard let event: New.Event = folded.payload.event() else { continue }
            found = look(at: New.keys(touchedBy: event, folded.context), old, new) || found
        }
        return found
    }

    private mutating func look(at touched: [Old.Key], _ old: Old, _ new: New) -> Bool {
        // An event without keys may touch any key.
        guard !touched.isEmpty else {
            isIncomplete = true
            return true
        }
        var found = false
        for key in touched {
            if old.part(at: key) != new.part(at: key) {
                keys.insert(key)
                found = true
            } else if !keys.isEmpty, keys.remove(key) != nil {  // mutant: equal-parts
                found = true
            }
        }
        return found
    }
}
