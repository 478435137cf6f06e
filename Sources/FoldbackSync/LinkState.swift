import Foldback

/// What an outbox or a downlink knows of its link to the authority, as a pure value: whether
/// requests can begin, and how long they wait after failures.
package struct LinkState: Sendable {
    package private(set) var isOnline = true
    /// The reason why no user is signed in; nil while a user is.
    package private(set) var signedOut: String?
    /// The number of times that a user has signed in. A request that began before the last of them
    /// says nothing about the present user.
    private(set) var signIns = 0
    /// The failure of the last request; nil after a request had an answer.
    package internal(set) var failure: AuthorityFailure?
    /// No request begins before the end of this pause.
    var pause = Pause()

    package init() {}

    /// Whether a device that is online has a user. There may be a ``pause`` nevertheless.
    var isUsable: Bool { isOnline && signedOut == nil }

    /// What is left when nothing sends any longer: the device and the user are the same.
    var withoutFailures: LinkState {
        var link = self
        (link.failure, link.pause) = (nil, Pause())
        return link
    }

    // MARK: What the app tells

    mutating func wentOnline() {
        isOnline = true
        pause.end()
    }

    mutating func wentOffline() { isOnline = false }

    mutating func signedIn() {
        signIns += 1
        signedOut = nil
    }

    mutating func signedOut(_ reason: String) { signedOut = reason }

    // MARK: What requests tell

    /// A request had an answer, so the authority can be reached.
    mutating func answered() {
        failure = nil
        pause.end()
    }

    /// A request failed, for a reason that concerns other requests too.
    ///
    /// - Parameter signIns: the sign-ins before the request began.
    /// - Returns: false if this says nothing, because another user has signed in meanwhile.
    @discardableResult
    mutating func failed(
        _ failure: AuthorityFailure, after signIns: Int, _ now: Timestamp, _ jitter: Double,
        _ policy: SyncPolicy
    ) -> Bool {
        if failure.isUnauthenticated, signIns < self.signIns { return false }
        self.failure = failure
        switch failure {
        case .unreachable, .invalidAnswer, .failed: pause.begin(nil, now, jitter, policy)
        case .unavailable(let after, _): pause.begin(after, now, jitter, policy)
        case .unauthenticated(let reason): signedOut = reason
        case .superseded: break  // ends the run or the calls
        }
        return true
    }
}

/// A pause of many requests after failures in a row.
///
/// Requests that fail during one pause count as one failure, and the longer wait applies.
struct Pause: Sendable {
    private var failures = 0
    private var delay: Delay?

    var until: Timestamp? { delay?.until }

    /// - Parameter asked: the wait that the authority asked for; nil for backoff.
    mutating func begin(
        _ asked: Duration?, _ now: Timestamp, _ jitter: Double, _ policy: SyncPolicy
    ) {
        if delay.map({ $0.until <= now }) ?? true {
            failures += 1
            delay = nil
        }
        let backoff = policy.backoff(after: max(1, failures), jitter: jitter)
        let next = Delay(asked, or: backoff, now, policy)
        if let delay, delay.until >= next.until { return }
        delay = next
    }

    /// Ends the pause as ``skip()`` does, and forgets the failures: a request was answered, or the
    /// device came online.
    mutating func end() {
        failures = 0
        skip()
    }

    /// Ends the pause, unless the authority asked for it. The next failure leads to a longer pause.
    mutating func skip() {
        if let delay, !delay.isAskedFor { self.delay = nil }
    }

    /// Returns the end of the pause, at most `policy.delayMax` from now; nil if it is over.
    mutating func remains(at now: Timestamp, _ policy: SyncPolicy) -> Timestamp? {
        delay = delay?.bounded(at: now, policy)
        if let delay, delay.until > now { return delay.until }
        delay = nil
        return nil
    }
}

/// A wait for a time.
struct Delay: Sendable {
    let until: Timestamp
    /// Whether the authority asked for it. Coming online does not end such a delay.
    let isAskedFor: Bool
}

extension Delay {
    /// Creates the wait that the authority asked for, or else a wait of `backoff`. It is at most
    /// `policy.delayMax` long.
    ///
    /// An authority that asks for no wait gets backoff too. It would otherwise be asked as fast as
    /// the network allows.
    init(
        _ asked: Duration?, or backoff: Duration, _ now: Timestamp, _ policy: SyncPolicy
    ) {
        let asked = asked.flatMap { $0 > .zero ? $0 : nil }
        until = now.advanced(by: min(asked ?? backoff, policy.delayMax))
        isAskedFor = asked != nil
    }

    /// Returns the delay with an end that is at most `policy.delayMax` from now. The clock may have
    /// been set back.
    func bounded(at now: Timestamp, _ policy: SyncPolicy) -> Delay {
        Delay(until: min(until, now.advanced(by: policy.delayMax)), isAskedFor: isAskedFor)
    }
}

extension AuthorityFailure {
    var isUnauthenticated: Bool { if case .unauthenticated = self { true } else { false } }
}
