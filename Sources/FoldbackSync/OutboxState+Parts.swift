import Foldback

extension OutboxState {
    /// A group of intents that are sent together.
    package struct Request: Sendable {
        package enum Phase: Sendable { case covering, sent }

        package internal(set) var phase = Phase.covering
        /// The intents that have no answer yet.
        package internal(set) var intents = NumberMap<IntentNumber, Sending>()
        /// The number of intents that were sent, also those with an answer.
        var sentCount = 0
        /// The number of sign-ins before it was sent.
        var signIns = 0
        let isOfSuspects: Bool

        /// Whether one more failure halves the request.
        var isHalvedNext: Bool {
            let failures = intents.map { $0.value.attempt.suspicion.failures }.max() ?? 0
            return sentCount > 1 && failures + 1 >= OutboxPolicy.halveAfter
        }

        init(isOfSuspects: Bool) { self.isOfSuspects = isOfSuspects }

        mutating func keep(_ numbers: [IntentNumber]) {
            var kept = NumberMap<IntentNumber, Sending>()
            for number in numbers { kept[number] = intents[number] }
            intents = kept
        }
    }

    /// An intent of a request.
    package struct Sending: Sendable {
        var attempt: Attempt
        let bytes: Int
    }

    /// An intent that is in no request.
    struct Waiting: Sendable {
        /// The last attempt; nil if there was none.
        let attempt: Attempt?
        let bytes: Int
        var delay: Delay?

        /// The largest number of intents in a request with this intent; nil for the policy's limit.
        var intentsMax: Int? { attempt?.suspicion.intentsMax }

        var isSuspect: Bool { intentsMax != nil }

        /// The order in which suspects are tried: first those that were halved least often, and of
        /// these those that failed least often.
        func suspectRank(at number: IntentNumber) -> (Int, Int, IntentNumber) {
            (-(intentsMax ?? .max), attempt?.suspicion.failures ?? 0, number)
        }
    }

    struct Delay: Sendable {
        let until: Timestamp
        /// Whether the authority asked for it. Coming online does not end such a delay.
        let isAskedFor: Bool

        init(until: Timestamp, isAskedFor: Bool) {
            self.until = until
            self.isAskedFor = isAskedFor
        }

        /// Creates a delay from now on that is at most as long as the policy's longest wait.
        init(
            _ duration: Duration, _ isAskedFor: Bool, _ now: Timestamp, _ policy: OutboxPolicy
        ) {
            until = now.advanced(by: min(max(duration, .zero), policy.delayMax))
            self.isAskedFor = isAskedFor
        }

        /// Returns the delay with an end that is at most `policy.delayMax` from now. The clock may
        /// have been set back.
        func bounded(at now: Timestamp, _ policy: OutboxPolicy) -> Delay {
            Delay(
                until: min(until, now.advanced(by: policy.delayMax)), isAskedFor: isAskedFor)
        }
    }

    /// A pause of many intents after failed requests in a row.
    ///
    /// Requests that fail during one pause count as one failure, and the longer wait applies.
    struct Pause: Sendable {
        private var failures = 0
        private var delay: Delay?

        var until: Timestamp? { delay?.until }

        /// - Parameter asked: the wait that the authority asked for; nil for backoff.
        mutating func begin(
            _ asked: Duration?, _ now: Timestamp, _ jitter: Double, _ policy: OutboxPolicy
        ) {
            if delay.map({ $0.until <= now }) ?? true {
                failures += 1
                delay = nil
            }
            let backoff = policy.backoff(after: max(1, failures), jitter: jitter)
            let asked = asked.asWait
            let next = Delay(asked ?? backoff, asked != nil, now, policy)
            if let delay, delay.until >= next.until { return }
            delay = next
        }

        /// Ends the pause, unless the authority asked for it: a request was answered, or the device
        /// came online.
        mutating func end() {
            failures = 0
            if let delay, !delay.isAskedFor { self.delay = nil }
        }

        /// Returns the end of the pause, at most `policy.delayMax` from now; nil if it is over.
        mutating func remains(at now: Timestamp, _ policy: OutboxPolicy) -> Timestamp? {
            delay = delay?.bounded(at: now, policy)
            if let delay, delay.until > now { return delay.until }
            delay = nil
            return nil
        }
    }

    /// A request that is put together, within the policy's limits.
    struct RequestDraft {
        private(set) var intents: [(IntentNumber, Waiting)] = []
        /// The earliest end of a wait that kept an intent out.
        private(set) var earliest: Timestamp?
        private var bytes = 0
        private let policy: OutboxPolicy

        init(_ policy: OutboxPolicy) { self.policy = policy }

        /// Adds an intent, or returns false if it must be in another request. Suspects of one
        /// request were halved equally often.
        mutating func add(_ number: IntentNumber, _ intent: Waiting) -> Bool {
            if let first = intents.first?.1 {
                let countMax = min(
                    intent.intentsMax ?? .max, policy.intentsPerRequestMax)
                guard intent.intentsMax == first.intentsMax, intents.count < countMax else {
                    return false
                }
                let sum = bytes + intent.bytes
                if sum > policy.bytesPerRequestMax { return false }  // mutant: request-bytes
            }
            intents.append((number, intent))
            bytes += intent.bytes
            return true
        }

        mutating func wait(until end: Timestamp) { earliest = min(earliest ?? end, end) }
    }
}
