import Foldback

/// Two versions of a projection that are folded side by side over one log.
///
/// ```
///  one reading     log ──▶ record ──▶ old version, new version
///  two readings    log ──▶ record ──▶ old version
///                  log ──▶ record ──▶ new version
/// ```
///
/// Both versions follow one reading if this certainly makes no difference: they read the same
/// events from the same bytes, and the log's projections never shared their conflicts. Else each
/// version follows a reading of its own.
struct VersionPair<Old: Projection, New: Projection>: Sendable {
    private var first: ReplayedFold
    /// The reading of the new version; nil if it follows the first reading.
    private var second: ReplayedFold?

    init(
        _ log: any LogStorage, also: [AdditionalProjection<Old.Event>]
    ) throws(FoldbackError) {
        let shared = try log.sharedConflicts()
        if shared.isEmpty, CodecComparison.areAlike(Old.codec, New.codec) {
            let fold = LogFold(of: log, folds: [Fold<Old>(), Fold<New>()])
            first = ReplayedFold(log, fold, reading: AppCodec(codec: Old.codec))
        } else {
            first = try ReplayedFold(log, Old.self, also: also, from: 0)
            // Another version may have other events. Then the other projections cannot fold with it.
            let others = also as Any as? [AdditionalProjection<New.Event>] ?? []
            second = try ReplayedFold(
                log, New.self, also: others, from: 0, inPlaceOf: Old.memberName)
        }
        first.startTracking()
        second?.startTracking()
    }

    /// The last entry that was applied.
    var sequence: LogSequence { first.sequence }

    /// Applies the next entry to both versions. Returns it as each version reads it; nil at the end.
    ///
    /// Release all states before, or the folds copy what they change.
    mutating func next() throws(FoldbackError) -> (old: Record, new: Record)? {
        guard let old = try first.next() else { return nil }
        guard let new = second == nil ? old : try second?.next() else { return nil }
        first.rebaseViews()
        second?.rebaseViews()
        return (old, new)
    }

    // MARK: What the last entry touched

    /// The events that the last entry touched, as the old version reads them.
    var touchedByOld: TouchedEvents { first.touched }
    /// The events that the last entry touched, as the new version reads them.
    var touchedByNew: TouchedEvents { second?.touched ?? first.touched }

    /// The places that the last entry may have changed in either version.
    var touchedPlaces: TouchedPlaces {
        var places = touchedByOld.places(in: Old.self)
        places.unite(touchedByNew.places(in: New.self))
        return places
    }

    // MARK: The states after the last entry

    private var oldFold: any AnyFold { first.value(at: 0) }
    private var newFold: any AnyFold { second?.value(at: 0) ?? first.value(at: 1) }

    var oldStates: (view: Old, confirmed: Old) { oldFold.states(of: Old.self) }
    var newStates: (view: New, confirmed: New) { newFold.states(of: New.self) }

    /// Whether an intent of the overlay is conflicted in either version.
    var hasConflicts: Bool { first.hasConflicts || second?.hasConflicts == true }
    /// Whether the new version has more faults than the old version.
    var hasNewFaults: Bool { newFold.faults.count > oldFold.faults.count }

    mutating func snapshots() -> (old: Snapshot<Old>, new: Snapshot<New>) {
        let published = first.published()
        let new = second?.published()
        return (
            Snapshot(published, 0), new.map { Snapshot($0, 0) } ?? Snapshot(published, 1)
        )
    }
}

private enum CodecComparison {
    /// Returns whether two codecs certainly read the same events from any bytes: both have one type
    /// and equal properties.
    ///
    /// Other codecs may read the same too, but that cannot be known.
    static func areAlike(_ a: Any, _ b: Any) -> Bool {
        guard type(of: a) == type(of: b) else { return false }
        if a is any UniformCodec { return true }
        if let a = a as? AnyHashable, let b = b as? AnyHashable { return a == b }
        // A type's own mirror may hide properties.
        guard !(a is any CustomReflectable) else { return areEmpty(type(of: a)) }
        let (left, right) = (Mirror(reflecting: a), Mirror(reflecting: b))
        guard left.displayStyle == .struct, left.children.count == right.children.count else {
            return false
        }
        if left.children.isEmpty { return areEmpty(type(of: a)) }
        return zip(left.children, right.children).allSatisfy { areAlike($0.value, $1.value) }
    }

    /// Whether the values of a type have no content.
    private static func areEmpty(_ type: Any.Type) -> Bool {
        func size<T>(_: T.Type) -> Int { MemoryLayout<T>.size }
        return size(type) == 0
    }
}
