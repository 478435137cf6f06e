/// Something that somebody waits for, and how a view shows it.
///
/// ```swift
/// progress.start(Wait(.loading))
/// progress.start(
///     Wait("signing in", presentation: .obstructive(.all), initiator: .user(origin: "sign-in")))
/// ```
///
/// A wait does not change. The events during a wait are ``ProgressInput`` values. An optimistic
/// intent has no wait, because its result is visible at once.
public struct Wait: Hashable, Sendable {
    /// What is done during the wait, in words.
    public let kind: WaitKind
    /// Whether people can do other things during the wait.
    public let presentation: WaitPresentation
    /// Who began the wait, and so hears how it goes.
    public let initiator: Initiator
    /// The indicator.
    public let style: IndicatorStyle
    /// Whether the work continues without the app, for example after a restart of the device. Such
    /// a wait can continue in the background, and missing a connection is not an error for it.
    public let isDurable: Bool
    /// The label of the indicator for assistive technology.
    ///
    /// Nil keeps the label of the platform's own indicator, which people recognize.
    public let accessibilityLabel: String?

    /// Creates a wait of a person, which is beside the content and has a spinner, unless the arguments
    /// say something else.
    public init(
        _ kind: WaitKind, presentation: WaitPresentation = .parallel,
        initiator: Initiator = .user(), style: IndicatorStyle = .spinner, isDurable: Bool = false,
        accessibilityLabel: String? = nil
    ) {
        self.kind = kind
        self.presentation = presentation
        self.initiator = initiator
        self.style = style
        self.isDurable = isDurable
        self.accessibilityLabel = accessibilityLabel
    }

    /// Returns the wait as one that somebody else has begun.
    func begun(by initiator: Initiator) -> Wait {
        Wait(
            kind, presentation: presentation, initiator: initiator, style: style,
            isDurable: isDurable, accessibilityLabel: accessibilityLabel)
    }
}

/// Whether people can do other things during a wait.
public enum WaitPresentation: Hashable, Sendable {
    /// Everything else stays usable. The indicator is beside the content that it belongs to.
    case parallel
    /// The items of the scope cannot be used until the wait ends, and an overlay covers them. For
    /// waits that decide which actions come next, or during which another action does harm.
    case obstructive(Scope)
}
