import Foldback
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
    private var age = 0
    private var silence = 0
    /// How long the indicator has been visible; nil while it is not.
    private var shown: Int?
    /// The attempts and "still" texts so far.
    private var attempts = 1
    private var stills = 0
    private var fraction: Double?
    private var left: Duration?
    private var cause = WaitCause.unknown
    private var isReduced = false
    private var isFocused = false
    private var isHeard = false
    private var isStalled = false
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
        if isExcused { silence = 0 }
        let stalls = end == nil && silence >= limits.stall
        if stalls, !isStalled, isUsers {
            cues.append(.announce(.stalled(wait.kind, Recovery(cause: cause)), .assertive))
        }
        isStalled = stalls
        if !isVisible { shown = nil } else if shown == nil { shown = 0 }
        if isObstructive, end == nil, !isFocused, isVisible || age >= limits.indicator {
            isFocused = true
            cues.append(.moveFocus(.indicator))
        }
        return cues
    }

    private mutating func announcement() -> [Cue] {
        guard end == nil, !isStalled, isUsers else { return [] }
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
            (left, end, isHeard, isStalled) = (nil, nil, false, false)
            if fraction != nil { fraction = 0 }
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
                fraction = value
                left = value < 0.05 ? nil : .milliseconds(age) * ((1 - value) / value)
            }
        case .signOfLife: silence = 0
        case .attempt(let count): (attempts, silence) = (count, 0)
        case .cause(let new):
            if isExcused { silence = 0 }
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
        if isFocused {
            isFocused = false
            if case .user(let origin?) = wait.initiator {
                cues.append(.restoreFocus(.origin(origin)))
            } else {
                cues.append(.restoreFocus(.top))
            }
        }
        var politeness = Politeness.polite
        if case .failed = new { politeness = .assertive }
        if isUsers, isHeard || politeness == .assertive {
            cues.append(.announce(.ended(wait.kind, new), politeness))
        }
        end = new
        return cues + look()
    }

    // MARK: What is seen

    private var isUsers: Bool { wait.initiator != .app }

    private var isObstructive: Bool { wait.presentation != .parallel }

    private var isExcused: Bool {
        switch cause {
        case .serverBusy(let until): until != nil
        case .offline, .signedOut: wait.isDurable
        default: false
        }
    }

    private var isVisible: Bool {
        if wait.style == .none || isStalled { return false }
        switch end {
        case nil: return shown != nil || age >= limits.indicator
        case .failed: return false
        default: return shown.map { $0 < limits.minimum } ?? false
        }
    }

    private var remaining: Duration? {
        guard end == nil, !isStalled, age >= 2_000, let left, left > .zero else { return nil }
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
        return .long(wait.kind, life, remaining: remaining, cause: cause)
    }

    private var text: ProgressText? {
        if case .failed = end { return .ended(wait.kind, end!) }
        if isStalled { return .stalled(wait.kind, Recovery(cause: cause)) }
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
        var seen = Seen(text: text, remaining: remaining)
        seen.isBlocking = isObstructive && end == nil
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
        if isStalled {
            seen.phase = .stalled(Recovery(cause: cause))
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
    }
}
