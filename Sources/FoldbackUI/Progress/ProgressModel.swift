import Observation

/// The wait of a view, on the main actor: a ``ProgressState`` with a timer.
///
/// ```swift
/// let progress = ProgressModel()
/// let run = progress.start(Wait(.sending, initiator: .user(origin: "send-button")))
/// run.handle(.succeeded)
/// ```
///
/// A model shows one wait at a time. Work that may finish late gives its inputs to the ``Run`` of
/// its own wait, so it cannot end the wait of other work. If all waits of a model are of the same
/// work, ``handle(_:)`` is enough.
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
    /// The runs so far; the last has the wait in ``state``.
    @ObservationIgnored private var runs = 0
    @ObservationIgnored private var isMotionReduced = false
    /// Carries out the actions of the present wait; nil if nobody does.
    @ObservationIgnored private var carryOut: (@MainActor (WaitAction) async -> Void)?
    @ObservationIgnored private var timer: (moment: Moment, task: Task<Void, Never>)?

    /// Creates a model without a wait. It has its own cues, which end with it, unless it shares `cues`
    /// with other models.
    public init(
        policy: ProgressPolicy = ProgressPolicy(), cues: Cues? = nil, sources: UISources = .system
    ) {
        self.policy = policy
        self.sources = sources
        self.cues = cues ?? Cues(sources: sources)
        ownsCues = cues == nil
    }

    isolated deinit {
        timer?.task.cancel()
        // Without the model, nobody else gives the focus back.
        if var state { cues.send(state.handle(.cancelled, at: state.now)) }
        if ownsCues { cues.finish() }
    }

    /// Starts a wait in place of any other, whose late inputs then change nothing.
    ///
    /// If an equal wait of any initiator is still visible, it is restarted and keeps its indicator
    /// (U12). If a different wait has not ended, it is canceled first.
    ///
    /// To wait for one piece of work, ``run(_:_:)`` is shorter.
    ///
    /// - Returns: the wait's run, for its inputs.
    @discardableResult public func start(_ wait: Wait) -> Run {
        begin(wait)
        carryOut = nil
        runs += 1
        return Run(model: self, number: runs)
    }

    private func begin(_ wait: Wait) {
        let now = sources.now()
        if var state, state.wait.begun(by: wait.initiator) == wait {
            let cues = state.advance(to: now)
            if state.isVisible {
                state.wait = wait
                let restart = state.handle(.restarted, at: now)
                return show(state, cues + restart)
            }
        }
        finish()
        var state = ProgressState(wait, policy: policy, at: now)
        let cues = state.handle(.reduceMotion(isMotionReduced), at: now)
        show(state, cues)
    }

    /// Applies an input to the present wait. Without a wait, only the setting for motion has an effect.
    public func handle(_ input: ProgressInput) { handle(input, isAnnounced: true) }

    private func handle(_ input: ProgressInput, isAnnounced: Bool) {
        if case .reduceMotion(let isReduced) = input { isMotionReduced = isReduced }
        guard var state else { return }
        let now = sources.now()
        // If the main actor was busy, no view has drawn what became due in the meantime. After the
        // end, it is too late to show an indicator for the first time, or to say that work goes on.
        let at = input.isEnd ? state.now : now  // mutant: late-end
        let cues = state.handle(input, at: at) + state.advance(to: now)
        show(state, isAnnounced ? cues : cues.filter { !$0.isAnnouncement })
    }

    /// Removes the wait from the view at once. If it has not ended, it is canceled first, so the
    /// focus returns.
    public func finish() {
        handle(.cancelled)
        state = nil
        carryOut = nil
        if appearance != nil { appearance = nil }
        setTimer(for: nil)
    }

    private func show(_ new: ProgressState, _ cues: [Cue]) {
        state = new
        if new.isOver { carryOut = nil }
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

extension ProgressModel {
    /// One wait of a model, from its start until another wait starts.
    ///
    /// After that, and after the model is released, its inputs change nothing. It does not keep the
    /// model alive.
    public struct Run: Sendable {
        fileprivate weak let model: ProgressModel?
        fileprivate let number: Int

        /// Applies an input, if no other wait was started since.
        @MainActor public func handle(_ input: ProgressInput) {
            model?.handle(input, of: self, isAnnounced: true)
        }

        /// Says how ``ProgressModel/perform(_:)`` carries out the actions of this wait, until another
        /// wait starts, or this wait ends without a failure.
        ///
        /// `carryOut` gives the consequences to the run, for example
        /// ``ProgressInput/restarted``. Until then, the model keeps it.
        @MainActor public func onAction(
            _ carryOut: @escaping @MainActor (WaitAction) async -> Void
        ) {
            model?.set(carryOut, of: self)
        }

        /// Whether the wait has not ended, and no other wait was started.
        @MainActor var isWaiting: Bool { model?.isWaiting(self) ?? false }

        /// Applies an input, without its announcements.
        @MainActor func handleSilently(_ input: ProgressInput) {
            model?.handle(input, of: self, isAnnounced: false)
        }
    }

    private func handle(_ input: ProgressInput, of run: Run, isAnnounced: Bool) {
        guard run.number == runs else { return }  // mutant: latest-wait
        handle(input, isAnnounced: isAnnounced)
    }

    private func isWaiting(_ run: Run) -> Bool {
        guard run.number == runs, let state else { return false }
        return state.ending == nil
    }

    private func set(
        _ carryOut: @escaping @MainActor (WaitAction) async -> Void, of run: Run
    ) {
        guard run.number == runs, let state, !state.isOver else { return }
        self.carryOut = carryOut
    }

    /// Carries out what a person asks for. Does nothing if the wait does not offer the action.
    ///
    /// ```swift
    /// ForEach(wait.actions.sorted(), id: \.self) { action in
    ///     Button(title(of: action)) { progress.press(action) }
    /// }
    /// ```
    ///
    /// The wait of an intent does this by itself; see
    /// ``StoreModel/perform(confirmOnly:showing:in:once:recorded:)``. For other work, say how with
    /// ``Run/onAction(_:)``. If nobody has said it, the action changes only what the wait shows: it
    /// is canceled, continued in the background or restarted.
    ///
    /// On return, the action is carried out. For a restart, this is when the work has ended, if the
    /// work of the wait says so.
    public func perform(_ action: WaitAction) async {
        guard let appearance, appearance.actions.contains(action) else { return }
        guard let carryOut else { return handle(action.input) }
        await carryOut(action)
    }

    /// Begins to carry out what a person asks for: ``perform(_:)`` for a button.
    public func press(_ action: WaitAction) { Task { await perform(action) } }
}

extension WaitAction {
    fileprivate var input: ProgressInput {
        switch self {
        case .cancel: .cancelled
        case .continueInBackground: .continuedInBackground
        case .restart: .restarted
        }
    }
}

extension Cue {
    fileprivate var isAnnouncement: Bool {
        switch self {
        case .announce: true
        case .moveFocus, .restoreFocus: false
        }
    }
}

extension ProgressModel {
    /// Shows a wait while work runs, and ends it as the work ends.
    ///
    /// ```swift
    /// let user = try await progress.run(Wait("signing in", presentation: .obstructive(.all))) { run in
    ///     try await server.signIn(name, password)
    /// }
    /// ```
    ///
    /// An error ends the wait as ``ProgressEnd/init(_:)`` says. If the task is canceled during the
    /// work, a durable wait continues in the background; so while nothing of the work is stored, the
    /// work has to give ``ProgressInput/cancelled`` to its run before it throws. The inputs change
    /// nothing once another wait was started.
    ///
    /// - Parameters:
    ///   - wait: what to show.
    ///   - work: runs once, at once. It gives the signs of life to the run.
    /// - Returns: the work's value.
    /// - Throws: the work's error.
    public func run<Value, Failure: Error>(
        _ wait: Wait, _ work: @MainActor (Run) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let run = start(wait)
        let isBegun = !Task.isCancelled
        do throws(Failure) {
            let value = try await work(run)
            run.handle(.succeeded)
            return value
        } catch {
            run.handle(.ended(by: error, continues: isBegun && wait.isDurable))
            throw error
        }
    }
}

extension ProgressInput {
    /// - Parameter continues: whether the work goes on if the task is canceled.
    fileprivate static func ended(by error: any Error, continues: Bool) -> ProgressInput {
        switch ProgressEnd(error) {
        case .cancelled where continues && Task.isCancelled: .continuedInBackground
        case .cancelled: .cancelled
        case .failed(let recovery): .failed(recovery)
        case .succeeded, .continuedInBackground: preconditionFailure("\(error) is not a failure")
        }
    }

    fileprivate var isEnd: Bool {
        switch self {
        case .succeeded, .failed, .cancelled, .continuedInBackground: true
        case .fraction, .signOfLife, .attempt, .cause, .reduceMotion, .restarted: false
        }
    }
}

extension ProgressState {
    /// Whether a view shows the wait or its indicator.
    fileprivate var isVisible: Bool { ending == nil || isIndicatorVisible }

    /// Whether the wait has ended, and offers no actions.
    fileprivate var isOver: Bool {
        switch ending?.end {
        case nil, .failed: false
        case .succeeded, .cancelled, .continuedInBackground: true
        }
    }
}
