import Foldback

/// The search for an intent that makes the authority fail (S3), as a pure value: which waiting
/// intents are sent apart from others, and how long their requests pause.
///
/// A request that reaches the authority and fails there may be the fault of one of its intents. What
/// is known of an intent is kept with its attempt, so the search goes on after a restart:
///
/// | a request fails at the authority | its intents are then |
/// |---|---|
/// | with several intents, for the first or second time in a row | what they were |
/// | with several intents, for the third time | suspects: sent in requests of half its size |
/// | with one intent | a suspect that is sent alone |
/// | with one intent, `policy.quarantineAfter` times in a row | quarantined: sent alone, and rarely |
///
/// The suspects of one failed request are sent in order of number, the lower half first:
///
/// ```
///  1 2 3 4   fails three times
///  1 2       answered
///      3 4   fails three times
///      3     answered
///        4   fails until it is quarantined
/// ```
///
/// Three waits hold a suspect up: the pause of the link, the pause of the search, and the intent's
/// own delay. The first is for all intents. The second bounds how often a server that fails
/// everything is asked. Because of the third, an answer to other intents does not repeat a failure
/// at once.
struct SuspectSearch: Sendable {
    /// The waiting intents that are suspects or quarantined.
    private(set) var waiting: Set<IntentNumber> = []
    /// No request of suspects begins before the end of this pause.
    var pause = Pause()
    /// How often requests of suspects were halved since the last answer.
    private var halvings = 0

    /// An intent waits with this standing, or waits no longer.
    mutating func note(_ number: IntentNumber, _ standing: Standing?) {
        if let standing, standing != .normal {
            waiting.insert(number)
        } else {
            waiting.remove(number)
        }
    }

    /// A request had an answer, so the authority works.
    mutating func answered() {
        pause.end()
        halvings = 0
    }

    /// A request of suspects failed.
    ///
    /// - Parameter isSmaller: whether its intents are sent in smaller requests from now on. These are
    ///   tried soon. If the server fails everything, that ends with the first intent that is left
    ///   alone.
    mutating func failed(
        isSmaller: Bool, _ now: Timestamp, _ jitter: Double, _ policy: SyncPolicy
    ) {
        // After so many halvings, one intent of a full request is left.
        let halvingsMax = Int.bitWidth - (policy.intentsPerRequestMax - 1).leadingZeroBitCount
        if isSmaller, halvings < halvingsMax {
            halvings += 1
            pause.end()
        }
        pause.begin(nil, now, jitter, policy)
    }
}

/// How an outbox sends an intent (S3).
enum Standing: Hashable, Sendable {
    /// In full requests.
    case normal
    /// In requests of at most `intentsMax` intents, which have the same standing.
    case suspect(intentsMax: Int)
    /// Alone, after each `policy.delayMax`.
    case quarantined

    /// The largest number of intents in a request; nil for the policy's limit.
    var intentsMax: Int? {
        switch self {
        case .normal: nil
        case .suspect(let intentsMax): intentsMax
        case .quarantined: 1
        }
    }
}

extension Attempt {
    var standing: Standing {
        if quarantine != nil { return .quarantined }
        return suspicion.intentsMax.map { .suspect(intentsMax: $0) } ?? .normal
    }
}

extension Attempt.Suspicion {
    /// The number of failures in a row after which a request of several intents is halved.
    private static let halveAfter = 3

    /// Returns the suspicion after a request with the intent reached the authority and failed there.
    ///
    /// - Parameter intents: the number of intents in the request.
    func failed(
        among intents: Int, _ now: Timestamp, _ reason: String, _ policy: SyncPolicy
    ) -> Self {
        guard intents > 1 else {
            let failures = intentsMax == 1 ? failures + 1 : 1
            let isNew = quarantine == nil && failures >= policy.quarantineAfter
            return Self(
                failures: failures, intentsMax: 1,
                quarantine: isNew ? Attempt.Quarantine(since: now, reason: reason) : quarantine)
        }
        guard failures + 1 >= Self.halveAfter else {  // mutant: halving
            return Self(failures: failures + 1, intentsMax: intentsMax, quarantine: nil)
        }
        return Self(failures: 0, intentsMax: intents / 2, quarantine: nil)
    }
}

extension AuthorityFailure {
    /// Whether the request reached the authority and failed there, so that one of its intents may
    /// be the cause (S3).
    var castsSuspicion: Bool {
        switch self {
        case .failed, .invalidAnswer: true
        case .unreachable, .unavailable, .unauthenticated, .superseded: false
        }
    }
}
