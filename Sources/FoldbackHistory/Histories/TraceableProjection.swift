import Foldback

/// A projection that says where its events can change the state. Then tools that compare states
/// after each entry look only there.
///
/// ```swift
/// extension Likes: TraceableProjection {
///     static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]? {
///         Self.keys(touchedBy: event, context).map { JSONPointer(["counts", ExactString($0)]) }
///     }
///
///     func part(at post: String) -> Int? { counts[post] }
/// }
/// ```
///
/// Both functions are optional, and only speed depends on them: the tools find the same without
/// them. The conformance can be in the module of the app's own tool, so an app need not link
/// FoldbackHistory for it. ``/Foldback/Projection/keys(touchedBy:_:)`` stays in the projection.
public protocol TraceableProjection: Projection {
    /// The type of the parts of ``part(at:)``; `Never` unless you implement it.
    associatedtype Part: Equatable & Sendable = Never

    /// Returns the only places of the state that the event can change, or nil if it can change any
    /// place.
    ///
    /// The places are those of ``/Foldback/JSON/init(describing:)``. Law P9 of FoldbackTesting
    /// checks them.
    static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]?

    /// Returns everything in the state that the events which touch the key can change; nil if there
    /// is nothing.
    ///
    /// With parts, `rerun` compares two versions of a projection after each entry without
    /// describing their states as JSON, and is several times as fast. It needs
    /// ``/Foldback/Projection/keys(touchedBy:_:)``, and the same types of keys and parts in both
    /// versions.
    ///
    /// If a key has several values, return a struct of all of them:
    ///
    /// ```swift
    /// struct Part: Equatable, Sendable { let likes: Int?; let title: String? }
    /// ```
    ///
    /// If an event also changes a value for all keys, like a total, give that value a key of its own.
    ///
    /// Law P16 of FoldbackTesting checks the parts:
    ///
    /// - An event changes only the parts of the keys that it touches.
    /// - Two states that differ at a place that an event can change differ in the part of a key that
    ///   the event touches. The places are those of ``/Foldback/JSON/init(describing:)``.
    ///
    /// If parts break the law, `rerun` notices it when it compares whole states, and starts again
    /// without parts. A difference that comes and goes in between is missed.
    ///
    /// - Complexity: keep it O(1) or O(log n) in the state, because it is called for each entry.
    func part(at key: Key) -> Part?

    // MARK: For FoldbackHistory alone

    // Do not implement these. Their defaults are specialized in the module of the conformance,
    // where the types of the state, its keys and its parts are known.

    /// Notes the parts of the keys that an event touches, except those that are noted already.
    func _noteParts(
        touchedBy event: Event, _ context: EventContext, in differences: _PartDifferences)

    /// Compares the noted parts with the parts of this state.
    func _compareParts(in differences: _PartDifferences)
}

extension TraceableProjection {
    public static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]? {
        nil
    }

    public func part(at key: Key) -> Part? { nil }

    @inlinable
    public func _noteParts(
        touchedBy event: Event, _ context: EventContext, in differences: _PartDifferences
    ) {
        let differences = Self._typed(differences)
        if differences.isNewEvent {
            differences.isNewEvent = false
            differences.noted.removeAll(keepingCapacity: true)
        }
        let keys = Self.keys(touchedBy: event, context)
        // An event without keys may touch any key.
        if keys.isEmpty { differences.noteUnknownKeys() }
        // Both versions mostly name the same keys in the same order. It does no harm if a key is
        // compared twice.
        let compared = differences.noted.count
        for (place, key) in keys.enumerated()
        where place >= compared || differences.noted[place].key != key {
            differences.noted.append((key, part(at: key)))
        }
        if compared > 0 { differences.noted.removeFirst(compared) }
        differences.hasNoted = !differences.noted.isEmpty
    }

    @inlinable
    public func _compareParts(in differences: _PartDifferences) {
        let differences = Self._typed(differences)
        differences.hasNoted = false
        for (key, part) in differences.noted {
            let isDifferent = part != self.part(at: key)
            guard isDifferent || differences.hasKeys else { continue }
            differences.take(key, isDifferent: isDifferent)
        }
    }

    @inlinable
    static func _typed(_ differences: _PartDifferences) -> _KeyedPartDifferences<Key, Part> {
        guard let differences = differences as? _KeyedPartDifferences<Key, Part> else {
            preconditionFailure("the parts to compare are \(type(of: differences))")
        }
        return differences
    }
}

extension Projection {
    /// Returns the only places that an event can change, as ``TraceableProjection`` says; nil if it
    /// can change any place.
    package static func tracedPlaces(
        of event: Event, _ context: EventContext
    ) -> [JSONPointer]? {
        func places<P: TraceableProjection>(_: P.Type) -> [JSONPointer]? {
            guard let event = event as? P.Event else { return nil }
            return P.places(touchedBy: event, context)
        }
        guard let traceable = Self.self as? any TraceableProjection.Type else { return nil }
        return places(traceable)
    }
}

extension Documents: TraceableProjection {
    /// Returns the keys as places: each document is at its key.
    public static func places(
        touchedBy event: DocumentEvent, _ context: EventContext
    ) -> [JSONPointer]? {
        keys(touchedBy: event, context).map { JSONPointer([$0]) }
    }

    public func part(at key: ExactString) -> JSON? { self[key] }
}
