import Foldback

/// The numbers of a log's pending intents, where each answer settles the oldest or the newest.
///
/// They are counted, not read. Reading 100,000 pending intents before an answer would evict from the
/// processor's caches what the answer then needs, and let the writer's thread sleep for long.
struct PendingNumbers: Sendable {
    private var first: UInt64

    /// - Parameter first: the number of the first intent that is recorded.
    init(from first: IntentNumber) { self.first = first.value }

    /// Returns the oldest pending intents, which are then settled.
    mutating func takeOldest(_ count: Int) -> [IntentNumber] {
        defer { first += UInt64(count) }
        return (first..<first + UInt64(count)).map { IntentNumber($0) }
    }

    /// Returns the intents that were recorded last.
    static func newest(_ count: Int, before next: IntentNumber) -> [IntentNumber] {
        (next.value - UInt64(count)..<next.value).map { IntentNumber($0) }
    }
}
