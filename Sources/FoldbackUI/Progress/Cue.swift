/// Something that a view should announce or focus, once.
///
/// ```swift
/// for await cue in progress.cues {
///     switch cue {
///     case .announce(let text, let politeness): speak(texts.words(for: text), politeness)
///     case .moveFocus(let target), .restoreFocus(let target): focus(target)
///     }
/// }
/// ```
public enum Cue: Hashable, Sendable {
    /// Assistive technology says the text. The focus stays where it is.
    case announce(ProgressText, Politeness)
    /// The overlay of an obstructive wait has appeared, and takes the focus (U16).
    case moveFocus(FocusTarget)
    /// The overlay has ended, and gives the focus back.
    case restoreFocus(FocusTarget)
}

/// Whether an announcement interrupts what assistive technology says.
public enum Politeness: Hashable, Sendable {
    /// After the present sentence: `aria-live="polite"`.
    case polite
    /// At once: `aria-live="assertive"`.
    case assertive
}

/// Where the focus goes.
public enum FocusTarget: Hashable, Sendable {
    /// The indicator in the overlay of the wait.
    case indicator
    /// The control with this name, which began the wait (``Initiator/user(origin:)``).
    case origin(String)
    /// What had the focus before the overlay took it.
    case previous
    /// The first element of a new screen.
    case top
}
