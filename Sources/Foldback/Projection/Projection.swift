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

    /// The codec of states in checkpoints.
    ///
    /// The default is JSON if the projection is `Codable`, else nil. If it is nil, opening folds
    /// the log from its first entry.
    static var stateCodec: (any StateCodec<Self>)? { get }

    // MARK: For Foldback alone

    /// Applies an event of type `Event`.
    ///
    /// Do not implement this. Its default is specialized in the module of the projection.
    static func _apply(
        _ event: any Sendable, _ context: EventContext, to state: inout Self
    ) throws
}

extension Projection {
    public static func keys(touchedBy event: Event, _ context: EventContext) -> [Key] { [] }
}
