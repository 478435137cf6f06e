import Foldback

/// The outbox's decisions, as a pure value: inputs say what happened, and actions say what to do.
///
/// ```
///               ┌───────────────── failed, postponed, no verdict ◀────────────┐
///               ▼                                                             │
///  recorded ─▶ waiting ── due, online, signed in ─▶ covering ── covered ─▶ sent ── settled ─▶ gone
/// ```
///
/// An intent is in one place only, so no two requests contain it at the same time. It leaves when
/// the log has its answer, from this outbox or another source. This type never gives up (A4).
///
/// Invariants:
/// - There are at most `policy.requestsMax` requests, each with at most
///   `policy.intentsPerRequestMax` intents.
/// - A request is sent only after the commit that records its attempts. That commit covers the
///   intents (A5, L2).
/// - First attempts begin in order of number. Under a policy that keeps order, all attempts do
///   (A5).
package struct OutboxState: Sendable {
    package enum Input: Sendable, Equatable {
        /// The log has new pending intents, ascending.
        case recorded([PendingIntent])
        /// The log has answers to these intents.
        case answered([IntentNumber])
        /// The attempts of a request are recorded. These of its intents are still pending.
        case covered(RequestNumber, pending: [IntentNumber])
        /// The authority has answered, and the log has the verdicts. An intent of the request
        /// without a reply had no verdict.
        case attemptAnswered(RequestNumber, [IntentNumber: Reply])
        case attemptFailed(RequestNumber, AuthorityFailure)
        case wentOnline
        case wentOffline
        case signedIn
        case signedOut(reason: String)
        case timePassed
    }

    /// The result of one intent of an answered request.
    package enum Reply: Sendable, Equatable {
        case settled
        case later(after: Duration?, reason: String)
        /// The log cannot record the verdict.
        case unusable(reason: String)
    }

    package enum Action: Sendable, Equatable {
        /// Record these attempts before the request is sent.
        ///
        /// `flushes`: also flush the log, so that the intents and attempts survive a power cut. It
        /// is true if some are first attempts (L2).
        case cover(RequestNumber, [IntentNumber: Attempt], flushes: Bool)
        /// Send these intents, ascending.
        case send(RequestNumber, [IntentNumber])
        /// Record the failures of these attempts.
        case note([IntentNumber: Attempt])
        /// Report ``Input/timePassed`` at this time. The next reaction replaces this action.
        case wait(until: Timestamp)
    }

    package let policy: OutboxPolicy
    package private(set) var isOnline: Bool
    /// The reason why no user is signed in; nil while a user is.
    package private(set) var signedOut: String?
    /// The failure of the last request; nil after a request was answered.
    package private(set) var failure: AuthorityFailure?
    package private(set) var requests: [RequestNumber: Request] = [:]
    /// Pending intents that this code cannot read. Newer code will send them. Later intents are
    /// sent now, because the view omits the unreadable intents too (F9, L5).
    package private(set) var unreadable: Set<IntentNumber> = []
    private var waiting = NumberMap<IntentNumber, Waiting>()
    private var lastRequest: RequestNumber = 0
    /// The number of failed requests since the last answered request. Failures during one pause
    /// count once.
    private var failures = 0
    /// No request begins before the end of this pause.
    private var pause: Delay?

    package init(policy: OutboxPolicy, isOnline: Bool, signedOut: String?) {
        self.policy = policy
        self.isOnline = isOnline
        self.signedOut = signedOut
    }

    /// The number of pending intents that can be sent and are not in a request.
    package var waitingCount: Int { waiting.count }

    /// Applies an input and returns the actions to perform, in order.
    ///
    /// - Parameters:
    ///   - now: the time of day, which may jump. A wait is never longer than `policy.delayMax`.
    ///   - jitter: a random number from 0 to 1.
    /// - Complexity: O(n) in the intents that the input names and that begin. Under a policy that
    ///   does not keep order, also in postponed intents. When the device comes online, in all
    ///   waiting intents.
    package mutating func take(
        _ input: Input, at now: Timestamp, jitter: Double
    ) -> [Action] {
        let actions = reaction(to: input, at: now, jitter: jitter)
        return actions + begin(at: now)
    }

    private mutating func reaction(
        to input: Input, at now: Timestamp, jitter: Double
    ) -> [Action] {
        switch input {
        case .recorded(let intents): recorded(intents)
        case .answered(let numbers): answered(numbers)
        case .covered(let number, let pending): return covered(number, pending)
        case .attemptAnswered(let number, let replies):
            return attemptAnswered(number, replies, now, jitter)
        case .attemptFailed(let number, let failure):
            return attemptFailed(number, failure, now, jitter)
        case .wentOnline: wentOnline()
        case .wentOffline: isOnline = false
        case .signedIn: signedOut = nil  // mutant: signed-in
        case .signedOut(let reason): signedOut = reason
        case .timePassed: break
        }
        return []
    }

    // MARK: Events of the log

    private mutating func recorded(_ intents: [PendingIntent]) {
        for intent in intents {
            guard intent.isReadable else {
                unreadable.insert(intent.number)
                continue
            }
            // After a restart, it is unknown whether the authority asked for the wait. Coming
            // online ends such a wait.
            let delay = intent.attempt?.next.map { Delay(until: $0, isAskedFor: false) }
            waiting[intent.number] = Waiting(attempt: intent.attempt, delay: delay)
        }
    }

    private mutating func answered(_ numbers: [IntentNumber]) {
        for number in numbers {
            waiting[number] = nil
            unreadable.remove(number)
            for request in requests.keys { requests[request]?.attempts[number] = nil }
        }
    }

    // MARK: Requests

    private mutating func covered(
        _ number: RequestNumber, _ pending: [IntentNumber]
    ) -> [Action] {
        guard var request = requests[number], request.phase == .covering else {
            preconditionFailure("request \(number) was covered, but does not wait for that")
        }
        request.attempts.keep(pending)
        guard !request.attempts.isEmpty, isOnline, signedOut == nil else {
            requests[number] = nil
            for (intent, attempt) in request.attempts {
                waiting[intent] = Waiting(attempt: attempt, delay: nil)
            }
            return []
        }
        request.phase = .sent
        requests[number] = request
        return [.send(number, request.attempts.keys)]
    }

    private mutating func end(_ number: RequestNumber) -> Attempts {
        guard let request = requests.removeValue(forKey: number), request.phase == .sent else {
            preconditionFailure("request \(number) has a result, but was not sent")
        }
        return request.attempts
    }

    private mutating func attemptAnswered(
        _ number: RequestNumber, _ replies: [IntentNumber: Reply], _ now: Timestamp,
        _ jitter: Double
    ) -> [Action] {
        failures = 0
        failure = nil
        if let pause, !pause.isAskedFor { self.pause = nil }
        var noted: [IntentNumber: Attempt] = [:]
        for (intent, attempt) in end(number) {
            let backoff = policy.backoff(after: attempt.count, jitter: jitter)
            let (reason, after): (String, Duration?)
            switch replies[intent] {
            case .settled: continue
            case .later(let asked, let why): (reason, after) = (why, asked)
            case .unusable(let why): (reason, after) = (why, nil)
            case nil: (reason, after) = ("the answer had no verdict on this intent", nil)
            }
            let delay = Delay(
                until: now.advanced(by: clamped(after ?? backoff)), isAskedFor: after != nil)
            noted[intent] = wait(intent, attempt, delay, reason, now)
        }
        return noted.isEmpty ? [] : [.note(noted)]
    }

    private mutating func attemptFailed(
        _ number: RequestNumber, _ failure: AuthorityFailure, _ now: Timestamp,
        _ jitter: Double
    ) -> [Action] {
        let attempts = end(number)
        self.failure = failure
        switch failure {
        case .unreachable, .invalidAnswer: pause(for: nil, now, jitter)
        case .unavailable(let after, _): pause(for: after, now, jitter)
        case .unauthenticated(let reason): signedOut = reason
        }
        var noted: [IntentNumber: Attempt] = [:]
        for (intent, attempt) in attempts {
            noted[intent] = wait(intent, attempt, nil, failure.reason, now)
        }
        return noted.isEmpty ? [] : [.note(noted)]
    }

    /// Puts an intent back among the waiting intents. Returns its attempt with the failure, to be
    /// recorded.
    private mutating func wait(
        _ number: IntentNumber, _ attempt: Attempt, _ delay: Delay?, _ reason: String,
        _ now: Timestamp
    ) -> Attempt {
        let noted = Attempt(
            count: attempt.count, startedAt: attempt.startedAt,
            failure: Attempt.Failure(at: now, reason: reason),
            next: delay?.until ?? pause?.until)
        waiting[number] = Waiting(attempt: noted, delay: delay)  // mutant: try-again
        return noted
    }

    /// Stops all new requests for a time, because a failed request says something about the link,
    /// not about its intents.
    ///
    /// Requests that fail during one pause count as one failure, and the longer wait applies.
    private mutating func pause(for asked: Duration?, _ now: Timestamp, _ jitter: Double) {
        if pause.map({ $0.until <= now }) ?? true {
            failures += 1
            pause = nil
        }
        let backoff = policy.backoff(after: max(1, failures), jitter: jitter)
        let delay = Delay(
            until: now.advanced(by: clamped(asked ?? backoff)), isAskedFor: asked != nil)
        if let pause, pause.until >= delay.until { return }
        pause = delay
    }

    private func clamped(_ asked: Duration) -> Duration {
        min(max(asked, .zero), policy.delayMax)
    }

    /// Ends the waits that the authority did not ask for.
    private mutating func wentOnline() {
        isOnline = true  // mutant: went-online
        failures = 0
        if let pause, !pause.isAskedFor { self.pause = nil }
        for (number, intent) in waiting {
            if let delay = intent.delay, !delay.isAskedFor { waiting[number]?.delay = nil }
        }
    }

    // MARK: Next requests

    /// Begins as many requests as allowed. If none can begin and intents wait, returns a wait until
    /// one can.
    private mutating func begin(at now: Timestamp) -> [Action] {
        guard isOnline, signedOut == nil, requests.count < policy.requestsMax else { return [] }
        if let pause {
            let until = bounded(pause, now)
            guard until <= now else {
                self.pause?.until = until
                return waiting.isEmpty ? [] : [.wait(until: until)]
            }
            self.pause = nil
        }
        var actions: [Action] = []
        while requests.count < policy.requestsMax {
            let (due, earliest) = due(at: now)
            guard !due.isEmpty else {
                if let earliest { actions.append(.wait(until: earliest)) }
                break
            }
            actions.append(begin(due, at: now))
        }
        return actions
    }

    /// Returns the intents of the next request. If none is due, `earliest` is the time when one
    /// will be.
    private mutating func due(
        at now: Timestamp
    ) -> (due: [(IntentNumber, Attempt?)], earliest: Timestamp?) {
        var due: [(IntentNumber, Attempt?)] = []
        var earliest: Timestamp?
        for (number, intent) in waiting {
            if let delay = intent.delay {
                let until = bounded(delay, now)
                if until != delay.until { waiting[number]?.delay?.until = until }
                guard until <= now else {
                    earliest = min(earliest ?? until, until)
                    if policy.keepsOrder { break } else { continue }
                }
            }
            due.append((number, intent.attempt))
            if due.count == policy.intentsPerRequestMax { break }
        }
        return (due, earliest)
    }

    /// Returns the end of a wait, at most `policy.delayMax` from now. The clock may have been set
    /// back.
    private func bounded(_ delay: Delay, _ now: Timestamp) -> Timestamp {
        min(delay.until, now.advanced(by: policy.delayMax))
    }

    private mutating func begin(
        _ due: [(IntentNumber, Attempt?)], at now: Timestamp
    ) -> Action {
        lastRequest = lastRequest.next
        var request = Request()
        var noted: [IntentNumber: Attempt] = [:]
        for (number, last) in due {
            waiting[number] = nil
            let attempt = Attempt(
                count: (last?.count ?? 0) + 1, startedAt: now, failure: last?.failure)
            request.attempts[number] = attempt
            noted[number] = attempt
        }
        requests[lastRequest] = request
        return .cover(lastRequest, noted, flushes: due.contains { $0.1 == nil })
    }
}

extension OutboxState {
    /// A group of intents that are sent together.
    package struct Request: Sendable {
        package enum Phase: Sendable { case covering, sent }

        package fileprivate(set) var phase = Phase.covering
        /// The attempts of the intents that have no answer yet.
        package fileprivate(set) var attempts = Attempts()
    }

    private struct Waiting: Sendable {
        let attempt: Attempt?
        var delay: Delay?
    }

    private struct Delay: Sendable {
        var until: Timestamp
        /// Whether the authority asked for it. Coming online does not end such a delay.
        let isAskedFor: Bool
    }
}

/// The number of a request within one run of an outbox: from 1 up.
package struct RequestNumber: LogNumber {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
}

extension Attempts {
    fileprivate mutating func keep(_ numbers: [IntentNumber]) {
        var kept = Attempts()
        for number in numbers { kept[number] = self[number] }
        self = kept
    }
}
