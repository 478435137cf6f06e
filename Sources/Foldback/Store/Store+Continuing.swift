/// The steps that continue a superseded log on a new log (N6).
///
/// ```
///  old log ── unsettled intents ──▶ new log ◀── events ── the present authority
///     └──────── wiped ◀── names exchanged ──┘
/// ```
///
/// FoldbackSync fetches the events, and calls these steps in order.
extension Store {
    /// Records the unsettled intents of a superseded log, except those that an event in this log
    /// names: the present authority has them.
    ///
    /// Each is recorded with its old id as once key in place of its own key, its event byte for byte,
    /// `info`, and whether it is confirm-only, even if a projection throws (F9). An intent that an
    /// interrupted call recorded here is not recorded again. If it does not belong here any more, it
    /// is withdrawn.
    ///
    /// Call it after everything was fetched, and before an outbox runs on this log.
    ///
    /// - Returns: the unsettled intents of `old`. All of them are safe here or at the authority, once
    ///   this log is flushed.
    /// - Throws: as ``record(_:force:confirmOnly:once:info:)``. Call it again to continue.
    /// - Complexity: reads this log once. One write for each intent, many in one commit.
    package func carry(from old: Store<P>) async throws(CommandError) -> Set<IntentID> {
        let unsettled = old.core.published.overlay.values.map(\.recorded)
        let names = unsettled.map { CarriedIntent($0) }
        let known = try CommandError.converting { () throws(LogError) in
            try confirmedOrigins(among: Set(names.flatMap(\.ids)))
        }
        let missing = names.filter { known.isDisjoint(with: $0.ids) }  // mutant: carried-known
        let keys = Set(missing.map(\.once))
        for intent in core.published.overlay.values {
            if let key = intent.recorded.once, keys.contains(key) { continue }
            try await withdraw(intent.recorded.number)
        }
        let works = missing.map { carried in
            let intent = carried.intent
            let proposal = Proposal(
                payload: intent.payload, isConfirmOnly: intent.isConfirmOnly, once: carried.once,
                info: intent.info)
            return (
                work: Request.Work.command(.record(proposal), isForced: true),
                bytes: intent.payload.bytes.count
            )
        }
        let (requests, failure) = await core.runner.submit(contentsOf: works)
        for request in requests { _ = try await request.outcome() }
        if let failure { throw failure }
        return Set(unsettled.map(\.id))
    }

    /// Whether this log has all confirmed events of another log, byte for byte, in the same
    /// positions, and of the same lineage.
    ///
    /// - Complexity: reads both logs once.
    package func hasConfirmedEvents(of other: Store<P>) throws(LogError) -> Bool {
        guard syncPoint.lineage == other.syncPoint.lineage,
            syncPoint.through >= other.syncPoint.through
        else { return false }
        var mine = ConfirmedEvents(of: core)
        var theirs = ConfirmedEvents(of: other.core)
        while let event = try theirs.next() {
            guard let found = try mine.next(), found.isSame(as: event) else { return false }
        }
        return true
    }

    /// Returns those of the intents that a confirmed event in this log names as origin.
    private func confirmedOrigins(
        among ids: Set<IntentID>
    ) throws(LogError) -> Set<IntentID> {
        var found: Set<IntentID> = []
        var events = ConfirmedEvents(of: core)
        while let event = try events.next() {
            if let origin = event.origin, ids.contains(origin) { found.insert(origin) }
        }
        return found
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

/// An intent of a superseded log, with all ids under which an authority may have it.
private struct CarriedIntent {
    let intent: RecordedIntent
    /// The ids in the logs that this log continued, if there were any, and then its own id.
    let ids: [IntentID]
    /// These ids, one on each line. With the next authority, they show that it has the intent.
    let once: ExactString

    init(_ intent: RecordedIntent) {
        self.intent = intent
        // A retry is a new intent: an authority that has the rejected one does not have it.
        let earlier =
            intent.retries == nil ? intent.once.map { Self.ids(in: $0.string) } ?? [] : []
        ids = earlier + [intent.id]
        var texts = ids.map(\.description)[...]
        while texts.joined(separator: "\n").utf8.count > Limits.keyBytesMax { texts.removeFirst() }
        once = ExactString(texts.joined(separator: "\n"))
    }

    /// Returns the ids in the once key of an intent that was carried before; none in any other key.
    private static func ids(in key: String) -> [IntentID] {
        let texts = key.split(separator: "\n")
        let ids = texts.compactMap { text -> IntentID? in
            guard let dot = text.lastIndex(of: "."),
                let number = UInt64(text[text.index(after: dot)...]),
                let replica = ReplicaID(String(text[..<dot]))
            else { return nil }
            return IntentID(replica: replica, number: IntentNumber(number))
        }
        return ids.count == texts.count ? ids : []
    }
}
