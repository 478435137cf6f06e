import Foldback
import FoldbackHistory

/// Two versions of a projection as one, for law P16: their parts must show every difference between
/// the two.
///
/// ```swift
/// try await requireLaws(
///     of: Versions<LikesByPost, Likes>.self, events: Likes.events, laws: [.p16])
/// ```
///
/// Each version leaves out the events that it refuses. Use it only for P16, because the other laws
/// say nothing about two versions. Both versions need the same type of events. If the types differ,
/// only the checks of `rerun` itself compare the parts.
public struct Versions<Old: TraceableProjection, New: TraceableProjection>: TraceableProjection
where Old.Event == New.Event, Old.Key == New.Key, Old.Part == New.Part {
    public typealias Event = Old.Event
    public typealias Key = Old.Key

    /// The parts of both versions at one key.
    public struct Part: Equatable, Sendable {
        let old: Old.Part?
        let new: New.Part?
    }

    private var old = Old()
    private var new = New()

    public init() {}

    public static var codec: any EventCodec<Event> { Old.codec }

    public mutating func apply(_ event: Event, _ context: EventContext) {
        old = Self.folded(old, event, context)
        new = Self.folded(new, event, context)
    }

    private static func folded<P: Projection>(
        _ state: P, _ event: P.Event, _ context: EventContext
    ) -> P {
        var next = state
        do { try next.apply(event, context) } catch { return state }
        return next
    }

    /// Returns the keys that either version names.
    public static func keys(touchedBy event: Event, _ context: EventContext) -> [Key] {
        let keys = (Old.keys(touchedBy: event, context), New.keys(touchedBy: event, context))
        // An event without keys may touch any key.
        return keys.0.isEmpty || keys.1.isEmpty ? [] : keys.0 + keys.1
    }

    public func part(at key: Key) -> Part? {
        Part(old: old.part(at: key), new: new.part(at: key))
    }
}

/// A pair of versions, for P16.
protocol VersionComparing {
    /// Returns the first of these places at which the versions differ although their parts are
    /// equal; nil if there is none.
    func hiddenDifference(at places: [JSONPointer], keys: [AnyHashable]) -> JSONPointer?
}

extension Versions: VersionComparing {
    func hiddenDifference(at places: [JSONPointer], keys: [AnyHashable]) -> JSONPointer? {
        let keys = keys.compactMap { $0.base as? Key }
        guard keys.allSatisfy({ old.part(at: $0) == new.part(at: $0) }) else { return nil }
        return places.first { old.shown(at: $0) != new.shown(at: $0) }
    }
}
