/// A text about a wait, as a value. ``ProgressTexts`` turns it into words.
public enum ProgressText: Hashable, Sendable {
    /// Says what is done: "Sending".
    case activity(WaitKind)
    /// Says that it goes on: "Still sending, attempt 2". `apologizes` is true for the first such
    /// text in place of motion.
    case still(WaitKind, ProofOfLife, apologizes: Bool)
    /// Says how long it will take, or else why it takes long. `remaining` and `cause` may be
    /// unknown.
    case long(WaitKind, ProofOfLife, remaining: Duration?, cause: WaitCause)
    /// Says when durable work will continue: the device is offline, or nobody is signed in.
    case paused(WaitKind, ProofOfLife, WaitCause)
    /// Says that the wait has stalled, and what a person can do about it.
    case stalled(WaitKind, Recovery)
    /// Says how it ended.
    case ended(WaitKind, ProgressEnd)
}

/// Facts in a text that show that work goes on.
public struct ProofOfLife: Hashable, Sendable {
    /// The number of attempts; nil if there was only one.
    public let attempt: Int?
    /// The time since the start; nil in texts beside an indicator that moves.
    public let elapsed: Duration?

    /// Creates facts; without arguments, there are none.
    public init(attempt: Int? = nil, elapsed: Duration? = nil) {
        self.attempt = attempt
        self.elapsed = elapsed
    }
}
