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
/// Do not use it for data that is in a store: a view of the store is there at once, and follows
/// each change. ``data(known:absent:)`` is for what the store may not have yet.
@MainActor @Observable public final class FetchModel<Value: Sendable, Failure: Error> {
    /// What is known, and what the present request does.
    public private(set) var state: FetchState<Value, Failure> { didSet { stateChanged() } }
    /// The wait of the present request.
    public let progress: ProgressModel
    /// Why requests do not begin; nil if they do.
    public private(set) var hold: WaitCause?

    private let wait: Wait
    private let sources: UISources
    private let delay: Duration
    private let fetch: @Sendable (FetchReport) async throws(Failure) -> Value
    @ObservationIgnored private var request: Request?
    /// Called after each change of the state, in the same turn.
    @ObservationIgnored var stateChanged: @MainActor () -> Void = {}

    /// The request that was begun last.
    private struct Request {
        let token: FetchToken
        let run: ProgressModel.Run
        /// Nil while the model is on hold.
        var task: Task<Void, Never>?
    }

    /// Makes a model that has not asked.
    ///
    /// - Parameters:
    ///   - kind: what the wait's texts say, such as "loading the menu".
    ///   - initiator: who asks. Nothing is announced if it is the app.
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
    ///   - wait: how a view shows a request.
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
        self.init(
            wait, state, ProgressModel(policy: policy, cues: cues, sources: sources), sources,
            delay: .zero, fetch)
    }

    private init(
        _ wait: Wait, _ state: FetchState<Value, Failure>, _ progress: ProgressModel,
        _ sources: UISources, delay: Duration,
        _ fetch: @escaping @Sendable (FetchReport) async throws(Failure) -> Value
    ) {
        self.wait = wait
        self.state = state
        self.progress = progress
        self.sources = sources
        self.delay = delay
        self.fetch = fetch
    }

    /// Returns a model that has not asked, whose requests begin after a delay: to look at what a
    /// slow server would show.
    ///
    /// The delay is on the model's ``UISources``, so a ``ManualClock`` skips it.
    public func delayed(by delay: Duration) -> FetchModel {
        FetchModel(
            wait, FetchState(), progress, sources, delay: self.delay + delay, fetch)
    }

    isolated deinit { endRequest(.cancelled) }

    // MARK: Commands

    /// Begins a request, or joins the request in progress. Without a value, ``data`` is loading when
    /// this returns.
    public func ask() {
        if state.activity == .idle { refresh() }
    }

    /// Begins a request, and cancels the request in progress. The value stays until the answer.
    public func refresh() {
        request?.task?.cancel()
        let token = state.begin(at: sources.now())
        request = Request(token: token, run: progress.start(wait))
        if let hold { note(hold, isPause: true, of: token) } else { send(token) }
    }

    /// Asks if the value is stale: none is known, it was invalidated, or it has reached this age.
    public func refreshIfStale(after age: Duration) {
        if state.isStale(at: sources.now(), after: age) { ask() }
    }

    /// Makes the value stale. It stays until the next request, such as by
    /// ``refreshIfStale(after:)``. A request in progress begins again, because its answer may be as
    /// old as the value.
    public func invalidate() {
        state.invalidate()
        if state.activity != .idle { refresh() }
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
    /// why, and the wait's texts too.
    public func pause(_ cause: WaitCause) {
        hold = cause
        if let request { note(cause, isPause: true, of: request.token) }
    }

    /// Lets requests begin again, and begins the request that was held.
    public func resume() {
        guard hold != nil else { return }
        hold = nil
        guard let request else { return }
        note(.unknown, isPause: false, of: request.token)
        if request.task == nil { send(request.token) }
    }

    /// Does what a person has chosen from the wait's actions: cancels the request, begins it again,
    /// or only ends the wait.
    public func perform(_ action: WaitAction) {
        switch action {
        case .cancel: cancel()
        case .restart: refresh()
        case .continueInBackground: progress.handle(.continuedInBackground)
        }
    }

    /// Returns when no request is in progress, or earlier if the task is canceled.
    ///
    /// ```swift
    /// .refreshable { menu.refresh(); await menu.waitUntilIdle() }
    /// ```
    public func waitUntilIdle() async {
        while state.activity != .idle, !Task.isCancelled {
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            withObservationTracking {
                _ = state.activity
            } onChange: {
                continuation.yield()
            }
            for await _ in changes { break }
        }
    }

    // MARK: Requests

    /// Runs the app's function for the present request.
    private func send(_ token: FetchToken) {
        let mailbox = FetchMailbox { [weak self] in self?.takeNews(of: token, from: $0) }
        let start = sources.now().advanced(by: delay)
        request?.task = Task { [weak self, fetch, sources] in
            while sources.now() < start, !Task.isCancelled { await sources.sleep(start) }
            if Task.isCancelled { return }
            let answer: Result<Value, Failure>
            do throws(Failure) {
                answer = .success(try await fetch(FetchReport(mailbox: mailbox)))
            } catch {
                answer = .failure(error)
            }
            self?.takeNews(of: token, from: mailbox)
            self?.end(token, answer)
        }
    }

    /// Applies the reports of a request. One that is not in progress changes nothing (U8).
    private func takeNews(of token: FetchToken, from mailbox: FetchMailbox) {
        guard let news = mailbox.take() else { return }
        guard state.isInProgress(token) else { return }  // mutant: late-report
        if let cause = news.cause { note(cause, isPause: cause.pausesFetch, of: token) }
        for input in news.signsOfLife { request?.run.handle(input) }
    }

    /// Shows why the request in progress takes long.
    private func note(_ cause: WaitCause, isPause: Bool, of token: FetchToken) {
        if isPause {
            state.pause(cause, token)
        } else if case .paused = state.activity {
            state.resume(token, at: sources.now())
        }
        request?.run.handle(.cause(cause))
    }

    private func end(_ token: FetchToken, _ answer: Result<Value, Failure>) {
        guard state.isInProgress(token) else { return }  // mutant: latest-request
        switch answer {
        case .success(let value):
            _ = state.succeeded(value, token, at: sources.now())
            endRequest(.succeeded)
        case .failure(let failure):
            guard case .failed(let recovery) = ProgressEnd(failure) else { return cancel() }
            _ = state.failed(failure, token, at: sources.now())
            endRequest(.failed(recovery))
        }
    }

    /// Ends the wait of the present request, and its task if that still runs.
    private func endRequest(_ end: ProgressInput) {
        request?.task?.cancel()
        request?.run.handle(end)
        request = nil
    }
}

// MARK: What a view shows

extension FetchModel {
    /// The data to show; see ``FetchState/data``.
    public var data: RemoteData<Value, Failure> { state.data }

    /// Returns the data of a view whose log may not have everything yet (U9); see
    /// ``FetchState/data(known:absent:)``.
    public func data<Shown>(
        known: Shown?, absent: @autoclosure () -> Shown
    ) -> RemoteData<Shown, Failure> {
        state.data(known: known, absent: absent())
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
