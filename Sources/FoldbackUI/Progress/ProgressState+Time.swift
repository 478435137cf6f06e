extension ProgressState {
    /// The moment up to which the wait is known.
    var now: Moment { passed ?? startedAt }

    /// The time from the start until now, or until the end of the wait.
    var elapsed: Duration { startedAt.duration(to: ending?.at ?? now) }

    /// When something that a view shows changes, or a cue is due, unless an input comes first;
    /// nil if nothing will change. So a timer for this moment is enough, and nil needs none (U18).
    ///
    /// Before the first call of ``advance(to:)``, it may be the start.
    public var nextChange: Moment? {
        var next = NextMoment(after: passed)
        guard ending == nil else {
            if isIndicatorVisible { next.consider(shownAt?.advanced(by: policy.minimumVisible)) }
            return next.moment
        }
        // Only an input changes an error.
        guard !isStalled else { return nil }
        let isHeard = wait.initiator.isPerson
        next.consider(startedAt.advanced(by: policy.busyAfter))
        next.consider(startedAt.advanced(by: policy.indicatorAfter))
        if isHeard || !isTextIndicator {
            next.consider(startedAt.advanced(by: policy.textAfter))
        }
        next.consider(startedAt.advanced(by: policy.firstStill))
        if isTextIndicator { next.consider(nextStill) }
        next.consider(startedAt.advanced(by: policy.longAfter))
        if isHeard {
            for number in ProgressPolicy.longAgainNumbers {
                next.consider(startedAt.advanced(by: policy.longAgain(number)))
            }
        }
        next.consider(stallsAt)
        next.consider(nextEstimate)
        return next.moment
    }

    /// From when on silence counts against the wait, perhaps in the future; nil if it does not count.
    ///
    /// Silence is not an error until the server is free by its own estimate, and while durable work
    /// waits for the device or the user to be back (U14).
    var silentSince: Moment? {
        switch cause {
        case .serverBusy(until: let end?): max(quietSince, end)
        case .offline, .signedOut: wait.isDurable ? nil : quietSince
        case .unknown, .slow, .serverBusy(until: nil), .failing: quietSince
        }
    }

    /// When the wait stalls, unless there is a sign of life.
    var stallsAt: Moment? { silentSince?.advanced(by: policy.stallAfter) }

    /// How often the text has said that the wait goes on.
    var stills: Int {
        guard elapsed >= policy.textAfter else { return 0 }
        let sinceText = elapsed - policy.textAfter
        return Int(sinceText.attoseconds / policy.stillAfter.attoseconds)
    }

    private var nextStill: Moment {
        startedAt.advanced(by: policy.textAfter + policy.stillAfter * (stills + 1))
    }

    /// When the shown ``remaining`` changes.
    private var nextEstimate: Moment? {
        guard let done, let end = done.estimatedEnd else { return nil }
        let first = done.firstAt.advanced(by: ProgressPolicy.estimateAfter)
        if now < first { return first < end ? first : nil }
        guard let step = RemainingStep(now.duration(to: end)) else { return nil }
        return end.advanced(by: step.length - step.rounded)
    }
}

/// The earliest of some moments.
private struct NextMoment {
    /// Moments up to this one do not count; nil if all count.
    let after: Moment?
    private(set) var moment: Moment?

    init(after: Moment?) { self.after = after }

    mutating func consider(_ other: Moment?) {
        guard let other else { return }
        if let after, other <= after { return }
        if let moment, moment <= other { return }
        moment = other
    }
}

/// A remaining time, rounded up for people: to 5 s up to 30 s, to 10 s up to 60 s, else to minutes.
struct RemainingStep: Hashable {
    let rounded: Duration
    /// The shown time is constant for this long.
    let length: Duration

    /// Nil if no time remains.
    init?(_ remaining: Duration) {
        guard remaining > .zero else { return nil }
        let seconds: Int64 = remaining <= .seconds(30) ? 5 : remaining <= .seconds(60) ? 10 : 60
        length = .seconds(seconds)
        let steps = (remaining.attoseconds + length.attoseconds - 1) / length.attoseconds
        rounded = length * Int(steps)
    }
}
