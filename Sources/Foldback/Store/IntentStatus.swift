/// An intent with its state and its latest answer, as the log has them; see ``Store/intent(_:)``.
///
/// ```swift
/// let status = try store.intent(number)
/// if let rejection = status.rejection, !status.isDismissed { show(rejection.message) }
/// ```
///
/// The value does not change later. To wait for an answer, use ``Store/receipt(for:)``.
public struct IntentStatus<Event: Sendable>: Sendable {
    let known: KnownIntent
    let recorded: RecordedIntent

    /// The replica that recorded the intent, and its number.
    public var id: IntentID { recorded.id }
    /// The intent's state when the status was read.
    public var state: IntentState { known.state }
    /// The event as it was recorded; nil if this code cannot read it (L5).
    public var event: Event? { recorded.payload.event() }
    /// The authority's refusal; nil unless the state is `.rejected`.
    public var rejection: Rejection? { known.rejection }
    /// Whether the rejection was dismissed or retried, and so left the list (F14).
    public var isDismissed: Bool { known.isDismissed }
    /// The rejected intent that this intent retries; nil if none.
    public var retries: IntentNumber? { recorded.retries }
    /// Whether it was recorded as a draft; it may be released since (F22).
    public var isDraft: Bool { recorded.terms.isHeld }
    /// The first of the intents that were recorded together with it; nil if it was recorded alone
    /// (F20).
    public var group: IntentNumber? { recorded.terms.group }
    /// The intent that it has replaced; nil if none (F16).
    public var replaces: IntentNumber? { recorded.terms.replaces }
    /// The intent that it undoes; nil if none (F21).
    public var undoes: IntentNumber? { recorded.terms.undoes }
    /// Whether the intent is folded only once it is confirmed (F13).
    public var isConfirmOnly: Bool { recorded.isConfirmOnly }
    /// The once key with which it was recorded; nil if none (F14).
    public var once: String? { recorded.once?.string }
    /// The `info` with which it was recorded.
    public var info: [String: String] { recorded.info }
    /// When it was recorded.
    public var recordedAt: Timestamp { recorded.time }
    /// The sequence of the intent's own entry.
    public var sequence: LogSequence { recorded.sequence }
    /// The latest answer; nil while the intent is pending.
    public var answer: Answer? { known.answer }
}
