/// The steps that continue a superseded log on a new log (N6).
///
/// ```
///  old log ── the user's work ──▶ new log ◀── events ── the present authority
///     └───────── kept ◀── names exchanged ──┘
/// ```
///
/// FoldbackSync fetches the events, and calls these steps in order.
extension Store {
    /// Records a superseded log's work in this log, except what this log or the authority has.
    ///
    /// The authority has an intent that an event in this log names. This log has an intent if one of
    /// its own intents has the old id in its once key, also a settled intent, so calling this again
    /// doubles nothing. Each intent is recorded with its old id as once key in place of its own key,
    /// its event byte for byte, `info`, and whether it is confirm-only, even if a projection throws
    /// (F9). A rejected intent comes in one commit with its rejection, so no outbox sends it.
    ///
    /// What an earlier call recorded here, and what does not belong here any more, is withdrawn or
    /// dismissed. In a log that is being filled, this is also what the old log has settled
    /// meanwhile. In a log in use, it is only what no outbox has sent and the authority has, and
    /// rejections that the user has dismissed in the old log.
    ///
    /// Call it after everything was fetched.
    ///
    /// - Parameters:
    ///   - isFilling: whether this log is still beside the superseded log. No outbox runs on it
    ///     then, and only these calls record in it.
    /// - Returns: the counts, without a kept log.
    /// - Throws: as ``record(_:force:confirmOnly:once:replacing:held:info:)``. Call it again to continue.
    /// - Complexity: reads this log once. One write for each intent, many in one commit.
    package func bring(
        _ choice: WorkToBring, of work: SupersededWork, from old: Store<P>, isFilling: Bool
    ) async throws(CommandError) -> BroughtWork {
        let plan = try CommandError.converting { () throws(LogError) in
            BringingPlan(
                choice, of: work, known: try KnownWork(of: work, in: core), isFilling: isFilling)
        }
        // The newest first, because what undoes an intent lapses with it (F21).
        for (number, command) in plan.corrections.sorted(by: { $0.number > $1.number }) {
            do throws(CommandError) {
                _ = try await submit(.change(number, command), bytes: 0).outcome()
            } catch {
                // In a log in use, the outbox or the user may have been faster.
                switch error {
                case .mayHaveLeft, .notPending, .notRejected:
                    if isFilling { throw error }
                default: throw error
                }
            }
        }
        let works = try CommandError.converting { () throws(LogError) in
            try work.requests(
                of: old, rejected: plan.rejected, confirmed: plan.confirmed,
                unsettled: plan.unsettled)
        }
        let (requests, failure) = await core.runner.submit(contentsOf: works)
        for request in requests { _ = try await request.outcome() }
        if let failure { throw failure }
        return plan.counts
    }

    /// Notes that this log continues a superseded log, and the logs which that log continues. So
    /// their intents stay the user's when the present authority is superseded, too.
    ///
    /// Call it before this log takes the place of the superseded log. Repeating it writes nothing.
    ///
    /// - Throws: the errors of writing and of reading the log.
    package func noteContinuing(_ work: SupersededWork) async throws(LogError) {
        let known = try core.storage.continuedIntents()
        var continued = known
        continued.add(work.allIntents)
        guard continued != known else { return }
        let bytes = continued.encoded.count
        _ = try await core.runner.result(ofOwn: .noteContinued(continued), bytes: bytes)
    }

    /// Whether this log has all confirmed events of another log, byte for byte, in the same
    /// positions, and of the same lineage.
    ///
    /// - Complexity: reads both logs once.
    package func hasConfirmedEvents(of other: Store<P>) throws(LogError) -> Bool {
        // A compacted log lacks the events that would have to be compared.
        guard core.storage.base == nil, other.core.storage.base == nil,
            syncPoint.lineage == other.syncPoint.lineage,
            syncPoint.through >= other.syncPoint.through
        else { return false }
        var mine = ConfirmedEvents(of: core)
        var theirs = ConfirmedEvents(of: other.core)
        while let event = try theirs.next() {
            guard let found = try mine.next(), found.isSame(as: event) else { return false }
        }
        return true
    }

    /// - Throws: `.closed`, `.usedAfterFork`.
    package func requireOpen() throws(LogError) { try core.storage.requireUsable() }

    /// Whether the log is in memory, so that nothing is at its path.
    package var isInMemory: Bool { core.storage is MemoryLog }
}

/// Reads the confirmed events of a log in order, up to its end when reading began.
private struct ConfirmedEvents {
    private let core: StoreCore
    private let end: LogSequence
    private var sequence: LogSequence = 1
    private var events: ArraySlice<Confirmed> = []

    init(of core: StoreCore) {
        self.core = core
        end = core.published.sequence
    }

    mutating func next() throws(LogError) -> Confirmed? {
        while events.isEmpty {
            guard sequence <= end else { return nil }
            let records = try core.records(from: sequence, upTo: end)
            for case .confirmed(let batch) in records.map(\.entry) { events += batch.events }
            sequence = records.last?.stamp.sequence.next ?? end.next
        }
        return events.popFirst()
    }
}

extension Confirmed {
    fileprivate func isSame(as other: Confirmed) -> Bool {
        position == other.position && origin == other.origin
            && payload.format == other.payload.format && payload.bytes == other.payload.bytes
    }
}
