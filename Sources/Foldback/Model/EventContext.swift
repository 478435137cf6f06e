/// All that a projection may know beside the event itself, and the same on every replica (F12): no
/// clock, no randomness, not whether the event is still pending.
public struct EventContext: Hashable, Sendable {
    public enum Origin: Hashable, Sendable {
        /// The intent that the event comes from, pending or confirmed, here or on another replica.
        case intent(IntentID)
        /// The event's place in the server's order, where it comes from no intent.
        case position(Position)
    }

    public let origin: Origin

    public init(_ origin: Origin) { self.origin = origin }

    /// An id for something that the event creates: unique for this origin and index, and the same
    /// whenever and wherever the event is applied. Where a server makes several events of one intent, or
    /// gives several one position, they share an origin: their indices must differ.
    ///
    /// The prediction and the server's own event for the same intent thus make the same id, so a list
    /// keeps its row when the intent is confirmed.
    /// - Parameter index: tells several things made by one event apart.
    public func id(_ index: Int = 0) -> String {
        switch origin {
        case .intent(let intent): "\(intent.replica).\(intent.number).\(index)"
        case .position(let position): "@\(position).\(index)"
        }
    }
}
