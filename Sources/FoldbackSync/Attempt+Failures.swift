import Foldback

/// How an attempt continues.
extension Attempt {
    var isSuspicious: Bool { suspicion != .none }

    /// Returns the attempt after it failed.
    func failed(_ now: Timestamp, _ reason: String, _ suspicion: Suspicion) -> Attempt {
        Attempt(
            count: count, startedAt: startedAt, failure: Failure(at: now, reason: reason),
            suspicion: suspicion)
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

extension Attempt.Suspicion {
    /// Returns the suspicion after a request with the intent reached the authority and failed there
    /// (S3).
    ///
    /// - Parameter intents: the number of intents in the request.
    func failed(
        among intents: Int, _ now: Timestamp, _ reason: String, _ policy: OutboxPolicy
    ) -> Self {
        guard intents > 1 else {
            let failures = intentsMax == 1 ? failures + 1 : 1
            let isNew = quarantine == nil && failures >= policy.quarantineAfter
            return Self(
                failures: failures, intentsMax: 1,
                quarantine: isNew ? Attempt.Quarantine(since: now, reason: reason) : quarantine)
        }
        guard failures + 1 >= OutboxPolicy.halveAfter else {  // mutant: halving
            return Self(failures: failures + 1, intentsMax: intentsMax, quarantine: nil)
        }
        return Self(failures: 0, intentsMax: intents / 2, quarantine: nil)
    }
}

extension AuthorityFailure {
    /// Whether the request reached the authority and failed there, so that one of its intents may
    /// be the cause (S3).
    var accusesIntents: Bool {
        switch self {
        case .failed, .invalidAnswer: true
        case .unreachable, .unavailable, .unauthenticated, .superseded: false
        }
    }
}
