/// The result of an acknowledgement or a rejection.
public enum AnswerResult: Hashable, Sendable {
    /// The answer is the entry at this sequence.
    case recorded(LogSequence)
    /// Nothing was appended, because the intent was in this state already, or can no longer be
    /// rejected (F7).
    case ignored(IntentState)
}

/// The result of a batch of confirmed events.
public enum BatchResult: Hashable, Sendable {
    /// The batch is the entry at this sequence. `through` is the highest position that confirmed
    /// state now covers.
    case confirmed(LogSequence, through: Position)
    /// Nothing was appended, because the batch has nothing new (F6).
    case ignored(through: Position)
}
