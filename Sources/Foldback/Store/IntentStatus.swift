/// Everything that the log knows of one intent.
public struct IntentStatus<Event: Sendable>: Sendable {
    let known: KnownIntent

    public var id: IntentID { known.recorded.id }
    public var state: IntentState { known.state }
    /// As it was recorded; nil where this code cannot read it (L5).
    public var event: Event? { known.recorded.payload.event() }
    /// Why, where the state is `.rejected`.
    public var rejection: Rejection? { known.rejection }
    /// Whether a rejection is out of the list: dismissed or retried (F14).
    public var isDismissed: Bool { known.isDismissed }
    /// The rejected intent that this one retries.
    public var retries: IntentNumber? { known.recorded.retries }
    public var isConfirmOnly: Bool { known.recorded.isConfirmOnly }
    public var once: String? { known.recorded.once?.string }
    public var info: [String: String] { known.recorded.info }
    public var recordedAt: Timestamp { known.recorded.time }
    /// The intent's own entry.
    public var sequence: LogSequence { known.recorded.sequence }
    /// The latest answer; nil while pending.
    public var answer: Answer? { known.answer }
}
