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
    private(set) var readings: Readings

    init(
        _ log: any LogStorage, also: [AdditionalProjection<Old.Event>]
    ) throws(LogError) {
        let shared = try log.sharedConflicts()
        if shared.isEmpty, CodecComparison.areAlike(Old.codec, New.codec) {
            let fold = LogFold(
                of: log, ProjectionSet(members: [.init(Fold<Old>()), .init(Fold<New>())]))
            readings = Readings(ReplayedFold(log, fold, reading: AppCodec(codec: Old.codec)))
        } else {
            let old = try ReplayedFold(log, Old.self, also: also, from: 0)
            // Another version may have other events. Then the other projections cannot fold with it.
            let others = also as Any as? [AdditionalProjection<New.Event>] ?? []
            let new = try ReplayedFold(
                log, New.self, also: others, from: 0, inPlaceOf: Old.memberName)
            readings = Readings(old, new)
        }
    }

    /// The last entry that was applied.
    var sequence: LogSequence { readings.sequence }

    /// Applies the next entry to both versions. Returns what the versions cannot read of it; nil at
    /// the end.
    ///
    /// Release all states before, or the folds copy what they change.
    mutating func next() throws(LogError) -> UnreadableEvents? {
        guard let (old, new) = try readings.next() else { return nil }
        return UnreadableEvents(old, new)
    }

    /// The places that the last entry may have changed in either version.
    var touchedPlaces: TouchedPlaces {
        var places = readings.touchedByOld.places(in: Old.self)
        places.unite(readings.touchedByNew.places(in: New.self))
        return places
    }

    // MARK: The states after the last entry

    /// Whether an intent of the overlay is conflicted in either version.
    var hasConflicts: Bool { readings.hasConflicts }
    /// Whether the new version has more faults than the old version.
    var hasNewFaults: Bool { readings.newFold.faultCount > readings.oldFold.faultCount }

    mutating func snapshots() -> (old: Snapshot<Old>, new: Snapshot<New>) {
        let (old, new) = readings.published()
        return (Snapshot(old, 0), Snapshot(new, readings.placeOfNew))
    }
}

/// What the two versions cannot read of an entry.
struct UnreadableEvents {
    /// The first event that the old version can read and the new version cannot.
    private(set) var lost: String?
    /// The first event that neither version can read, if none is lost.
    private(set) var unread: String?

    init(_ old: Record, _ new: Record) {
        if new.entry.isReadable { return }
        for (old, new) in zip(old.entry.payloads, new.entry.payloads) where new.isUnreadable {
            let event = "the event of \(old.format) cannot be read"
            guard old.isUnreadable else {
                lost = "\(event): \(new.text)"
                return
            }
            unread = unread ?? "\(event) by either version: \(new.text)"
        }
    }
}

extension Entry {
    /// Whether all events of the entry can be read.
    fileprivate var isReadable: Bool {
        switch self {
        case .intent(let intent): !intent.payload.isUnreadable
        case .acknowledged(let answer): answer.replacement?.isUnreadable != true
        case .changed: true
        case .confirmed(let batch): !batch.events.contains { $0.payload.isUnreadable }
        }
    }
}

/// One reading that both versions follow, or one reading for each.
struct Readings: Sendable {
    private var folds: [ReplayedFold]

    /// - Parameter fold: of the old version and the new version, in this order.
    init(_ fold: ReplayedFold) { self.init(folds: [fold]) }

    init(_ old: ReplayedFold, _ new: ReplayedFold) { self.init(folds: [old, new]) }

    private init(folds: [ReplayedFold]) {
        self.folds = folds
        for index in folds.indices { self.folds[index].startTracking() }
    }

    /// The place of the new version in the last of the folds.
    var placeOfNew: Int { 2 - folds.count }

    var sequence: LogSequence { folds[0].sequence }
    var touchedByOld: TouchedEvents { folds[0].touched }
    var touchedByNew: TouchedEvents { folds[folds.count - 1].touched }
    var oldFold: any AnyFold { folds[0].value(at: 0) }
    var newFold: any AnyFold { folds[folds.count - 1].value(at: placeOfNew) }
    var hasConflicts: Bool { folds[0].hasConflicts || folds[folds.count - 1].hasConflicts }

    mutating func next() throws(LogError) -> (old: Record, new: Record)? {
        guard let old = try folds[0].next() else { return nil }
        guard let new = folds.count == 1 ? old : try folds[1].next() else { return nil }
        for index in folds.indices { folds[index].rebaseViews() }
        return (old, new)
    }

    mutating func published() -> (old: PublishedState, new: PublishedState) {
        let old = folds[0].published()
        return (old, folds.count == 1 ? old : folds[1].published())
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
        if let a = a as? any CompositeCodec, let b = b as? any CompositeCodec {
            let (left, right) = (a.readingParts, b.readingParts)
            return left.count == right.count && zip(left, right).allSatisfy(areAlike)
        }
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
