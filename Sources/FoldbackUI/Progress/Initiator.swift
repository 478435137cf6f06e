/// Who began a wait.
///
/// ```swift
/// Wait(.sending, initiator: .user(origin: "send-button"))
/// ```
public enum Initiator: Hashable, Sendable {
    /// A person, who hears how the wait goes. `origin` is the app's name for the control that began
    /// it, and has the focus after an obstructive wait; nil if success leads to a new screen.
    case user(origin: String? = nil)
    /// The app itself. Nothing is announced, because nobody asked for the wait.
    case app
}
