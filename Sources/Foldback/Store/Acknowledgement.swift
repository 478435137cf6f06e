/// The authority's acceptance of one intent.
public struct Acknowledgement<Event: Sendable>: Sendable {
    public let intent: IntentNumber
    public let position: Position?
    public let replacement: Event?

    public init(_ intent: IntentNumber, position: Position? = nil, replacement: Event? = nil) {
        self.intent = intent
        self.position = position
        self.replacement = replacement
    }
}
