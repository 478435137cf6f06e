/// A pure function that folds events into the state that the app shows.
///
/// ```swift
/// struct Likes: Projection, Codable {
///     enum Event: Codable, Sendable { case liked(post: String), unliked(post: String) }
///     private(set) var counts: [String: Int] = [:]
///
///     mutating func apply(_ event: Event, _ context: EventContext) throws {
///         switch event {
///         case .liked(let post): counts[post, default: 0] += 1
///         case .unliked(let post): counts[post, default: 0] -= 1
///         }
///     }
/// }
/// ```
///
/// The same events must give the same state on any machine and at any time (F1). So `apply` reads
/// no clock, no randomness, and nothing outside of the event and its context (F12).
///
/// A published view shares its storage with the value that the next commit changes. With persistent
/// collections (`TreeDictionary` of swift-collections, as in ``Documents``) this costs nothing.
/// With plain arrays and dictionaries, each commit copies the collections that it changes once.
public protocol Projection: EventFold {
    /// The type of the events. It is declared again so that Swift infers it from `apply`.
    associatedtype Event

    /// The type of the keys of ``keys(touchedBy:_:)``; `Never` unless you implement it.
    associatedtype Key: Hashable & Sendable = Never

    /// The type of the parts of ``part(at:)``; `Never` unless you implement it.
    associatedtype Part: Equatable & Sendable = Never

    /// The state before the first event.
    init()

    /// Changes the state by one event.
    ///
    /// - Throws: any error if the event does not apply to this state. Throw before you change
    ///   anything. The caller who records the event gets the error (F9).
    mutating func apply(_ event: Event, _ context: EventContext) throws

    /// Returns the keys of the state that the event reads or writes, for
    /// ``Store/overlay(touching:)``.
    ///
    /// Include the keys that the event makes from its context.
    static func keys(touchedBy event: Event, _ context: EventContext) -> [Key]

    /// Returns the only places of the state that the event can change, or nil if it can change any
    /// place.
    ///
    /// The places are those of ``JSON/init(describing:)``. With them, tools that compare states
    /// after each entry read only these places, not whole states.
    static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]?

    /// Returns everything in the state that the events which touch the key can change; nil if there
    /// is nothing.
    ///
    /// ```swift
    /// func part(at post: String) -> Int? { counts[post] }
    /// ```
    ///
    /// With parts, `rerun` of FoldbackHistory compares two versions of a projection after each entry
    /// without describing their states as JSON, and is several times as fast. It needs
    /// ``keys(touchedBy:_:)``, and the same types of keys and parts in both versions.
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
    ///   the event touches. The places are those of ``JSON/init(describing:)``.
    ///
    /// If parts break the law, `rerun` notices it when it compares whole states, and starts again
    /// without parts. A difference that comes and goes in between is missed.
    ///
    /// - Complexity: keep it O(1) or O(log n) in the state, because it is called for each entry.
    func part(at key: Key) -> Part?

    /// The codec of states in checkpoints.
    ///
    /// The default is JSON if the projection is `Codable`, else nil. If it is nil, opening folds
    /// the log from its first entry.
    static var stateCodec: (any StateCodec<Self>)? { get }

    // MARK: For Foldback alone

    // Do not implement these. Their defaults are specialized in the module of the projection.

    /// Applies an event of type `Event`.
    static func _apply(
        _ event: any Sendable, _ context: EventContext, to state: inout Self
    ) throws

    /// Notes the parts of the keys that an event of type `Event` touches, except those that are
    /// noted already.
    func _noteParts(
        touchedBy event: any Sendable, _ context: EventContext, in differences: _PartDifferences)

    /// Compares the noted parts with the parts of this state.
    func _compareParts(in differences: _PartDifferences)
}

extension Projection {
    public static func keys(touchedBy event: Event, _ context: EventContext) -> [Key] { [] }

    public static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]? {
        nil
    }

    public func part(at key: Key) -> Part? { nil }
}
