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

    public init(count: Int, startedAt: Timestamp, failure: Failure? = nil, next: Timestamp? = nil) {
        precondition(count >= 1, "an attempt's count is from 1 up, not \(count)")
        self.count = count
        self.startedAt = startedAt
        self.failure = failure
        self.next = next
    }
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
