/// The attempts to send one intent to the authority. They are kept beside the log because no fold
/// needs them (F1).
public struct Attempt: Hashable, Sendable {
    /// The number of attempts that were begun, from 1 up. An attempt is counted before anything
    /// leaves the device, so the count includes attempts that sent nothing.
    public let count: Int
    /// The time when the last attempt was begun.
    public let startedAt: Timestamp
    /// The failure of the last attempt that ended; nil while none has ended.
    public let failure: Failure?
    /// The earliest time for the next attempt; nil for as soon as possible.
    public let next: Timestamp?
    /// The failed requests that the intent was part of, if they may be its fault (S3).
    public let suspicion: Suspicion

    /// The failure of an attempt that ended without an answer.
    public struct Failure: Hashable, Sendable {
        public let at: Timestamp
        /// The reason, cut to at most 1,024 bytes.
        public let reason: String

        public init(at time: Timestamp, reason: String) {
            at = time
            self.reason = reason.cut(toBytes: Limits.reasonBytesMax)
        }
    }

    /// What the failed requests with an intent say about the intent itself (S3).
    ///
    /// Only requests count that reached the authority and failed there, because only they can fail
    /// due to an intent. The count is of requests in a row: the authority's verdict on the intent
    /// ends the suspicion.
    public struct Suspicion: Hashable, Sendable {
        /// The number of such requests in a row since ``intentsMax`` last changed.
        public let failures: Int
        /// The largest number of intents in a request with this intent; nil for the policy's limit.
        /// An outbox halves it after each third failure of a request of several intents. A failure of
        /// the intent alone makes it 1. At 1, the intent is sent alone.
        public let intentsMax: Int?
        /// Why the intent is quarantined; nil if it is not.
        public let quarantine: Quarantine?

        /// No suspicion.
        public static let none = Suspicion(failures: 0, intentsMax: nil, quarantine: nil)

        /// - Precondition: `failures` is from 0 up, and `intentsMax` from 1 up. It is 1 for a
        ///   quarantined intent.
        public init(failures: Int, intentsMax: Int?, quarantine: Quarantine?) {
            precondition(
                failures >= 0 && intentsMax ?? 1 >= 1,
                "a suspicion has \(failures) failures and at most \(intentsMax ?? 1) intents")
            precondition(
                quarantine == nil || intentsMax == 1, "a quarantined intent is sent alone")
            self.failures = failures
            self.intentsMax = intentsMax
            self.quarantine = quarantine
        }
    }

    /// The state of an intent that keeps failing when it is sent alone (S3).
    ///
    /// It is not a rejection: the intent stays pending and in the view, and it is tried again (A4).
    public struct Quarantine: Hashable, Sendable {
        public let since: Timestamp
        /// The reason of the failure that led to the quarantine, cut to at most 1,024 bytes.
        public let reason: String

        public init(since time: Timestamp, reason: String) {
            since = time
            self.reason = reason.cut(toBytes: Limits.reasonBytesMax)
        }
    }

    public init(
        count: Int, startedAt: Timestamp, failure: Failure? = nil, next: Timestamp? = nil,
        suspicion: Suspicion = .none
    ) {
        precondition(count >= 1, "an attempt's count is from 1 up, not \(count)")
        self.count = count
        self.startedAt = startedAt
        self.failure = failure
        self.next = next
        self.suspicion = suspicion
    }

    /// The number of requests in a row with this intent alone that reached the authority and failed
    /// there.
    public var failuresAlone: Int { suspicion.intentsMax == 1 ? suspicion.failures : 0 }

    /// Why the intent is quarantined; nil if it is not.
    public var quarantine: Quarantine? { suspicion.quarantine }
}

/// Attempts by the number of their pending intent.
package typealias Attempts = NumberMap<IntentNumber, Attempt>

extension String {
    /// Returns the longest prefix of whole Unicode scalars with at most `bytesMax` bytes of UTF-8.
    package func cut(toBytes bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(startIndex, offsetBy: bytesMax)
        while end.samePosition(in: unicodeScalars) == nil { utf8.formIndex(before: &end) }
        return String(self[..<end])
    }
}
