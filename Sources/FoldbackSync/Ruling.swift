import Foldback

/// What a server decides on an intent: the app's part of a ``Verdict``.
///
/// `InProcessAuthority` and the spaces of FoldbackServer ask the app for it, and do the rest.
public enum Ruling<Event: Sendable>: Sendable {
    /// Applies the intent's event.
    case accept
    /// Accepts the intent and applies this event in place of its own, or no event if it is nil.
    case reword(Event?)
    /// Refuses the intent. This is final (A4).
    case reject(Rejection)
    /// Decides later; see ``Verdict/later(after:reason:)``. The later intents of the request are not
    /// decided either.
    case later(after: Duration?, reason: String)
}
