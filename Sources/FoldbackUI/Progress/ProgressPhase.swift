/// How far a wait has progressed.
///
/// ```
///  instant ─▶ busy ─▶ waiting ─▶ long ◀─▶ stalled        each, also `ended`, ─▶ instant: restarted
///     └────────┴─────────┴────────┴──────────┴──▶ ended
/// ```
///
/// A boundary belongs to the later phase. If two boundaries are equal, the phase between them is
/// skipped (U10).
public enum ProgressPhase: Hashable, Sendable {
    /// The wait still feels instantaneous, and nothing shows it.
    case instant
    /// The control is busy, without motion or text.
    case busy
    /// The indicator is visible.
    case waiting
    /// The attention is lost. An estimate is shown, and the wait can be left.
    case long
    /// Without a sign of life and without an estimate: an error, with a way out. Any sign of life
    /// takes the wait back to ``long``.
    case stalled(Recovery)
    /// Nobody waits any more.
    case ended(ProgressEnd)
}

/// The end of a wait.
public enum ProgressEnd: Hashable, Sendable {
    /// The work is done.
    case succeeded
    /// The work is not done, and does not go on.
    case failed(Recovery)
    /// The person or the app has ended the work.
    case cancelled
    /// Nobody waits for the work, and the work goes on.
    case continuedInBackground
}

/// What a person can do about a wait that has stalled or failed.
public struct Recovery: Hashable, Sendable {
    /// The cause, which decides the instructions.
    public let cause: WaitCause
    /// The server's or the app's own words for people; nil if there are none.
    public let reason: String?
    /// Whether trying again may help.
    public let canRestart: Bool

    /// Creates a recovery: by default, of an unknown cause that trying again may help with.
    public init(cause: WaitCause = .unknown, reason: String? = nil, canRestart: Bool = true) {
        self.cause = cause
        self.reason = reason
        self.canRestart = canRestart
    }
}

/// What a person can do about a wait. The actions have an order, for drawing.
public enum WaitAction: Hashable, Sendable, CaseIterable, Comparable {
    /// End the work.
    case cancel
    /// Do something else while the work goes on.
    case continueInBackground
    /// Begin the work from the start.
    case restart
}
