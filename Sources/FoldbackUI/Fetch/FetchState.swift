/// What is known from the last fetch, and what the present fetch does: two facts, whose product has
/// no illegal state.
///
/// | known ╲ activity | `idle` | `fetching` | `paused` |
/// |---|---|---|---|
/// | `nothing` | not asked | loading | loading |
/// | `value(v)` | `v` | `v`, refreshing | `v`, stale |
/// | `failure(f, older: nil)` | `f` | loading, last failure `f` | loading, last failure `f` |
/// | `failure(f, older: v)` | `v`, last failure `f` | the same, refreshing | the same, stale |
///
/// A ``FetchModel`` has such a state, and changes it. Of several fetches, only the fetch begun last
/// changes anything (U8).
public struct FetchState<Value, Failure: Error> {
    /// The last answer.
    package enum Known {
        /// No fetch has answered.
        case nothing
        /// The last fetch that answered succeeded at this moment.
        case value(Value, at: Moment)
        /// The last fetch that answered failed at this moment. `older`: the last value before
        /// that; nil if there was none.
        case failure(Failure, at: Moment, older: Value?)
    }

    /// The last answer. A fetch in progress does not change it.
    package private(set) var known: Known
    /// What the present fetch does.
    public private(set) var activity: FetchActivity = .idle
    /// The fetches begun since the last success.
    private var attempts = 0
    private var lastBegun = FetchToken(number: 0)
    /// The fetches up to this one began before ``invalidate()``, so their values are stale; nil if
    /// nothing was invalidated since the last value.
    private var staleThrough: FetchToken?

    /// Creates the state before the first fetch: nothing is known.
    public init() { known = .nothing }

    /// Creates the state of a value from elsewhere, such as a file or a part of other data.
    ///
    /// ```swift
    /// let menu = FetchModel(Wait(.loading), state: FetchState(value: bundled)) { … }
    /// ```
    ///
    /// The value counts as the answer of an earlier fetch. It is stale until a fetch has succeeded,
    /// and its moment is ``Moment/zero``.
    public init(value: Value) { self.init(restoring: .value(value, at: .zero)) }

    /// Creates the state of an earlier process, whose moments mean nothing in this process.
    init(restoring known: Known) {
        self.known = known
        staleThrough = lastBegun
    }
}

/// What a fetch does.
public enum FetchActivity: Hashable, Sendable {
    /// No fetch is in progress.
    case idle
    /// `attempt`: the number of this fetch since the last success, from 1 up.
    case fetching(since: Moment, attempt: Int)
    /// The fetch waits until the cause is gone.
    case paused(WaitCause)
}

/// A fetch of one ``FetchState`` and its copies. Later fetches supersede it.
package struct FetchToken: Hashable, Sendable {
    /// From 1 up, in the order of the beginnings.
    fileprivate let number: UInt64

    fileprivate var next: FetchToken { FetchToken(number: number + 1) }
}

extension FetchState: Sendable where Value: Sendable {}
extension FetchState: Equatable where Value: Equatable, Failure: Equatable {}
extension FetchState: Hashable where Value: Hashable, Failure: Hashable {}
extension FetchState.Known: Sendable where Value: Sendable {}
extension FetchState.Known: Equatable where Value: Equatable, Failure: Equatable {}
extension FetchState.Known: Hashable where Value: Hashable, Failure: Hashable {}

// MARK: What happens to a fetch

extension FetchState {
    /// Begins a fetch, and supersedes a fetch in progress. What is known stays.
    ///
    /// - Returns: the token with which the fetch reports.
    package mutating func begin(at now: Moment) -> FetchToken {
        lastBegun = lastBegun.next
        attempts += 1
        activity = .fetching(since: now, attempt: attempts)
        return lastBegun
    }

    /// Ends the fetch with a value.
    ///
    /// - Returns: whether the fetch is in progress. False: it was superseded, canceled or has
    ///   answered, and nothing changed (U8).
    package mutating func succeeded(_ value: Value, _ token: FetchToken, at now: Moment) -> Bool {
        guard isInProgress(token) else { return false }
        known = .value(value, at: now)
        activity = .idle
        attempts = 0
        if let last = staleThrough, token.number > last.number { staleThrough = nil }
        return true
    }

    /// Ends the fetch with a failure. The last value stays as the older value.
    ///
    /// - Returns: whether the fetch is in progress. False: it was superseded, canceled or has
    ///   answered, and nothing changed (U8).
    package mutating func failed(_ failure: Failure, _ token: FetchToken, at now: Moment) -> Bool {
        guard isInProgress(token) else { return false }
        known = .failure(failure, at: now, older: value)
        activity = .idle
        return true
    }

    /// Notes why the fetch cannot go on. It may still answer. Changes nothing if the fetch is not
    /// in progress (U8).
    package mutating func pause(_ cause: WaitCause, _ token: FetchToken) {
        guard isInProgress(token) else { return }
        activity = .paused(cause)
    }

    /// Notes that a paused fetch goes on. Changes nothing if the fetch is not paused.
    package mutating func resume(_ token: FetchToken, at now: Moment) {
        guard isInProgress(token), case .paused = activity else { return }
        activity = .fetching(since: now, attempt: attempts)
    }

    /// Forgets what is known, and ends the fetch in progress, for example because another user has
    /// signed in.
    ///
    /// Answers of earlier fetches change nothing (U8). Do not make a new state instead: its tokens
    /// begin at the same number, so it would take the answer of an old fetch.
    package mutating func reset() {
        known = .nothing
        activity = .idle
        attempts = 0
        staleThrough = nil
    }

    /// Ends the fetch in progress without an answer. What is known stays.
    package mutating func cancel() { activity = .idle }

    /// Makes the value stale, also the value of a fetch that is in progress now.
    package mutating func invalidate() { staleThrough = lastBegun }

    /// A fetch in progress is the last fetch that was begun, and has not ended.
    func isInProgress(_ token: FetchToken) -> Bool {
        token == lastBegun && activity != .idle  // mutant: latest-fetch
    }
}

// MARK: What a view shows

extension FetchState {
    /// The data to show, which prefer a value to the last answer: after a failure, the older value
    /// remains a success. Then ``lastFailure`` is the failure.
    ///
    /// Without a value, a fetch in progress is loading, also after a failure.
    public var data: RemoteData<Value, Failure> {
        if let value { return .success(value) }
        if activity != .idle { return .loading }
        return lastFailure.map { .failure($0) } ?? .notAsked
    }

    /// The last answer, whatever the present fetch does: after a failure, a failure. Before the
    /// first answer, not asked or loading.
    public var outcome: RemoteData<Value, Failure> {
        switch known {
        case .nothing: activity == .idle ? .notAsked : .loading
        case .value(let value, at: _): .success(value)
        case .failure(let failure, at: _, older: _): .failure(failure)
        }
    }

    /// Returns the data of a view whose log may not have everything yet (U9): what the log has,
    /// if it has anything. Otherwise, once a fetch has succeeded, `absent`, because then it is a
    /// fact that there is nothing. Before that, the state of the fetch.
    ///
    /// It is a fact only if the view has what the fetch brought. So a fetch that commits to a log
    /// ends with `adoptCommits()` of the view's model.
    ///
    /// - Parameters:
    ///   - known: what the log has; nil if it has nothing.
    ///   - absent: the app's value for nothing, such as an empty list.
    public func data<Shown>(
        known: Shown?, absent: @autoclosure () -> Shown
    ) -> RemoteData<Shown, Failure> {
        known.map { .success($0) } ?? data.map { _ in absent() }
    }

    /// Whether a value is shown while a fetch is in progress and not paused.
    public var isRefreshing: Bool {
        if case .fetching = activity { value != nil } else { false }
    }

    /// The failure of the last fetch that answered; nil if it succeeded, or if none has answered.
    public var lastFailure: Failure? {
        if case .failure(let failure, at: _, older: _) = known { failure } else { nil }
    }

    /// Returns whether the app should fetch again: the value was invalidated, the fetch that should
    /// replace it is paused or has failed, or the value has reached this age. Also true if no value
    /// is known.
    public func isStale(at now: Moment, after age: Duration) -> Bool {
        guard case .value(_, let then) = known, staleThrough == nil else { return true }
        if case .paused = activity { return true }
        return then.duration(to: now) >= age
    }

    /// The last value, also after failures.
    private var value: Value? {
        switch known {
        case .nothing: nil
        case .value(let value, at: _): value
        case .failure(_, at: _, let older): older
        }
    }
}
