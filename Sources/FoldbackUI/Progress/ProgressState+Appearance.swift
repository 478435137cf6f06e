extension ProgressState {
    /// How far the wait has progressed.
    public var phase: ProgressPhase {
        if let ending { return .ended(ending.end) }
        if let stall { return .stalled(stall) }
        if elapsed >= policy.longAfter { return .long }  // mutant: phase-boundary
        if elapsed >= policy.indicatorAfter { return .waiting }
        return elapsed >= policy.busyAfter ? .busy : .instant
    }

    /// What to draw to show that work goes on; nil for nothing.
    public var indicator: Indicator? {
        guard isIndicatorVisible else { return nil }
        switch wait.style {
        case .spinner: return isMotionReduced ? .text : .spinner
        case .bar: return isMotionReduced ? .text : .bar
        case .none: return nil
        }
    }

    /// The text beside the indicator, in its place, or about an error; nil if it is not shown.
    public var text: ProgressText? {
        switch phase {
        case .instant, .busy, .waiting, .long: runningText(spoken: false)
        case .stalled(let recovery): .stalled(wait.kind, recovery)
        case .ended(.failed(let recovery)): .ended(wait.kind, .failed(recovery))
        case .ended: isIndicatorVisible ? runningText(spoken: false) : nil
        }
    }

    /// The part of the work that is done, from 0 to 1; nil if it is unknown or not shown. It never
    /// falls, except to 0 when the wait is restarted (U13).
    public var fraction: Double? { indicator == nil ? nil : done?.fraction }

    /// The estimated time until the end, rounded up for people; nil if it is unknown or not shown.
    public var remaining: Duration? {
        ending == nil && !isStalled ? estimate : nil
    }

    /// What a person can do about the wait. Draw them sorted, so that they keep their order.
    public var actions: Set<WaitAction> {
        switch phase {
        case .instant, .busy, .waiting: []
        case .long: exits
        case .stalled: exits.union([.restart])
        case .ended(.failed(let recovery)): recovery.canRestart ? [.restart] : []
        case .ended(.succeeded), .ended(.cancelled), .ended(.continuedInBackground): []
        }
    }

    /// What cannot be used during the wait: from the start of an obstructive wait to its end (U16).
    public var blocked: Scope {
        guard case .obstructive(let scope) = wait.presentation, ending == nil else {
            return .nothing
        }
        return scope
    }

    /// Whether anything cannot be used.
    public var isBlocking: Bool { !blocked.isEmpty }

    /// Returns whether something in the scope cannot be used.
    public func isBlocked(_ scope: Scope) -> Bool { blocked.intersects(scope) }

    /// Whether the overlay of an obstructive wait covers its scope, from the indicator to the end
    /// (U16). While the wait is stalled, it has the error.
    public var isOverlayVisible: Bool {
        guard isObstructive, ending == nil else { return false }
        return elapsed >= policy.indicatorAfter || isIndicatorVisible  // mutant: overlay
    }

    /// All that a view shows, to be compared.
    public var appearance: ProgressAppearance {
        ProgressAppearance(
            wait: wait, phase: phase, indicator: indicator, text: text, fraction: fraction,
            remaining: remaining, actions: actions, blocked: blocked,
            isOverlayVisible: isOverlayVisible)
    }
}

extension ProgressState {
    /// An indicator that has appeared stays until the end, and for the minimum time. An error
    /// replaces it at once (U12).
    var isIndicatorVisible: Bool {
        guard wait.style != .none, !isStalled else { return false }
        switch ending?.end {
        case nil: return shownAt != nil || elapsed >= policy.indicatorAfter
        case .failed: return false
        case .succeeded, .cancelled, .continuedInBackground:
            guard let shownAt else { return false }
            return now < shownAt.advanced(by: policy.minimumVisible)  // mutant: minimum-visible
        }
    }

    /// Whether text takes the place of motion (U17).
    var isTextIndicator: Bool { isMotionReduced && wait.style != .none }

    var isStalled: Bool { stall != nil }

    var isObstructive: Bool {
        if case .obstructive = wait.presentation { true } else { false }
    }

    /// The remaining time, rounded up. It stands still after the end, as the text does.
    private var estimate: Duration? {
        let now = ending?.at ?? now
        guard let done, let end = done.estimatedEnd,
            done.firstAt.duration(to: now) >= ProgressPolicy.estimateAfter
        else { return nil }
        return RemainingStep(now.duration(to: end))?.rounded
    }

    private var exits: Set<WaitAction> {
        wait.isDurable ? [.cancel, .continueInBackground] : [.cancel]
    }

    /// The text of a wait that has not stalled and not failed.
    ///
    /// - Parameter spoken: whether the text is announced. Announcements of a long wait differ in
    ///   the elapsed time, so that assistive technology reads each of them.
    func runningText(spoken: Bool) -> ProgressText? {
        guard elapsed >= policy.textAfter || isTextIndicator && isIndicatorVisible else {
            return nil
        }
        let isLong = elapsed >= policy.longAfter
        let life = ProofOfLife(
            attempt: attempts > 1 ? attempts : nil,
            elapsed: spoken && isLong ? elapsed : elapsedInText)
        guard isLong else {
            return stills == 0
                ? .activity(wait.kind)
                : .still(wait.kind, life, apologizes: isTextIndicator && stills == 1)
        }
        switch cause {
        case .offline where wait.isDurable, .signedOut where wait.isDurable:
            return .paused(wait.kind, life, cause)
        case .unknown, .offline, .slow, .serverBusy, .signedOut, .failing:
            return .long(wait.kind, life, remaining: estimate, cause: cause)
        }
    }

    /// A text in place of motion changes with each "still". The first needs no number.
    private var elapsedInText: Duration? {
        guard isTextIndicator, stills > 1 else { return nil }
        return policy.textAfter + policy.stillAfter * stills
    }
}

/// All that a view shows of a wait.
///
/// Equal appearances look the same, so a view that compares them draws only what has changed.
public struct ProgressAppearance: Hashable, Sendable {
    /// What is waited for.
    public let wait: Wait
    /// How far the wait has progressed.
    public let phase: ProgressPhase
    /// What to draw to show that work goes on; nil for nothing.
    public let indicator: Indicator?
    /// The text beside the indicator, in its place, or about an error; nil if it is not shown.
    public let text: ProgressText?
    /// The part of the work that is done, from 0 to 1; nil if it is unknown or not shown.
    public let fraction: Double?
    /// The estimated time until the end, rounded up for people; nil if it is unknown or not shown.
    public let remaining: Duration?
    /// What a person can do about the wait. Draw them sorted, so that they keep their order.
    public let actions: Set<WaitAction>
    /// What cannot be used during the wait.
    public let blocked: Scope
    /// Whether the overlay of an obstructive wait covers its scope: from the cue that moves the
    /// focus to the cue that restores it (U16).
    public let isOverlayVisible: Bool

    /// Whether anything cannot be used.
    public var isBlocking: Bool { !blocked.isEmpty }

    /// Returns whether something in the scope cannot be used.
    public func isBlocked(_ scope: Scope) -> Bool { blocked.intersects(scope) }
}

extension Sequence<ProgressState> {
    /// All that cannot be used during these waits. Empty if nothing is blocked.
    public var blocking: Scope { reduce(.nothing) { $0.union($1.blocked) } }
}

extension Sequence<ProgressAppearance> {
    /// All that cannot be used during these waits. Empty if nothing is blocked.
    public var blocking: Scope { reduce(.nothing) { $0.union($1.blocked) } }
}
