/// Everything that a projection gets besides the event. It is the same on every replica (F12).
///
/// It has no clock and no randomness, and does not say whether the event is still pending.
public struct EventContext: Hashable, Sendable {
    public enum Origin: Hashable, Sendable {
        /// The intent that the event comes from, pending or confirmed, here or on another replica.
        case intent(IntentID)
        /// The event's place in the server's order, for an event that comes from no intent.
        case position(Position)
    }

    public let origin: Origin

    public init(_ origin: Origin) { self.origin = origin }

    /// Returns an id for something that the event creates.
    ///
    /// The id is unique for this origin and index, and the same whenever and wherever the event is
    /// applied. So the prediction and the server's own event for one intent make the same id, and a
    /// list keeps its row when the intent is confirmed.
    ///
    /// Several events of one intent, or at one position, share an origin. Then their indices must
    /// differ.
    ///
    /// - Parameter index: distinguishes several things that one event creates.
    public func id(_ index: Int = 0) -> String {
        switch origin {
        case .intent(let intent): "\(intent.replica).\(intent.number).\(index)"
        case .position(let position): "@\(position).\(index)"
        }
    }
}
