import Foldback

/// The limits of an outbox and a downlink: request sizes, parallel requests, and waits.
public struct SyncPolicy: Hashable, Sendable {
    /// The largest number of intents in a request; 1 or more.
    public let intentsPerRequestMax: Int
    /// The largest number of bytes in a request, as the log has its events; 1 or more (S2).
    ///
    /// A single larger intent is sent alone. What the authority's client adds to the events does
    /// not count, so leave room for it below the server's own limit.
    public let bytesPerRequestMax: Int
    /// The largest number of requests at once; 1 or more.
    ///
    /// With 1, the outbox keeps the order of numbers: it sends an intent only if all lower intents
    /// are answered or in the same request. A policy of ``concurrent(requestsMax:)`` never does.
    public let requestsMax: Int
    /// The upper bound of the first wait after a failure. The bound doubles with each further
    /// failure.
    public let backoffMin: Duration
    /// The upper bound of every wait that the outbox chooses itself.
    public let backoffMax: Duration
    /// The upper bound of every wait. It limits waits that the authority asks for, and waits that
    /// would be longer because the clock was set back.
    public let delayMax: Duration
    /// The time that ``Downlink/follow()`` lets the authority wait for new events before it answers
    /// (a long poll). An authority that does not wait is asked at this interval.
    public let waiting: Duration
    /// The number of failures in a row after which an intent that is sent alone is quarantined; 1
    /// or more (S3). Only requests count that reach the authority and fail there.
    public let quarantineAfter: Int

    /// Whether all attempts begin in order of number (A5).
    package private(set) var keepsOrder: Bool

    public init(
        intentsPerRequestMax: Int, requestsMax: Int, backoffMin: Duration, backoffMax: Duration,
        delayMax: Duration, waiting: Duration = .seconds(25), bytesPerRequestMax: Int = 1 << 20,
        quarantineAfter: Int = 8
    ) {
        precondition(
            intentsPerRequestMax >= 1 && requestsMax >= 1,
            "both must be at least 1: \(intentsPerRequestMax) intents, \(requestsMax) requests")
        precondition(
            bytesPerRequestMax >= 1 && quarantineAfter >= 1,
            "both must be at least 1: \(bytesPerRequestMax) bytes, \(quarantineAfter) failures")
        precondition(
            .zero < backoffMin && backoffMin <= backoffMax && backoffMax <= delayMax,
            "waits must be positive and ascending: \(backoffMin), \(backoffMax), \(delayMax)")
        precondition(waiting > .zero, "the time of a long poll must be positive: \(waiting)")
        self.intentsPerRequestMax = intentsPerRequestMax
        self.requestsMax = requestsMax
        keepsOrder = requestsMax == 1
        self.backoffMin = backoffMin
        self.backoffMax = backoffMax
        self.delayMax = delayMax
        self.waiting = waiting
        self.bytesPerRequestMax = bytesPerRequestMax
        self.quarantineAfter = quarantineAfter
    }

    /// One request at a time, with up to 64 intents and 1 MiB. Waits are up to 1, 2, 4, … 60
    /// seconds, and up to one hour if the authority asks for it.
    ///
    /// The outbox keeps the order of numbers, also after failures and waits. The authority decides
    /// first on what the user did first. So an intent never arrives before an intent that it builds
    /// on. The price: if the authority postpones an intent, or fails on it again and again, all
    /// later intents wait too. ``OutboxStatus/blocking`` names it if it is quarantined. An intent
    /// that always fails is found among 64 within four minutes.
    public static let ordered = SyncPolicy(
        intentsPerRequestMax: 64, requestsMax: 1, backoffMin: .seconds(1),
        backoffMax: .seconds(60), delayMax: .seconds(3_600))

    /// Returns the policy ``ordered`` with several requests at once, for intents that do not build
    /// on each other.
    ///
    /// First attempts begin in order of number. It guarantees nothing else about order. A
    /// postponed or quarantined intent does not delay other intents, except that with a single
    /// request at once, they wait for the end of each attempt.
    public static func concurrent(requestsMax: Int) -> SyncPolicy {
        var policy = SyncPolicy(
            intentsPerRequestMax: ordered.intentsPerRequestMax, requestsMax: requestsMax,
            backoffMin: ordered.backoffMin, backoffMax: ordered.backoffMax,
            delayMax: ordered.delayMax)
        policy.keepsOrder = false
        return policy
    }

    /// Returns the wait after consecutive failures: exponential backoff with full jitter.
    ///
    /// Jitter spreads the return of devices that lost a server at the same moment (M. Brooker,
    /// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    ///
    /// - Parameters:
    ///   - failures: the number of failures in a row, 1 or more.
    ///   - jitter: a random number from 0 to 1.
    package func backoff(after failures: Int, jitter: Double) -> Duration {
        precondition(
            failures >= 1 && (0...1).contains(jitter),
            "invalid backoff: \(failures) failures, jitter \(jitter)")
        var most = backoffMin
        var doublings = failures - 1
        while doublings > 0, most < backoffMax {
            most = most * 2
            doublings -= 1
        }
        return min(most, backoffMax) * jitter
    }
}

extension Timestamp {
    /// Returns this time plus `duration`, rounded up to milliseconds. Overflow returns the largest
    /// `Timestamp`.
    package func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000)
        let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (sum, overflow) = millisecondsSince1970.addingReportingOverflow(whole)
        let (end, isBeyond) = sum.addingReportingOverflow(rest)
        guard !isTooLarge, !overflow, !isBeyond else {
            return Timestamp(millisecondsSince1970: .max)
        }
        return Timestamp(millisecondsSince1970: end)
    }

    /// Returns the duration from `start` to this time; zero if `start` is later.
    package func duration(since start: Timestamp) -> Duration {
        let (milliseconds, isBeyond) = millisecondsSince1970.subtractingReportingOverflow(
            start.millisecondsSince1970)
        guard self > start else { return .zero }
        return .milliseconds(isBeyond ? .max : milliseconds)
    }
}
