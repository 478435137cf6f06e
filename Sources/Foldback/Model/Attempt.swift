/// What is known of sending an intent to the authority: kept beside the log, for no fold needs it (F1).
public struct Attempt: Hashable, Sendable {
    /// How often sending was begun, from 1 up. Counted before anything leaves, so an attempt that never
    /// came so far is counted as well.
    public let count: Int
    /// When the last one was begun.
    public let startedAt: Timestamp
    /// Why the last one that came to an end brought no answer; nil while none has.
    public let failure: Failure?
    /// Not to be tried again before; nil: as soon as it can be.
    public let next: Timestamp?

    /// An attempt that came to nothing.
    public struct Failure: Hashable, Sendable {
        public let at: Timestamp
        /// At most 1,024 bytes; what is longer is cut.
        public let reason: String

        public init(at time: Timestamp, reason: String) {
            at = time
            self.reason = reason.cut(toBytes: Limits.reasonBytesMax)
        }
    }

    public init(count: Int, startedAt: Timestamp, failure: Failure? = nil, next: Timestamp? = nil) {
        precondition(count >= 1, "an attempt that was begun \(count) times")
        self.count = count
        self.startedAt = startedAt
        self.failure = failure
        self.next = next
    }
}

/// Attempts by the pending intents that they are for.
package typealias Attempts = NumberMap<IntentNumber, Attempt>

extension String {
    /// The longest beginning of whole scalars that has at most so many bytes of UTF-8.
    package func cut(toBytes bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        var end = utf8.index(startIndex, offsetBy: bytesMax)
        while end.samePosition(in: unicodeScalars) == nil { utf8.formIndex(before: &end) }
        return String(self[..<end])
    }
}
