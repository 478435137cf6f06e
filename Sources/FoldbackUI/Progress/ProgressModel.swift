import Observation

/// The wait of a view, on the main actor: a ``ProgressState`` with a timer.
///
/// ```swift
/// let progress = ProgressModel()
/// progress.start(Wait(.sending, initiator: .user(origin: "send-button")))
/// progress.handle(.succeeded)
/// ```
///
/// Observers are notified only if the view changes. There is at most one timer, for
/// ``ProgressState/nextChange``, and none if nothing will change (U18). The timer does not keep
/// the model alive.
@MainActor @Observable public final class ProgressModel {
    /// What the view shows; nil before the first wait and after ``finish()``.
    public private(set) var appearance: ProgressAppearance?
    /// What the view announces and focuses, each once, after ``appearance`` has changed.
    public let cues: Cues

    private let policy: ProgressPolicy
    private let sources: UISources
    private let ownsCues: Bool
    @ObservationIgnored private var state: ProgressState?
    @ObservationIgnored private var isMotionReduced = false
    @ObservationIgnored private var timer: (moment: Moment, task: Task<Void, Never>)?

    /// Creates a model without a wait. It has its own cues, which end with it, unless it shares `cues`
    /// with other models.
    public init(
        policy: ProgressPolicy = ProgressPolicy(), cues: Cues? = nil, sources: UISources = .system
    ) {
        self.policy = policy
        self.sources = sources
        self.cues = cues ?? Cues()
        ownsCues = cues == nil
    }

    isolated deinit {
        timer?.task.cancel()
        if ownsCues { cues.finish() }
    }

    /// Starts a wait in place of any other.
    ///
    /// If an equal wait is still visible, it is restarted and keeps its indicator (U12). If a
    /// different wait has not ended, it is canceled first.
    public func start(_ wait: Wait) {
        let now = sources.now()
        if var state, state.wait == wait {
            let cues = state.advance(to: now)
            if state.isVisible {
                let restart = state.handle(.restarted, at: now)
                return show(state, cues + restart)
            }
        }
        finish()
        var state = ProgressState(wait, policy: policy, at: now)
        let cues = state.handle(.reduceMotion(isMotionReduced), at: now)
        show(state, cues)
    }

    /// Applies an input. Without a wait, only the setting for motion has an effect.
    public func handle(_ input: ProgressInput) {
        if case .reduceMotion(let isReduced) = input { isMotionReduced = isReduced }
        guard var state else { return }
        let cues = state.handle(input, at: sources.now())
        show(state, cues)
    }

    /// Removes the wait from the view at once. If it has not ended, it is canceled first, so the
    /// focus returns.
    public func finish() {
        handle(.cancelled)
        state = nil
        if appearance != nil { appearance = nil }
        setTimer(for: nil)
    }

    private func show(_ new: ProgressState, _ cues: [Cue]) {
        state = new
        if appearance != new.appearance { appearance = new.appearance }
        self.cues.send(cues)
        setTimer(for: new.nextChange)
    }

    private func setTimer(for moment: Moment?) {
        guard timer?.moment != moment else { return }
        timer?.task.cancel()
        timer = moment.map { moment in
            let task = Task { [weak self, sleep = sources.sleep] in
                await sleep(moment)
                if !Task.isCancelled { self?.timePassed() }
            }
            return (moment, task)
        }
    }

    private func timePassed() {
        timer = nil
        guard var state else { return }
        let cues = state.advance(to: sources.now())
        show(state, cues)
    }
}

extension ProgressState {
    /// Whether a view shows the wait or its indicator.
    fileprivate var isVisible: Bool { ending == nil || isIndicatorVisible }
}
