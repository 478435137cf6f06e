/// What became of an acknowledgement or a rejection.
public enum AnswerResult: Hashable, Sendable {
    case recorded(LogSequence)
    /// The intent stood so already, or can no longer be rejected; nothing was appended (F7).
    case ignored(IntentState)
}

/// What became of a batch.
public enum BatchResult: Hashable, Sendable {
    case confirmed(LogSequence, through: Position)
    /// It brought nothing new, and nothing was appended (F6).
    case ignored(through: Position)
}
