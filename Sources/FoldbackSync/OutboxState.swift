import Foldback

/// What to send when, as a pure value: what happened goes in, what is to be done comes out.
///
/// ```
///               ┌────────────────── failed, put off, no verdict ◀─────────────┐
///               ▼                                                             │
///  recorded ─▶ waiting ── due, online, signed in ─▶ covering ── covered ─▶ sent ── settled ─▶ gone
/// ```
///
/// An intent is in one place only, so it is never sent twice at once. It leaves for good when the log
/// has its answer, whoever brought it. Nothing here gives up (A4).
///
/// Invariants:
/// - at most `policy.requestsMax` requests, of at most `policy.intentsPerRequestMax` intents;
/// - a request is sent only behind the commit that notes its attempts, which covers the intents (A5, L2);
/// - first attempts begin in order of number; under a policy that keeps order, all do (A5).
package struct OutboxState: Sendable {
    package enum Input: Sendable, Equatable {
        /// Intents are pending that were not known here, ascending.
        case recorded([PendingIntent])
        /// The log has an answer to these.
        case answered([IntentNumber])
        /// The attempts of a request are noted; these of its intents are pending still.
        case covered(RequestNumber, pending: [IntentNumber])
        /// The authority has answered, and what it settled is in the log. What has no reply here had no
        /// verdict.
        case attemptAnswered(RequestNumber, [IntentNumber: Reply])
        case attemptFailed(RequestNumber, AuthorityFailure)
        case wentOnline
        case wentOffline
        case signedIn
        case signedOut(reason: String)
        case timePassed
    }

    /// What came of an intent in an answered request.
    package enum Reply: Sendable, Equatable {
        case settled
        case later(after: Duration?, reason: String)
        /// A verdict that cannot be recorded.
        case unusable(reason: String)
    }

    package enum Action: Sendable, Equatable {
        /// Note these attempts, and what they are for, before anything is sent. `flushes`: so that it
        /// survives a power cut, because some are first attempts (L2).
        case cover(RequestNumber, [IntentNumber: Attempt], flushes: Bool)
        /// Send these, ascending.
        case send(RequestNumber, [IntentNumber])
        /// Note what came of attempts.
        case note([IntentNumber: Attempt])
        /// Say ``Input/timePassed`` then. Holds until the next reaction, which says it again if need be.
        case wait(until: Timestamp)
    }

    package let policy: OutboxPolicy
    package private(set) var isOnline: Bool
    /// Why nobody is signed in; nil while somebody is.
    package private(set) var signedOut: String?
    /// Why the last request failed; nil once one was answered.
    package private(set) var failure: AuthorityFailure?
    package private(set) var requests: [RequestNumber: Request] = [:]
    /// Pending intents that this code cannot read. They are not sent: newer code will. What is behind
    /// them is, for the view too is as if they were absent (F9, L5).
    package private(set) var unreadable: Set<IntentNumber> = []
    private var waiting = NumberMap<IntentNumber, Waiting>()
    private var lastRequest: RequestNumber = 0
    /// Requests that failed since the last one that was answered, counting those of one pause once.
    private var failures = 0
    /// Nothing is begun before its end.
    private var pause: Delay?

    package init(policy: OutboxPolicy, isOnline: Bool, signedOut: String?) {
        self.policy = policy
        self.isOnline = isOnline
        self.signedOut = signedOut
    }

    /// Pending intents that are not on their way and can be sent.
    package var waitingCount: Int { waiting.count }

    /// Takes in what happened.
    ///
    /// - Parameters:
    ///   - now: may jump; a wait is never longer than `policy.delayMax`.
    ///   - jitter: chance, from 0 to 1.
    /// - Complexity: O(n) in the intents that are named or begun; under a policy that does not keep order
    ///   also in those that are put off, and in all that wait when the device comes online.
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

    // MARK: What happened in the log

    private mutating func recorded(_ intents: [PendingIntent]) {
        for intent in intents {
            guard intent.isReadable else {
                unreadable.insert(intent.number)
                continue
            }
            // Who asked for the wait before a restart is not known; coming online ends it.
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
            preconditionFailure("request \(number) is not being covered")
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
            preconditionFailure("request \(number) was not sent")
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
            case nil: (reason, after) = ("the answer had no verdict for it", nil)
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

    /// Puts an intent back, and says what is to be noted of its attempt.
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

    /// A failed request says something about the link, not about its intents: nothing is begun for a
    /// while. Several that failed together count once, and the longer wait holds.
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

    /// What is waited for without being asked to is tried at once.
    private mutating func wentOnline() {
        isOnline = true  // mutant: went-online
        failures = 0
        if let pause, !pause.isAskedFor { self.pause = nil }
        for (number, intent) in waiting {
            if let delay = intent.delay, !delay.isAskedFor { waiting[number]?.delay = nil }
        }
    }

    // MARK: What to do next

    /// Begins as many requests as there may be, or says how long there is nothing to begin.
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

    /// What the next request takes; and when something will be due, where nothing is.
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

    /// The clock may have been set back: no wait is longer than it may be.
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
    /// Intents that are sent together.
    package struct Request: Sendable {
        package enum Phase: Sendable { case covering, sent }

        package fileprivate(set) var phase = Phase.covering
        /// Of the intents that have no answer yet.
        package fileprivate(set) var attempts = Attempts()
    }

    private struct Waiting: Sendable {
        let attempt: Attempt?
        var delay: Delay?
    }

    private struct Delay: Sendable {
        var until: Timestamp
        /// By the authority; coming online does not end it.
        let isAskedFor: Bool
    }
}

/// A request of one run of an outbox: from 1 up.
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
