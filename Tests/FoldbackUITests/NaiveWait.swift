import FoldbackUI

/// A wait that looks at each millisecond: the limits of U10 to U17, written down once more with
/// counters that go up by one, and without any moment that is computed in advance.
struct NaiveWait {
    /// Milliseconds.
    struct Limits {
        var busy = 100
        var indicator = 100
        var text = 1_000
        var still = 2_000
        var long = 10_000
        var stall = 30_000
        var minimum = 500
    }

    let wait: Wait
    let limits: Limits
    /// Milliseconds of the clock, and since the start.
    private var time = 0
    private var age = 0
    private var silence = 0
    /// How long the indicator has been visible; nil while it is not.
    private var shown: Int?
    /// The attempts and "still" texts so far.
    private var attempts = 1
    private var stills = 0
    private var fraction: Double?
    /// The first fraction, and the age at that time.
    private var first = (fraction: 0.0, age: 0)
    private var left: Duration?
    private var cause = WaitCause.unknown
    private var isReduced = false
    private var isOverlaid = false
    private var isFocused = false
    private var isHeard = false
    private var stall: Recovery?
    private var end: ProgressEnd?

    init(_ wait: Wait, _ limits: Limits) {
        self.wait = wait
        self.limits = limits
    }

    // MARK: Time

    /// The first millisecond.
    mutating func begin() -> [Cue] { look() + announcement() }

    /// One more millisecond.
    mutating func tick() -> [Cue] {
        time += 1
        if shown != nil { shown! += 1 }
        if end == nil {
            age += 1
            silence += 1
            left? -= .milliseconds(1)
            if age > limits.text, (age - limits.text) % limits.still == 0 { stills += 1 }
        }
        return look() + announcement()
    }

    private mutating func look() -> [Cue] {
        var cues: [Cue] = []
        excuse()
        let before = stall
        stall = end == nil && silence >= limits.stall ? Recovery(cause: cause) : nil
        if let stall, stall != before, isUsers {
            cues.append(.announce(.stalled(wait.kind, stall), .assertive))
        }
        if !isVisible { shown = nil } else if shown == nil { shown = 0 }
        let overlaid = isObstructive && end == nil && (isVisible || age >= limits.indicator)
        if overlaid, !isOverlaid {
            isFocused = true
            cues.append(.moveFocus(.indicator))
        }
        isOverlaid = overlaid
        return cues
    }

    private mutating func announcement() -> [Cue] {
        guard end == nil, stall == nil, isUsers else { return [] }
        let life = ProofOfLife(attempt: attempts > 1 ? attempts : nil, elapsed: .milliseconds(age))
        let times = [1, 2, 4, 8].map { $0 * limits.long }
        if times.contains(age) {
            isHeard = true
            return [.announce(longText(life), .polite)]
        }
        guard age == limits.text || age == limits.text + limits.still, let text else { return [] }
        isHeard = true
        return [.announce(text, .polite)]
    }

    // MARK: Inputs

    mutating func handle(_ input: ProgressInput) -> [Cue] {
        switch input {
        case .reduceMotion(let value):
            isReduced = value
            return look()
        case .restarted:
            (age, silence, stills, attempts) = (0, 0, 0, 1)
            (left, end, stall) = (nil, nil, nil)
            if fraction != nil { (fraction, first) = (0, (0, 0)) }
            let cues = look()
            return cues + announcement()
        default: break
        }
        guard end == nil else { return [] }
        switch input {
        case .fraction(let value):
            silence = 0
            let value = value > 1 ? 1 : value
            if value >= 0, value > fraction ?? -1 {
                if fraction == nil { first = (value, age) }
                fraction = value
                let done = value - first.fraction
                let worked = Duration.milliseconds(age - first.age)
                left = done < 0.05 ? nil : worked * ((1 - value) / done)
            }
        case .signOfLife: silence = 0
        case .attempt(let count): (attempts, silence) = (count, 0)
        case .cause(let new):
            excuse()
            cause = new
        case .succeeded: return ended(.succeeded)
        case .cancelled: return ended(.cancelled)
        case .continuedInBackground: return ended(.continuedInBackground)
        case .failed(let recovery): return ended(.failed(recovery))
        case .reduceMotion, .restarted: break
        }
        return look()
    }

    private mutating func ended(_ new: ProgressEnd) -> [Cue] {
        var cues: [Cue] = []
        if new == .succeeded, isObstructive, wait.initiator == .user() {
            cues.append(.restoreFocus(.top))
        } else if isFocused {
            if case .user(let origin?) = wait.initiator {
                cues.append(.restoreFocus(.origin(origin)))
            } else {
                cues.append(.restoreFocus(.previous))
            }
        }
        var politeness = Politeness.polite
        if case .failed = new { politeness = .assertive }
        if isUsers, isHeard || politeness == .assertive {
            cues.append(.announce(.ended(wait.kind, new), politeness))
        }
        (isFocused, isHeard) = (false, false)
        end = new
        return cues + look()
    }

    // MARK: What is seen

    private var isUsers: Bool { wait.initiator != .app }

    private var isObstructive: Bool { wait.presentation != .parallel }

    /// Forgets the silence that the cause explains.
    private mutating func excuse() {
        switch cause {
        case .serverBusy(let until?):
            let since = until.duration(to: .ms(time)) / .milliseconds(1)
            silence = min(silence, max(0, Int(since)))
        case .offline where wait.isDurable, .signedOut where wait.isDurable: silence = 0
        default: break
        }
    }

    private var isVisible: Bool {
        if wait.style == .none || stall != nil { return false }
        switch end {
        case nil: return shown != nil || age >= limits.indicator
        case .failed: return false
        default: return shown.map { $0 < limits.minimum } ?? false
        }
    }

    private var estimate: Duration? {
        guard age - first.age >= 2_000, let left, left > .zero else { return nil }
        for seconds in [5, 10, 15, 20, 25, 30, 40, 50, 60] where left <= .seconds(seconds) {
            return .seconds(seconds)
        }
        var minutes = 2
        while left > .seconds(60 * minutes) { minutes += 1 }
        return .seconds(60 * minutes)
    }

    private func longText(_ life: ProofOfLife) -> ProgressText {
        if wait.isDurable, cause == .offline || cause == .signedOut {
            return .paused(wait.kind, life, cause)
        }
        return .long(wait.kind, life, remaining: estimate, cause: cause)
    }

    private var text: ProgressText? {
        if case .failed = end { return .ended(wait.kind, end!) }
        if let stall { return .stalled(wait.kind, stall) }
        if end != nil, !isVisible { return nil }
        let replaces = isReduced && wait.style != .none
        if age < limits.text, !(replaces && isVisible) { return nil }
        let elapsed = limits.text + stills * limits.still
        let life = ProofOfLife(
            attempt: attempts > 1 ? attempts : nil,
            elapsed: replaces && stills >= 2 ? .milliseconds(elapsed) : nil)
        if age >= limits.long { return longText(life) }
        if stills == 0 { return .activity(wait.kind) }
        return .still(wait.kind, life, apologizes: replaces && stills == 1)
    }

    var seen: Seen {
        var seen = Seen(text: text, remaining: end == nil && stall == nil ? estimate : nil)
        seen.isBlocking = isObstructive && end == nil
        seen.isOverlaid = isOverlaid
        if isVisible {
            let moving = wait.style == .bar ? Indicator.bar : .spinner
            seen.indicator = isReduced ? .text : moving
            seen.fraction = fraction
        }
        if age >= limits.busy { seen.phase = .busy }
        if age >= limits.indicator { seen.phase = .waiting }
        if age >= limits.long {
            seen.phase = .long
            seen.actions = wait.isDurable ? [.cancel, .continueInBackground] : [.cancel]
        }
        if let stall {
            seen.phase = .stalled(stall)
            seen.actions.insert(.restart)
        }
        if let end {
            seen.phase = .ended(end)
            seen.actions = []
            if case .failed(let recovery) = end, recovery.canRestart { seen.actions = [.restart] }
        }
        return seen
    }
}

/// What a view shows, for comparing.
struct Seen: Equatable {
    var phase = ProgressPhase.instant
    var indicator: Indicator?
    var text: ProgressText?
    var fraction: Double?
    var remaining: Duration?
    var actions: Set<WaitAction> = []
    var isBlocking = false
    var isOverlaid = false

    init(text: ProgressText?, remaining: Duration?) {
        self.text = text
        self.remaining = remaining
    }

    init(_ state: ProgressState) {
        phase = state.phase
        indicator = state.indicator
        text = state.text
        fraction = state.fraction
        remaining = state.remaining
        actions = state.actions
        isBlocking = state.isBlocking
        isOverlaid = state.isOverlayVisible
    }
}
