/// The confirmed events that the projections of a store could not apply (F9), in groups for a person.
///
/// ```swift
/// let faults = store.faultSummary
/// if faults.unseenCount > 0 { warn("\(faults.unseenCount) changes of others cannot be shown") }
/// for group in faults.groups { list(group.reason, group.count) }
/// try await store.markSeen(faults)
/// ```
///
/// An old app beside a newer server has thousands of faults for a few reasons. An event that several
/// projections refuse for the same reason counts once. `faults` of the store and of each projection has
/// the events one by one.
public struct FaultSummary: Hashable, Sendable {
    /// The events that were refused for one reason.
    public struct Group: Hashable, Sendable {
        /// The error of `apply` or of the codec; see ``Fault/reason``.
        public let reason: String
        /// Whether this code could not read the events. An update of the app may read them (E4).
        public let isUnreadable: Bool
        /// The number of events.
        public let count: Int
        /// The number of events that were not marked as seen.
        public let unseenCount: Int
        /// The entry that confirmed the first of them.
        public let first: LogSequence
        /// The entry that confirmed the last of them.
        public let last: LogSequence
    }

    /// At most 1,000 groups, the one with the newest event first.
    public let groups: [Group]
    /// The sum of the counts of all groups, also of those that are left out.
    public let count: Int
    /// How many of these were not marked as seen.
    public let unseenCount: Int
    /// The number of groups that are left out.
    public let leftOutCount: Int
    /// The last entry that it covers.
    let sequence: LogSequence

    /// - Parameter faults: those of each projection.
    package init(_ faults: [[Fault]], seen: SeenFaults?, at sequence: LogSequence) {
        var counts: [Fault: Int] = [:]
        for faults in faults {
            var own: [Fault: Int] = [:]
            for fault in faults { own[fault, default: 0] += 1 }
            counts.merge(own) { max($0, $1) }
        }
        var groups: [String: Counts] = [:]
        for (fault, count) in counts {
            groups[fault.reason, default: Counts(first: fault.sequence)]
                .add(fault, count, isSeen: seen?.covers(fault) ?? false)
        }
        let all = groups.map { $1.group($0) }.sorted { ($1.last, $0.reason) < ($0.last, $1.reason) }
        self.groups = Array(all.prefix(Limits.faultGroupsMax))
        count = all.reduce(0) { $0 + $1.count }
        unseenCount = all.reduce(0) { $0 + $1.unseenCount }
        leftOutCount = all.count - self.groups.count
        self.sequence = sequence
    }

    private struct Counts {
        var count = 0
        var unseenCount = 0
        var first: LogSequence
        var last: LogSequence = 0
        var isUnreadable = false

        init(first: LogSequence) { self.first = first }

        mutating func add(_ fault: Fault, _ count: Int, isSeen: Bool) {
            self.count += count
            if !isSeen { unseenCount += count }
            first = min(first, fault.sequence)
            last = max(last, fault.sequence)
            isUnreadable = fault.isUnreadable
        }

        func group(_ reason: String) -> Group {
            Group(
                reason: reason, isUnreadable: isUnreadable, count: count,
                unseenCount: unseenCount, first: first, last: last)
        }
    }
}

extension Store {
    /// The faults of all projections of the store, in groups.
    ///
    /// - Complexity: O(n) in the faults. Nothing is read from the disk.
    public var faultSummary: FaultSummary { core.published.faultSummary }

    /// Marks the faults of a summary as seen, so that a screen can stop showing them. The log keeps
    /// the mark. Faults that came since the summary was made stay unseen. So do faults of earlier
    /// entries for another reason, which newer code of the app may add, unless the summary leaves out
    /// groups.
    ///
    /// - Throws: the errors of ``record(_:force:confirmOnly:once:replacing:held:info:)`` that come from the log.
    /// - Complexity: one write.
    public nonisolated(nonsending) func markSeen(
        _ summary: FaultSummary
    ) async throws(LogError) {
        let seen = SeenFaults(summary, upTo: core.published.sequence)
        _ = try await core.runner.result(ofOwn: .noteSeenFaults(seen), bytes: seen.encoded.count)
    }
}

extension SeenFaults {
    fileprivate func covers(_ fault: Fault) -> Bool {
        guard fault.sequence <= through else { return false }
        return reasons?.contains(Self.hash(of: fault.reason)) ?? true  // mutant: seen-reason
    }

    private static func hash(of reason: String) -> UInt64 {
        Checksum.of(Array(reason.utf8).span.bytes, seed: 0)
    }

    fileprivate init(_ summary: FaultSummary, upTo last: LogSequence) {
        self.init(
            through: min(summary.sequence, last),
            reasons: summary.leftOutCount > 0
                ? nil : Set(summary.groups.map { SeenFaults.hash(of: $0.reason) }))
    }
}

extension PublishedState {
    package var faultCount: Int {
        views.reduce(0) { $0 + $1.faults.count } + rows.reduce(0) { $0 + $1.faults.count }
    }

    package var faultSummary: FaultSummary {
        FaultSummary(
            views.map(\.faults) + rows.map(\.faults), seen: facts.seenFaults, at: sequence)
    }
}
