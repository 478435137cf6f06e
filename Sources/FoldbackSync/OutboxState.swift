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
/// If requests fail at the authority, a ``SuspectSearch`` finds the intent that makes them fail (S3).
///
/// Invariants:
/// - There are at most `policy.requestsMax` requests with an intent that has no answer, each with at
///   most `policy.intentsPerRequestMax` intents and, unless it has one intent, at most
///   `policy.bytesPerRequestMax` bytes (S2).
/// - At most one request has suspects or quarantined intents, and it has no other intents. So they
///   never fill all requests of a policy with several (S3).
/// - A request is sent only after the commit that records its attempts. That commit covers the
///   intents (A5, L2).
/// - First attempts of a lane begin in order of number, or of release for a draft, and all attempts of
///   a lane do: it has at most one request at a time. Under a policy that keeps order, all intents
///   are in one lane (A5, F22, S1).
/// - An intent that waits for another begins after the log has that one's answer (F21, F22).
package struct OutboxState: Sendable {
    package enum Input: Sendable, Equatable {
        /// The log has new pending intents, or some that wait for others than before, ascending.
        case recorded([PendingIntent])
        /// The log has answers to these intents.
        case answered([IntentNumber])
        /// The attempts of a request are recorded. These of its intents are still pending.
        case covered(RequestNumber, pending: [IntentNumber])
        /// The authority has answered, and the log has the verdicts. An intent of the request
        /// without a reply had no verdict.
        case attemptAnswered(RequestNumber, [IntentNumber: Reply])
        case attemptFailed(RequestNumber, AuthorityFailure)
        case told(LinkChange)
        /// The app trusts an intent again.
        case released(IntentNumber)
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
        /// Record these attempts, which have ended.
        case note([IntentNumber: Attempt])
        /// Report ``Input/timePassed`` at this time. The next reaction replaces this action.
        case wait(until: Timestamp)
    }

    package let policy: SyncPolicy
    package let hasLanes: Bool
    /// Under a policy that does not keep order, failures of suspects are not among its failures
    /// while there are other intents, because those are sent.
    package internal(set) var link: LinkState
    package private(set) var requests: [RequestNumber: Request] = [:]
    /// The pending intents that are in no request.
    var order = SendingOrder()
    var search = SuspectSearch()
    /// Intents that were released before ``Input/recorded(_:)`` with the attempts that a run begins
    /// with. Those may have been read from the log before the release.
    private var releasedEarly: Set<IntentNumber> = []
    private var lastRequest: RequestNumber = 0

    /// - Parameter hasLanes: whether intents say their lanes (S1). If not, the policy determines the order.
    package init(policy: SyncPolicy, hasLanes: Bool = false, link: LinkState = LinkState()) {
        self.policy = policy
        self.hasLanes = hasLanes
        self.link = link
    }

    /// Whether all intents are in one lane, so that each waits for all before it.
    package var keepsOrder: Bool { !hasLanes && policy.keepsOrder }

    /// The number of pending intents that can be sent and are not in a request.
    package var waitingCount: Int { order.waiting.count }

    /// The number of waiting intents that wait for the answers to others: to drafts, or to what they
    /// undo.
    package var dependentCount: Int { order.dependentCount }

    package var unreadable: Set<IntentNumber> { order.unreadable }

    /// Pending intents that sending does not settle: drafts, unreadable and quarantined ones, and what
    /// waits for one of these.
    package var stuck: Set<IntentNumber> { order.stuck(with: quarantined.keys) }

    /// The quarantined intents, also while they are tried again.
    package var quarantined: [IntentNumber: Attempt.Quarantine] {
        var quarantined: [IntentNumber: Attempt.Quarantine] = [:]
        for number in search.waiting {
            quarantined[number] = order.waiting[number]?.attempt?.quarantine
        }
        for request in requests.values where request.isOfSuspects {
            for (number, attempt) in request.attempts {
                quarantined[number] = attempt.quarantine
            }
        }
        return quarantined
    }

    /// Applies inputs of one time, and returns the actions to perform, in order. Nothing begins between
    /// the inputs.
    ///
    /// - Parameters:
    ///   - now: the time of day, which may jump. A wait is never longer than `policy.delayMax`.
    ///   - jitter: a random number from 0 to 1.
    /// - Complexity: O(k log n) for k intents that the inputs name and that begin, and O(n log n) in
    ///   suspects that are first in their lanes. When the device comes online, in all waiting intents.
    package mutating func take(
        _ inputs: [Input], at now: Timestamp, jitter: Double
    ) -> [Action] {
        let actions = inputs.flatMap { reaction(to: $0, at: now, jitter: jitter) }
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
        case .told(.wentOnline): wentOnline()
        case .told(.wentOffline): link.wentOffline()
        case .told(.signedIn):
            link.signedIn()  // mutant: signed-in
        case .told(.signedOut(let reason)): link.signedOut(reason)
        case .released(let number): return released(number)
        case .timePassed: break
        }
        return []
    }

    // MARK: Events of the log and the app

    private mutating func recorded(_ intents: [PendingIntent]) {
        defer { releasedEarly = [] }
        for intent in intents {
            // The result of a request can come before the log's changes. Then an intent that waited for
            // one of the request may have begun. If its own request fails, it waits as the log says.
            let terms = Terms(intent, in: lane(of: intent))
            guard !order.isInRequest(intent.number) else {
                order.setTerms(of: intent.number, terms)
                continue
            }
            guard intent.isReadable else {
                order.noteUnreadable(intent.number)
                continue
            }
            guard !intent.isHeld else {
                order.hold(intent.number)
                continue
            }
            let attempt =
                releasedEarly.contains(intent.number) ? intent.attempt?.released : intent.attempt
            // After a restart, it is unknown whether the authority asked for the wait. Coming
            // online ends such a wait. A quarantined intent is tried at each start (S3).
            let next = attempt?.standing == .quarantined ? nil : attempt?.next
            wait(
                intent.number,
                Waiting(
                    terms, attempt: attempt,
                    delay: next.map { Delay(until: $0, isAskedFor: false) }))
        }
    }

    private func lane(of intent: PendingIntent) -> Lane {
        guard hasLanes else { return policy.keepsOrder ? .shared : .alone }
        return intent.lane.map { .named($0) } ?? .alone
    }

    private mutating func answered(_ numbers: [IntentNumber]) {
        for number in numbers {
            answer(number)
            for request in requests.keys { requests[request]?.attempts[number] = nil }
        }
        // A call that never returns must not hold back other intents.
        for (number, request) in requests where request.phase == .sent && request.attempts.isEmpty {
            requests[number] = nil
        }
        // Nothing waits for the end of the failure.
        if order.waiting.isEmpty, requests.isEmpty { link.failure = nil }
    }

    private mutating func released(_ number: IntentNumber) -> [Action] {
        var released: Attempt?
        if let intent = order.waiting[number], let attempt = intent.attempt,
            attempt.suspicion != .none
        {
            released = attempt.released
            wait(number, Waiting(intent.terms, attempt: released, delay: nil))
        }
        for request in requests.keys {
            guard let attempt = requests[request]?.attempts[number], attempt.suspicion != .none
            else { continue }
            released = attempt.released
            requests[request]?.attempts[number] = attempt.released
        }
        if let released { return [.note([number: released])] }
        let isKnown = order.waiting[number] != nil || order.isInRequest(number)
        if !isKnown { releasedEarly.insert(number) }
        return []
    }

    private mutating func wait(_ number: IntentNumber, _ intent: Waiting) {
        order.wait(number, intent)
        search.note(number, intent.standing)
    }

    private mutating func answer(_ number: IntentNumber) {
        order.answer(number)
        search.note(number, nil)
    }

    /// Puts an intent of a request back among the waiting intents.
    private mutating func putBack(
        _ number: IntentNumber, _ attempt: Attempt, _ delay: Delay? = nil
    ) {
        order.putBack(number, attempt, delay)
        search.note(number, attempt.standing)
    }

    // MARK: Requests

    private mutating func covered(
        _ number: RequestNumber, _ pending: [IntentNumber]
    ) -> [Action] {
        guard var request = requests[number], request.phase == .covering else {
            preconditionFailure("request \(number) was covered, but does not wait for that")
        }
        let pending = Set(pending)
        for number in request.attempts.keys where !pending.contains(number) {
            request.attempts[number] = nil
            answer(number)
        }
        guard !request.attempts.isEmpty, link.isUsable else {
            requests[number] = nil
            for (number, attempt) in request.attempts { putBack(number, attempt) }
            return []
        }
        request.phase = .sent
        request.sentCount = request.attempts.count
        request.signIns = link.signIns
        requests[number] = request
        return [.send(number, request.attempts.keys)]
    }

    /// Returns nil if all intents of the request were answered before its result came.
    private mutating func end(_ number: RequestNumber) -> Request? {
        guard let request = requests.removeValue(forKey: number) else { return nil }
        precondition(
            request.phase == .sent, "request \(number) has a result, but was not sent")
        return request
    }

    private mutating func attemptAnswered(
        _ number: RequestNumber, _ replies: [IntentNumber: Reply], _ now: Timestamp,
        _ jitter: Double
    ) -> [Action] {
        link.answered()
        search.answered()
        guard let request = end(number) else { return [] }
        var noted: [IntentNumber: Attempt] = [:]
        var hasLater = false
        for (number, attempt) in request.attempts {
            let backoff = policy.backoff(after: attempt.count, jitter: jitter)
            let reason: String
            switch replies[number] {
            case .settled:
                answer(number)
                continue
            case .later(let after, let why):
                hasLater = true
                // The authority can process the intent, so the suspicion ends.
                noted[number] = putOff(
                    number, attempt.failed(why, .none, now),
                    Delay(after, or: backoff, now, policy))
                continue
            case .unusable(let why): reason = why
            case nil where hasLater:  // mutant: after-later
                // An authority may end a request, or a lane of it, with what it postpones (N5).
                putBack(number, attempt)
                continue
            case nil: reason = "the answer had no verdict on this intent"
            }
            // Only this intent has failed.
            let failed = attempt.failed(
                .invalidAnswer(reason: reason), among: request.sentCount, now, policy)
            noted[number] = putOff(number, failed, delay(of: failed, backoff, now))
        }
        return noted.isEmpty ? [] : [.note(noted)]
    }

    private mutating func attemptFailed(
        _ number: RequestNumber, _ failure: AuthorityFailure, _ now: Timestamp,
        _ jitter: Double
    ) -> [Action] {
        guard let request = end(number) else { return [] }
        let failed = request.attempts.map { number, attempt in
            (number, attempt, attempt.failed(failure, among: request.sentCount, now, policy))
        }
        // The failure of suspects says nothing about the link.
        let isOfSearch = request.isOfSuspects && failure.castsSuspicion
        if isOfSearch {
            let isSmaller = failed.contains {
                $1.standing.intentsMax != $2.standing.intentsMax
            }
            search.failed(isSmaller: isSmaller, now, jitter, policy)
            // Under a policy that does not keep order, other intents may be sent meanwhile.
            let areOthersSent =
                order.waiting.count > search.waiting.count || !requests.isEmpty
            if keepsOrder || !areOthersSent { link.failure = failure }
        } else {
            link.failed(failure, after: request.signIns, now, jitter, policy)
        }
        let failures = request.attempts.map { $0.value.suspicion.failures }.max() ?? 0
        let backoff = policy.backoff(after: failures + 1, jitter: jitter)
        var noted: [IntentNumber: Attempt] = [:]
        for (number, _, attempt) in failed {
            noted[number] = putOff(
                number, attempt, isOfSearch ? delay(of: attempt, backoff, now) : nil)
        }
        return noted.isEmpty ? [] : [.note(noted)]
    }

    /// Returns the delay of an intent that failed at the authority (S3).
    private func delay(of attempt: Attempt, _ backoff: Duration, _ now: Timestamp) -> Delay {
        Delay(nil, or: attempt.standing == .quarantined ? policy.delayMax : backoff, now, policy)
    }

    /// Puts an intent that has failed back among the waiting intents. Returns its attempt with the time
    /// of the next attempt, to be recorded.
    private mutating func putOff(
        _ number: IntentNumber, _ attempt: Attempt, _ delay: Delay?
    ) -> Attempt {
        let pause = attempt.standing == .normal ? nil : search.pause.until
        let noted = attempt.waiting(
            until: [link.pause.until, pause, delay?.until].compactMap { $0 }.max())
        putBack(number, noted, delay)  // mutant: try-again
        return noted
    }

    /// Ends the waits that the authority did not ask for.
    private mutating func wentOnline() {
        link.wentOnline()  // mutant: went-online
        search.pause.end()
        order.endDelays()
    }

    /// Begins a request of intents that have departed.
    mutating func begin(
        _ due: [(IntentNumber, Waiting)], at now: Timestamp
    ) -> Action {
        lastRequest = lastRequest.next
        var request = Request(isOfSuspects: due.contains { $0.1.standing != .normal })
        var noted: [IntentNumber: Attempt] = [:]
        for (number, intent) in due {
            search.note(number, nil)
            noted[number] = intent.attempt.begun(at: now)
            request.attempts[number] = noted[number]
        }
        requests[lastRequest] = request
        return .cover(lastRequest, noted, flushes: due.contains { $0.1.attempt == nil })
    }
}

/// The number of a request within one run of an outbox: from 1 up.
package struct RequestNumber: LogNumber {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
}
