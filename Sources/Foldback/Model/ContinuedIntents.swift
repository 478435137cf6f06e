/// The intents of the logs that a log continues, directly or through another log (N6).
///
/// ```
///  log a:  a.1 … a.7  ──▶  log b:  b.1 … b.4  ──▶  log c
///                                                  a.1 … a.7, b.1 … b.4
/// ```
///
/// They are the user's, as the intents of the log itself are. An event that names one of them can be
/// lost later, when no entry of the log has the intent. A copied log has the id of another device's
/// log too (L11), so each id has the numbers that are the user's.
package struct ContinuedIntents: Hashable, Sendable {
    /// The intents of one replica id.
    package struct Span: Hashable, Sendable {
        package let replica: ReplicaID
        package let first: IntentNumber
        /// The number after the last intent.
        package let next: IntentNumber

        package init(replica: ReplicaID, first: IntentNumber, next: IntentNumber) {
            self.replica = replica
            self.first = first
            self.next = next
        }
    }

    /// Oldest first. Each replica id is in one span.
    package private(set) var spans: [Span] = []

    package init() {}

    package init(_ spans: [Span]) {
        for span in spans { add(span) }
    }

    package func has(_ id: IntentID) -> Bool {
        spans.contains { $0.replica == id.replica && $0.first <= id.number && id.number < $0.next }
    }

    /// Adds the intents of a later log, or more intents of the same log.
    package mutating func add(_ span: Span) {
        guard let index = spans.firstIndex(where: { $0.replica == span.replica }) else {
            spans.append(span)
            return
        }
        spans[index] = Span(
            replica: span.replica, first: min(spans[index].first, span.first),
            next: max(spans[index].next, span.next))
    }
}
