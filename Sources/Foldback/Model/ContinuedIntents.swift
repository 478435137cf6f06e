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
///
/// If log b recorded a.3 again as b.2, an authority that has b.2 has a.3. Log c has no entry that says
/// so, and a kept log a may still bring a.3 to it.
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
    /// The ids under which later logs recorded intents again, by the earlier ids.
    package private(set) var laterIDs: [IntentID: Set<IntentID>] = [:]

    package init() {}

    package init(_ spans: [Span]) {
        for span in spans { add(span) }
    }

    package func has(_ id: IntentID) -> Bool {
        spans.contains { $0.replica == id.replica && $0.first <= id.number && id.number < $0.next }
    }

    /// Returns these ids of one intent, and those that it got in later logs.
    package func allIDs(of ids: [IntentID]) -> Set<IntentID> {
        ids.reduce(into: Set(ids)) { $0.formUnion(laterIDs[$1] ?? []) }
    }

    /// Notes that a later log recorded an intent again. Does nothing if either log is not continued.
    package mutating func note(_ earlier: IntentID, againAs later: IntentID) {
        guard has(earlier), has(later) else { return }
        laterIDs[earlier, default: []].insert(later)
    }

    /// Adds what another log continues.
    package mutating func add(_ other: ContinuedIntents) {
        for span in other.spans { add(span) }
        for (earlier, later) in other.laterIDs {
            laterIDs[earlier, default: []].formUnion(later)
        }
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
