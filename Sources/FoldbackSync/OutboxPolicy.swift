import Foldback

/// How an outbox sends, and how long it waits.
public struct OutboxPolicy: Hashable, Sendable {
    /// Intents in one request; 1 or more.
    public let intentsPerRequestMax: Int
    /// Requests on their way at once; 1 or more. With 1 the order of numbers is kept: no intent is sent
    /// before all lower ones are answered or in the same request.
    public let requestsMax: Int
    /// The most that the first wait after a failure lasts; the next ones up to twice, four times, … it.
    public let backoffMin: Duration
    /// The most that a wait lasts that the outbox chooses itself.
    public let backoffMax: Duration
    /// The most that any wait lasts: one that the authority asks for, and one that would be longer
    /// because the clock was set back.
    public let delayMax: Duration

    public init(
        intentsPerRequestMax: Int, requestsMax: Int, backoffMin: Duration, backoffMax: Duration,
        delayMax: Duration
    ) {
        precondition(
            intentsPerRequestMax >= 1 && requestsMax >= 1,
            "\(intentsPerRequestMax) intents in a request, \(requestsMax) requests")
        precondition(
            .zero < backoffMin && backoffMin <= backoffMax && backoffMax <= delayMax,
            "waits of \(backoffMin), \(backoffMax) and \(delayMax) should rise")
        self.intentsPerRequestMax = intentsPerRequestMax
        self.requestsMax = requestsMax
        self.backoffMin = backoffMin
        self.backoffMax = backoffMax
        self.delayMax = delayMax
    }

    /// One request at a time, of up to 64 intents; waits of up to 1, 2, 4, … 60 seconds, an hour where
    /// the authority asks for it.
    ///
    /// The order of numbers is kept, over failures and waits too: what the user did first, the authority
    /// decides on first, so an intent that builds on another never comes before it. The price is that an
    /// intent which the authority puts off holds up those behind it.
    public static let ordered = OutboxPolicy(
        intentsPerRequestMax: 64, requestsMax: 1, backoffMin: .seconds(1),
        backoffMax: .seconds(60), delayMax: .seconds(3_600))

    /// The same with several requests on their way, for intents that do not build on each other: first
    /// attempts begin in order of number, and nothing else is said of order. An intent that is put off
    /// holds up nobody.
    public static func concurrent(requestsMax: Int) -> OutboxPolicy {
        OutboxPolicy(
            intentsPerRequestMax: ordered.intentsPerRequestMax, requestsMax: requestsMax,
            backoffMin: ordered.backoffMin, backoffMax: ordered.backoffMax,
            delayMax: ordered.delayMax)
    }

    package var keepsOrder: Bool { requestsMax == 1 }

    /// How long to wait after so many failures in a row, 1 or more: exponential backoff with full
    /// jitter, so that devices which lost a server together do not come back together (M. Brooker,
    /// "Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    ///
    /// - Parameter jitter: chance, from 0 to 1.
    package func backoff(after failures: Int, jitter: Double) -> Duration {
        precondition(failures >= 1 && (0...1).contains(jitter), "\(failures), \(jitter)")
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
    /// So much later, rounded up to milliseconds; the last moment there is where that is none.
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

    /// From `start` to here; zero where it lies ahead.
    package func duration(since start: Timestamp) -> Duration {
        let (milliseconds, isBeyond) = millisecondsSince1970.subtractingReportingOverflow(
            start.millisecondsSince1970)
        guard self > start else { return .zero }
        return .milliseconds(isBeyond ? .max : milliseconds)
    }
}
