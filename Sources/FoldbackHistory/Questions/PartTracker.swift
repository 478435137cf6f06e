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
        let (old, new) = (versions.touchedByOld, versions.touchedByNew)
        let (oldStates, newStates) = (versions.oldStates, versions.newStates)
        let view = view.take(
            (old.view, new.view), (oldStates.view, newStates.view), isDifferent: isDifferent)
        let confirmed = confirmed.take(
            (old.confirmed, new.confirmed), (oldStates.confirmed, newStates.confirmed),
            isDifferent: isDifferent)
        return view || confirmed
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
    ///   - events: the events as each version reads them; nil means any events.
    ///   - isDifferent: whether the described states differed before the entry.
    /// - Returns: whether any of these parts differs, or differed before.
    mutating func take(
        _ events: (old: [Folded]?, new: [Folded]?), _ states: (old: Old, new: New),
        isDifferent: Bool
    ) -> Bool {
        // Where the described states are equal, the law says that an entry which makes them differ
        // touches a key whose part differs after it. So earlier keys do not matter.
        if isIncomplete, !isDifferent {
            keys.removeAll()
            isIncomplete = false
        }
        guard let old = events.old, let new = events.new else {
            isIncomplete = true
            return true
        }
        var found = isIncomplete
        for folded in old {
            guard let event: Old.Event = folded.payload.event() else { continue }
            found = look(at: Old.keys(touchedBy: event, folded.context), states) || found
        }
        // One type names the same keys twice.
        guard Old.self != New.self else { return found }
        for folded in new {
            guard let event: New.Event = folded.payload.event() else { continue }
            found = look(at: New.keys(touchedBy: event, folded.context), states) || found
        }
        return found
    }

    private mutating func look(at touched: [Old.Key], _ states: (old: Old, new: New)) -> Bool {
        // An event without keys may touch any key.
        guard !touched.isEmpty else {
            isIncomplete = true
            return true
        }
        var found = false
        for key in touched {
            if states.old.part(at: key) != states.new.part(at: key) {
                keys.insert(key)
                found = true
            } else if !keys.isEmpty, keys.remove(key) != nil {  // mutant: equal-parts
                found = true
            }
        }
        return found
    }
}
