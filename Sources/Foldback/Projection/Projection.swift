/// A pure function that folds events into state: what the app shows.
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
/// The same events give the same state, on any machine and at any time (F1): no clock, no
/// randomness, nothing from outside the event and its context (F12).
///
/// A published view shares its storage with the value that the next commit changes. Collections that
/// are persistent (`TreeDictionary` of swift-collections, as in ``Documents``) make that free; with
/// plain arrays and dictionaries each commit copies what it changes once.
public protocol Projection: EventFold {
    /// Declared again so that `apply` alone says what it is.
    associatedtype Event

    /// What ``keys(touchedBy:_:)`` names; `Never` where it is not implemented.
    associatedtype Key: Hashable & Sendable = Never

    /// The state before the first event.
    init()

    /// Changes the state by one event.
    ///
    /// - Throws: where the event does not apply to this state, and before anything is changed. While
    ///   recording, the caller gets the error (F9).
    mutating func apply(_ event: Event, _ context: EventContext) throws

    /// The keys of the state that the event reads or writes, those included that it makes of its
    /// context; for ``Store/overlay(touching:)``.
    static func keys(touchedBy event: Event, _ context: EventContext) -> [Key]

    /// The places of the state, as ``JSON/init(describing:)`` shows it, outside of which the event changes nothing;
    /// nil: anywhere. With it tools that compare states behind each entry look at what the entry touched, and not
    /// at states whole.
    static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]?

    /// How states become bytes in checkpoints. JSON where the projection is `Codable`; else nil, and
    /// opening folds the log from its first entry.
    static var stateCodec: (any StateCodec<Self>)? { get }
}

extension Projection {
    public static func keys(touchedBy event: Event, _ context: EventContext) -> [Key] { [] }

    public static func places(touchedBy event: Event, _ context: EventContext) -> [JSONPointer]? {
        nil
    }
}
