/// The authority's acceptance of one intent, for ``Store/acknowledge(contentsOf:from:)``.
///
/// ```swift
/// try await store.acknowledge(contentsOf: replies.map {
///     Acknowledgement($0.intent, position: $0.position)
/// })
/// ```
///
/// For a single intent, use ``Store/acknowledge(_:position:replacement:)``.
public struct Acknowledgement<Event: Sendable>: Sendable {
    /// The accepted intent.
    public let intent: IntentNumber
    /// The effect's position at the authority, from 1 up; nil if none (F3).
    public let position: Position?
    /// The authority's own event in place of the intent's; nil if it accepted the event as it was
    /// sent (F3, F4).
    public let replacement: DeliveredEvent<Event>?

    /// Creates the acceptance of `intent`.
    ///
    /// - Parameters:
    ///   - intent: the number of the accepted intent.
    ///   - position: the effect's position at the authority, from 1 up; nil if none. An error in an
    ///     acknowledgement log (F4).
    ///   - replacement: the authority's own event; nil if it accepted the event as it was sent.
    public init(_ intent: IntentNumber, position: Position? = nil, replacement: Event? = nil) {
        self.init(intent, position: position, delivered: replacement.map { .event($0) })
    }

    /// Creates the acceptance of `intent`, with the authority's own event decoded or as bytes.
    ///
    /// - Parameters:
    ///   - intent: the number of the accepted intent.
    ///   - position: the effect's position at the authority, from 1 up; nil if none. An error in an
    ///     acknowledgement log (F4).
    ///   - replacement: the authority's own event; nil if it accepted the event as it was sent.
    public init(
        _ intent: IntentNumber, position: Position? = nil,
        delivered replacement: DeliveredEvent<Event>?
    ) {
        self.intent = intent
        self.position = position
        self.replacement = replacement
    }
}
