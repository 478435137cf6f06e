import Observation

/// Data that a view asks for: runs the app's function, one request at a time.
///
/// ```swift
/// let menu = FetchModel("loading the menu") { _ in try await server.menu() }
/// menu.ask()  // menu.data is .loading now
/// switch menu.data {
/// case .notAsked, .loading: Spinner(menu.progress)
/// case .failure(let error): Retry(error) { menu.refresh() }
/// case .success(let dishes): List(dishes)
/// }
/// ```
///
/// A new request keeps the value that is known, also if it fails (``FetchState``). Of several
/// requests, only the latest changes anything (U8). A model that is released cancels its request.
///
/// Each request has its initiator: `ask(by: .app)` for work that nobody asked for, which is silent
/// (U15). A person who waits for a request goes on waiting if the app joins or refreshes it.
///
/// Do not use it for data that is in a store: a view of the store is there at once, and follows
/// each change. ``data(known:absent:)`` is for what the store may not have yet.
@MainActor @Observable public final class FetchModel<Value: Sendable, Failure: Error> {
    /// What is known, and what the present request does.
    public private(set) var state: FetchState<Value, Failure> { didSet { stateChanged() } }
    /// The wait of the present request.
    public let progress: ProgressModel
    /// Why requests do not begin; nil if they do.
    public private(set) var hold: WaitCause?

    /// As the initiator of the model shows it.
    private let wait: Wait
    private let policy: ProgressPolicy
    /// Nil if the cues end with ``progress``.
    private let sharedCues: Cues?
    private let sources: UISources
    private let delay: Duration
    private let fetch: @Sendable (FetchReport) async throws(Failure) -> Value
    @ObservationIgnored private var request: Request?
    /// Called after each change of the state, in the same turn.
    @ObservationIgnored var stateChanged: @MainActor () -> Void = {}

    /// The request that was begun last.
    private struct Request {
        let token: FetchToken
        /// Who waits for it.
        var initiator: Initiator
        var run: ProgressModel.Run
        /// Nil if the request waits for the end of a hold.
        var task: Task<Void, Never>?
        /// What the function has reported last.
        var reported = WaitCause.unknown
        /// Whether a newer request was asked for during a hold. It begins after the hold.
        var isOutdated = false
    }

    /// Makes a model that has not asked.
    ///
    /// - Parameters:
    ///   - kind: what the wait's texts say, such as "loading the menu".
    ///   - initiator: the initiator of each command without an initiator of its own. Nothing is
    ///     announced if it is the app.
    ///   - sources: the time, and the sleep of ``delayed(by:)``.
    ///   - fetch: one request. It runs outside of the main actor, and its task is canceled if the
    ///     answer is not needed any more. An ``ExplainedError`` gives the wait's words.
    public convenience init(
        _ kind: WaitKind, by initiator: Initiator = .user(), sources: UISources = .system,
        _ fetch: @escaping @Sendable (FetchReport) async throws(Failure) -> Value
    ) {
        self.init(Wait(kind, initiator: initiator), sources: sources, fetch)
    }

    /// Makes a model whose requests are shown as any wait, for example one that obstructs.
    ///
    /// - Parameters:
    ///   - wait: how a view shows a request. Its initiator is the initiator of each command without
    ///     an initiator of its own.
    ///   - state: what is known before the first request, for example from a disk.
    ///   - policy: the time limits of the wait.
    ///   - cues: shared with other models; nil for cues that end with the model.
    ///   - sources: the time, and the sleep of ``delayed(by:)``.
    ///   - fetch: one request. It runs outside of the main actor, and its task is canceled if the
    ///     answer is not needed any more. An ``ExplainedError`` gives the wait's words.
    public convenience init(
        _ wait: Wait, state: FetchState<Value, Failure> = FetchState(),
        policy: ProgressPolicy = ProgressPolicy(), cues: Cues? = nil, sources: UISources = .system,
        _ fetch: @escaping @Sendable (FetchReport) async throws(Failure) -> Value
    ) {
        self.init(wait, state, policy, cues, sources, delay: .zero, fetch)
    }

    private init(
        _ wait: Wait, _ state: FetchState<Value, Failure>, _ policy: ProgressPolicy,
        _ cues: Cues?, _ sources: UISources, delay: Duration,
        _ fetch: @escaping @Sendable (FetchReport) async throws(Failure) -> Value
    ) {
        self.wait = wait
        self.state = state
        self.policy = policy
        self.sources = sources
        sharedCues = cues
        progress = ProgressModel(policy: policy, cues: cues, sources: sources)
        self.delay = delay
        self.fetch = fetch
    }

    /// Returns a model with the same data, whose requests begin after a delay: to look at what a
    /// slow server would show.
    ///
    /// It has its own wait, and no request is in progress. The delay is on the model's
    /// ``UISources``, so a ``ManualClock`` skips it.
    public func delayed(by delay: Duration) -> FetchModel {
        var state = state
        state.cancel()
        return FetchModel(
            wait, state, policy, sharedCues, sources, delay: self.delay + delay, fetch)
    }

    isolated deinit { endRequest(.cancelled) }

    // MARK: Commands

    /// Begins a request, or joins the request in progress. Without a value, ``data`` is loading
    /// when this returns.
    ///
    /// If a person joins a request of the app, the person's wait begins now.
    ///
    /// - Parameter initiator: the person or the app; nil for the initiator of the model.
    public func ask(by initiator: Initiator? = nil) {
        guard state.activity != .idle else { return refresh(by: initiator) }
        let asker = asker(initiator)
        if asker.isPerson, request?.initiator == .app { startWait(by: asker) }
    }

    /// Begins a request, and cancels the request in progress. The value stays until the answer.
    ///
    /// During a hold, a request that runs goes on, and may answer. The new request begins after the
    /// hold.
    ///
    /// - Parameter initiator: the person or the app; nil for the initiator of the model.
    public func refresh(by initiator: Initiator? = nil) {
        let asker = asker(initiator)
        if hold != nil, request?.task != nil {
            request?.isOutdated = true
            return startWait(by: asker)
        }
        request?.task?.cancel()
        let token = state.begin(at: sources.now())
        request = Request(token: token, initiator: asker, run: startRun(by: asker))
        if hold == nil { send(token) }
        showCause()
    }

    /// Asks if the value is stale: none is known, it was invalidated, or it has reached this age.
    ///
    /// - Parameters:
    ///   - age: the age from which on a value is stale.
    ///   - initiator: the person or the app. By default, it is the app, because nobody has asked
    ///     for a newer value.
    public func refreshIfStale(after age: Duration, by initiator: Initiator = .app) {
        if state.isStale(at: sources.now(), after: age) { ask(by: initiator) }
    }

    /// Makes the value stale. It stays until the next request, such as by
    /// ``refreshIfStale(after:by:)``.
    ///
    /// A model without a request in progress fetches nothing. A request in progress begins again,
    /// as by ``refresh(by:)``, because its answer may be as old as the value.
    public func invalidate() {
        state.invalidate()
        if state.activity != .idle { refresh(by: .app) }
    }

    /// Cancels the request in progress. What is known stays.
    public func cancel() {
        endRequest(.cancelled)
        if state.activity != .idle { state.cancel() }
    }

    /// Forgets what is known, and cancels the request in progress, for example because another user
    /// has signed in.
    public func reset() {
        endRequest(.cancelled)
        state.reset()
    }

    /// Holds later requests until ``resume()``, for example because the device is offline.
    ///
    /// A request that has begun goes on, and may still answer. ``FetchActivity/paused(_:)`` says
    /// why, and the wait's texts too, whatever the request reports in the meantime.
    public func pause(_ cause: WaitCause) {
        hold = cause
        showCause()
    }

    /// Lets requests begin again, and begins the request that was asked for during the hold. A
    /// request that goes on is paused only if it has reported why.
    public func resume() {
        guard hold != nil else { return }
        hold = nil
        guard let request else { return }
        if request.isOutdated { return refresh(by: .app) }
        if request.task == nil { send(request.token) }
        showCause()
    }

    /// Carries out one of the wait's actions, which a person has chosen: cancels the request,
    /// begins it again, or only ends the wait. A request without a wait is the app's.
    ///
    /// ``ProgressModel/perform(_:)`` of ``progress`` does the same if the wait offers the action.
    public func perform(_ action: WaitAction) {
        switch action {
        case .cancel: cancel()
        case .restart:
            // The focus returns to the control that began the wait.
            let last = progress.appearance?.wait.initiator
            refresh(by: last == .app ? nil : last)
        case .continueInBackground:
            progress.handle(.continuedInBackground)
            request?.initiator = .app
        }
    }

    /// Whether a request runs. It changes only together with ``state`` or ``hold``, which are
    /// observed.
    var isRunning: Bool {
        state.activity != .idle && (hold == nil || request?.task != nil)
    }

    // MARK: Requests

    /// Returns the initiator whose wait is shown for a request that `initiator` asks for. A person
    /// goes on waiting if the app asks again.
    private func asker(_ initiator: Initiator?) -> Initiator {
        let asker = initiator ?? wait.initiator
        return asker == .app ? request?.initiator ?? .app : asker
    }

    /// Starts the wait of the request in progress again, without another request.
    private func startWait(by initiator: Initiator) {
        request?.initiator = initiator
        request?.run = startRun(by: initiator)
        showCause()
    }

    private func startRun(by initiator: Initiator) -> ProgressModel.Run {
        let run = progress.start(wait.begun(by: initiator))
        run.onAction { [weak self] in self?.perform($0) }
        return run
    }

    /// Runs the app's function for the present request.
    private func send(_ token: FetchToken) {
        let mailbox = Mailbox<FetchNews>()
        let report = FetchReport(mailbox: mailbox) { [weak self] in
            self?.takeNews(of: token, from: mailbox)
        }
        let start = sources.now().advanced(by: delay)
        request?.task = Task { [weak self, fetch, sources] in
            while sources.now() < start, !Task.isCancelled { await sources.sleep(start) }
            if Task.isCancelled { return }
            let answer: Result<Value, Failure>
            do throws(Failure) {
                answer = .success(try await fetch(report))
            } catch {
                answer = .failure(error)
            }
            self?.takeNews(of: token, from: mailbox)
            self?.end(token, answer)
        }
    }

    /// Applies the reports of a request, if it is in progress (U8).
    private func takeNews(of token: FetchToken, from mailbox: Mailbox<FetchNews>) {
        guard let news = mailbox.take() else { return }
        guard state.isInProgress(token) else { return }  // mutant: late-report
        if let cause = news.cause {
            request?.reported = cause
            showCause()
        }
        for input in news.signsOfLife { request?.run.handle(input) }
    }

    /// Shows why the request in progress takes long: the hold, or else what its function reports.
    private func showCause() {
        guard let request else { return }
        let cause = hold ?? request.reported
        if hold != nil || cause.pausesFetch {
            state.pause(cause, request.token)
        } else if case .paused = state.activity {
            state.resume(request.token, at: sources.now())
        }
        request.run.handle(.cause(cause))
    }

    private func end(_ token: FetchToken, _ answer: Result<Value, Failure>) {
        guard state.isInProgress(token) else { return }  // mutant: latest-request
        let next = request.flatMap { $0.isOutdated ? $0.initiator : nil }
        switch answer {
        case .success(let value):
            _ = state.succeeded(value, token, at: sources.now())
            endRequest(.succeeded)
        case .failure(let failure):
            if case .failed(let recovery) = ProgressEnd(failure) {
                _ = state.failed(failure, token, at: sources.now())
                endRequest(.failed(recovery))
            } else {
                cancel()
            }
        }
        if let next { refresh(by: next) }
    }

    /// Ends the wait of the present request, and its task if that still runs.
    private func endRequest(_ end: ProgressInput) {
        request?.task?.cancel()
        request?.run.handle(end)
        request = nil
    }
}

extension WaitCause {
    /// Whether a fetch waits until the cause is gone.
    fileprivate var pausesFetch: Bool {
        switch self {
        case .offline, .signedOut, .serverBusy: true
        case .unknown, .slow, .failing: false
        }
    }
}
