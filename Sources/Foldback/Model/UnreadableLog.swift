/// What an opening does if the log has events, this code can read none of them, and no projection
/// of this code was ever on the log.
public enum UnreadableLog: Hashable, Sendable {
    /// Opening throws `.otherApp`. No entry is changed.
    case refused
    /// Opening continues. The events are faults and unreadable intents, and stay in the log.
    case opened
}
