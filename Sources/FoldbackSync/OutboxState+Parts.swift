import Foldback

extension OutboxState {
    /// A group of intents that are sent together.
    package struct Request: Sendable {
        package enum Phase: Sendable { case covering, sent }

        package internal(set) var phase = Phase.covering
        /// The attempts of the intents that have no answer yet.
        package internal(set) var attempts = NumberMap<IntentNumber, Attempt>()
        /// The number of intents that were sent, also those with an answer.
        var sentCount = 0
        /// The number of sign-ins before it was sent.
        var signIns = 0
        /// Whether its intents were suspects or quarantined when it began (S3).
        let isOfSuspects: Bool
    }

    /// What the log says about the sending of an intent.
    struct Terms: Sendable {
        let bytes: Int
        let lane: Lane
        /// Its place in the lane.
        let place: LogSequence
        let after: [IntentNumber]
        let undoes: IntentNumber?

        init(_ intent: PendingIntent, in lane: Lane) {
            bytes = intent.bytes
            self.lane = lane
            place = intent.place
            after = intent.after
            undoes = intent.undoes
        }

        /// Whether it can have to wait for the answers to others.
        var isTied: Bool { !after.isEmpty || undoes != nil }
    }

    /// An intent that is in no request.
    struct Waiting: Sendable {
        let terms: Terms
        /// The last attempt; nil if there was none.
        let attempt: Attempt?
        var delay: Delay?

        init(_ terms: Terms, attempt: Attempt?, delay: Delay?) {
            self.terms = terms
            self.attempt = attempt
            self.delay = delay
        }

        var standing: Standing { attempt?.standing ?? .normal }
    }

    /// A request that is put together, within the policy's limits.
    struct RequestDraft {
        private(set) var intents: [(IntentNumber, Waiting)] = []
        private var bytes = 0
        private let policy: SyncPolicy

        init(_ policy: SyncPolicy) { self.policy = policy }

        /// Adds an intent, or returns false if it must be in another request. The intents of one
        /// request have one standing (S3).
        mutating func add(_ number: IntentNumber, _ intent: Waiting) -> Bool {
            if let first = intents.first?.1 {
                let countMax = min(
                    intent.standing.intentsMax ?? .max, policy.intentsPerRequestMax)
                guard intent.standing == first.standing, intents.count < countMax else {
                    return false
                }
                let sum = bytes + intent.terms.bytes
                if sum > policy.bytesPerRequestMax { return false }  // mutant: request-bytes
            }
            intents.append((number, intent))
            bytes += intent.terms.bytes
            return true
        }
    }
}

extension Attempt {
    /// Returns the attempt after it failed, with another suspicion.
    func failed(_ reason: String, _ suspicion: Suspicion, _ now: Timestamp) -> Attempt {
        Attempt(
            count: count, startedAt: startedAt, failure: Failure(at: now, reason: reason),
            suspicion: suspicion)
    }

    /// Returns the attempt after a request of this number of intents failed (S3).
    func failed(
        _ failure: AuthorityFailure, among intents: Int, _ now: Timestamp, _ policy: SyncPolicy
    ) -> Attempt {
        let reason = failure.reason
        return failed(
            reason,
            failure.castsSuspicion
                ? suspicion.failed(among: intents, now, reason, policy) : suspicion,
            now)
    }

    func waiting(until next: Timestamp?) -> Attempt {
        Attempt(
            count: count, startedAt: startedAt, failure: failure, next: next,
            suspicion: suspicion)
    }

    /// The attempt without a suspicion or a wait: the app trusts the intent again.
    package var released: Attempt {
        Attempt(count: count, startedAt: startedAt, failure: failure)
    }
}

extension Attempt? {
    /// Returns the attempt that begins after this attempt; nil stands for no attempt.
    func begun(at now: Timestamp) -> Attempt {
        Attempt(
            count: (self?.count ?? 0) + 1, startedAt: now, failure: self?.failure,
            suspicion: self?.suspicion ?? .none)
    }
}
