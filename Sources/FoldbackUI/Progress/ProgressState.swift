/// A wait from its start to its end, as a pure value: inputs say what happened and when, and the
/// value says what a view shows.
///
/// ```swift
/// var state = ProgressState(Wait(.sending), policy: ProgressPolicy(), at: start)
/// let cues = state.advance(to: start.advanced(by: .seconds(1)))
/// // state.indicator is .spinner, state.text is .activity(.sending), and cues announce the text.
/// ```
///
/// The value has no clock. ``nextChange`` says when to call ``advance(to:)``; ``ProgressModel``
/// does that. Time is handled boundary by boundary, so a late call passes all boundaries in between
/// and returns their cues in order (U10). A moment before the last moment counts as the last moment.
public struct ProgressState: Hashable, Sendable {
    /// The work that is done.
    struct Done: Hashable {
        /// The first fraction. Resumed work begins with what was done earlier, at an unknown speed.
        let first: Double
        let firstAt: Moment
        private(set) var fraction: Double
        /// When all will be done at the average speed since the first fraction; nil if too little
        /// is done to say.
        private(set) var estimatedEnd: Moment?

        init(first: Double, at moment: Moment) {
            self.first = first
            firstAt = moment
            fraction = first
        }

        /// The fraction never falls (U13).
        mutating func rise(to new: Double, at now: Moment) {
            guard new > fraction else { return }
            fraction = new
            let done = fraction - first
            guard done >= ProgressPolicy.estimatedFraction else { return }
            let left = firstAt.duration(to: now) * ((1 - fraction) / done)
            estimatedEnd = now.advanced(by: left)
        }
    }

    struct Ending: Hashable {
        let end: ProgressEnd
        let at: Moment
    }

    /// What is waited for.
    public internal(set) var wait: Wait
    /// The time limits.
    public let policy: ProgressPolicy
    /// The start of the work, or its last restart.
    private(set) var startedAt: Moment
    /// All boundaries up to this moment are handled; nil if not even those at the start are.
    private(set) var passed: Moment?
    /// The last sign of life.
    private(set) var quietSince: Moment
    /// Nil before the first fraction.
    private(set) var done: Done?
    private(set) var cause = WaitCause.unknown
    private(set) var attempts = 1
    private(set) var isMotionReduced = false
    /// When the visible indicator appeared; nil while none is visible.
    private(set) var shownAt: Moment?
    /// What a person can do about a wait that is stalled now.
    private(set) var stall: Recovery?
    /// Whether the overlay of an obstructive wait is visible.
    private var isOverlayShown = false
    /// Whether the overlay has taken the focus, and has to give it back.
    private var isFocusTaken = false
    private var isStartAnnounced = false
    private(set) var ending: Ending?

    /// Creates the state of a wait whose work begins at the moment `start`.
    public init(_ wait: Wait, policy: ProgressPolicy, at start: Moment) {
        self.wait = wait
        self.policy = policy
        startedAt = start
        quietSince = start
    }

    /// Passes all boundaries up to a moment, and returns their cues in order.
    ///
    /// - Complexity: O(n) in the boundaries that are passed: a dozen, and one for each text in place
    ///   of motion and each step of an estimate.
    public mutating func advance(to moment: Moment) -> [Cue] {
        let moment = max(moment, now)
        var cues: [Cue] = []
        while let boundary = nextChange, boundary <= moment {
            passed = boundary
            cues += settled() + announcement()
        }
        passed = moment
        return cues
    }

    /// Advances to a moment, applies an input, and returns the cues of both.
    ///
    /// An input at a boundary comes after the boundary.
    public mutating func handle(_ input: ProgressInput, at moment: Moment) -> [Cue] {
        let cues = advance(to: moment) + reaction(to: input) + settled()
        // A restart may have boundaries at once.
        return cues + advance(to: moment)
    }

    private mutating func reaction(to input: ProgressInput) -> [Cue] {
        switch input {
        case .reduceMotion(let isReduced): isMotionReduced = isReduced
        case .restarted: restart()
        case .fraction, .signOfLife, .attempt, .cause, .succeeded, .failed, .cancelled,
            .continuedInBackground:
            if ending == nil { return reactionBeforeEnd(to: input) }
        }
        return []
    }

    private mutating func reactionBeforeEnd(to input: ProgressInput) -> [Cue] {
        switch input {
        case .fraction(let fraction):
            quietSince = now
            rise(to: fraction)
        case .signOfLife: quietSince = now
        case .attempt(let count):
            quietSince = now
            attempts = count
        case .cause(let new):
            // Silence that the cause has excused so far does not count later.
            quietSince = min(silentSince ?? now, now)
            cause = new
        case .succeeded: return end(.succeeded)
        case .failed(let recovery): return end(.failed(recovery))
        case .cancelled: return end(.cancelled)
        case .continuedInBackground: return end(.continuedInBackground)
        case .reduceMotion, .restarted: preconditionFailure("\(input) is not about a running wait")
        }
        return []
    }

    private mutating func rise(to fraction: Double) {
        let fraction = min(fraction, 1)
        guard fraction >= 0 else { return }
        var done = done ?? Done(first: fraction, at: now)
        done.rise(to: fraction, at: now)
        self.done = done
    }

    private mutating func restart() {
        startedAt = now
        quietSince = now
        passed = nil
        if done != nil { done = Done(first: 0, at: now) }
        attempts = 1
        stall = nil
        ending = nil
    }

    /// Ends the wait. The content and the focus do not wait for the minimum visible time (U12).
    private mutating func end(_ end: ProgressEnd) -> [Cue] {
        ending = Ending(end: end, at: now)
        stall = nil
        var cues = focusAfterwards(end).map { [Cue.restoreFocus($0)] } ?? []
        if case .failed = end {
            cues += announced(.ended(wait.kind, end), .assertive)
        } else if isStartAnnounced {
            cues += announced(.ended(wait.kind, end), .polite)
        }
        (isFocusTaken, isStartAnnounced) = (false, false)
        return cues
    }

    /// Where the focus goes after the wait; nil if it stays (U16).
    private func focusAfterwards(_ end: ProgressEnd) -> FocusTarget? {
        let leadsOn = wait.initiator == .user() && end == .succeeded  // mutant: new-screen
        if isObstructive, leadsOn { return .top }
        guard isFocusTaken else { return nil }  // mutant: focus-taken
        if case .user(let origin?) = wait.initiator { return .origin(origin) }
        return .previous
    }

    // MARK: Consequences

    /// Draws the consequences of a passed boundary or of an input.
    private mutating func settled() -> [Cue] {
        var cues: [Cue] = []
        let before = stall
        stall = ending == nil && stallsAt.map { $0 <= now } ?? false ? Recovery(cause: cause) : nil
        if let stall, stall != before {  // mutant: stall-again
            cues += announced(.stalled(wait.kind, stall), .assertive)
        }
        shownAt = isIndicatorVisible ? shownAt ?? now : nil
        let wasOverlayShown = isOverlayShown
        isOverlayShown = isOverlayVisible
        if isOverlayShown, !wasOverlayShown {  // mutant: overlay-again
            isFocusTaken = true
            cues.append(.moveFocus(.indicator))
        }
        return cues
    }

    /// The announcement of the boundary that was passed now (U15).
    private mutating func announcement() -> [Cue] {
        guard ending == nil, stall == nil, policy.announces(at: elapsed),
            let text = runningText(spoken: true)
        else { return [] }
        isStartAnnounced = wait.initiator.isPerson
        return announced(text, .polite)
    }

    private func announced(_ text: ProgressText, _ politeness: Politeness) -> [Cue] {
        wait.initiator.isPerson ? [.announce(text, politeness)] : []  // mutant: silent-app
    }
}

extension Initiator {
    var isPerson: Bool {
        switch self {
        case .user: true
        case .app: false
        }
    }
}
