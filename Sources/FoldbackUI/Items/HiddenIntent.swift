import Foldback

/// An intent whose effect is not in the view: rejected, conflicted or confirm-only (U32).
///
/// ```swift
/// ListModel<String, Post>(of: model) { list, feed in … } ghost: { intent, feed in
///     guard case .posted(let text) = intent.event else { return nil }
///     return Post(id: intent.id(), text: text)
/// }
/// ```
public struct HiddenIntent<Event: Sendable>: Sendable {
    /// The event that the view lacks: the server's replacement if there is one.
    public let event: Event
    /// The context with which the event would be applied.
    public let context: EventContext
    /// The intent's mark. A confirm-only intent is pending or accepted.
    public let mark: IntentMark
    /// When the intent was recorded.
    public let recordedAt: Timestamp

    /// Returns the id that the event's result would have; see ``/Foldback/EventContext/id(_:)``.
    public func id(_ index: Int = 0) -> String { context.id(index) }
}

/// A hidden intent, whatever the type of its event.
struct HiddenMark: Sendable {
    let recorded: RecordedIntent
    let payload: Payload
    let mark: IntentMark

    /// Nil if this code cannot read the event.
    func intent<Event>(_: Event.Type) -> HiddenIntent<Event>? {
        guard let event = payload.event(as: Event.self) else { return nil }
        return HiddenIntent(
            event: event, context: EventContext(.intent(recorded.id)), mark: mark,
            recordedAt: recorded.time)
    }
}
