/// What a new log has of a superseded log's work, and what the present authority has of it (N6).
struct KnownWork {
    /// An intent of the new log that is also one of the superseded log: its once key has the ids.
    struct Carrier {
        let number: IntentNumber
        let ids: [IntentID]
        let state: IntentState
        /// Whether its rejection is listed.
        let isListed: Bool
        /// Whether its sending has begun.
        let mayHaveLeft: Bool
        /// Whether it is a draft that is held.
        let isHeld: Bool
    }

    /// What the new log knows of the logs that it continues.
    private let continued: ContinuedIntents
    /// The ids that a confirmed event in the new log names.
    private(set) var origins: Set<IntentID> = []
    private(set) var carriers: [Carrier] = []
    /// The places in `carriers`, by each of their ids.
    private var places: [IntentID: [Int]] = [:]

    /// - Complexity: reads the new log once, without decoding events.
    init(of work: SupersededWork, in core: StoreCore) throws(LogError) {
        let published = core.published
        continued = try core.storage.continuedIntents()
        var wanted: Set<IntentID> = []
        for name in work.unsettled + work.confirmed + work.rejected {
            wanted.formUnion(continued.allIDs(of: name.ids))
        }
        var found: [(number: IntentNumber, ids: [IntentID])] = []
        func take(_ entry: Entry) {
            switch entry {
            case .confirmed(let batch):
                origins.formUnion(batch.events.compactMap(\.origin).filter(wanted.contains))
            case .intent(let recorded):
                let ids = recorded.once.map { CarriedName.ids(in: $0.string) } ?? []
                let isKnown = ids.last.map(work.has) ?? false || !wanted.isDisjoint(with: ids)
                if isKnown {
                    found.append((recorded.number, ids))
                } else if wanted.contains(recorded.id) {
                    // The other log is a copy of this log's work: a log that was to continue it.
                    found.append((recorded.number, [recorded.id]))
                }
            case .acknowledged, .changed: break
            }
        }
        let log = core.storage
        // A compaction keeps the intents that were brought.
        try log.scan(.kept) { (sequence: LogSequence, bytes) throws(LogError) in
            take(try log.entry(bytes, at: sequence, codec: RawCodec()))
        }
        try log.scanEntries(from: log.baseSequence.next, upTo: published.sequence) { entry, _ in
            take(entry)
        }
        for (number, ids) in found {
            let isListed = published.rejections[number] != nil
            let state: IntentState =
                if let intent = published.overlay[number] {
                    intent.state
                } else if isListed { .rejected } else { try core.status(of: number).state }
            for id in ids { places[id, default: []].append(carriers.count) }
            carriers.append(
                Carrier(
                    number: number, ids: ids, state: state, isListed: isListed,
                    mayHaveLeft: published.facts.mayHaveLeft(number),
                    isHeld: published.drafts[number] == .held))
        }
    }

    /// Returns whether the authority has events of the intent.
    func isAtAuthority(_ name: CarriedName) -> Bool {
        !origins.isDisjoint(with: continued.allIDs(of: name.ids))
    }

    /// The intents of the new log that are the same intent as this one.
    func carriers(of name: CarriedName) -> [Carrier] {
        Set(continued.allIDs(of: name.ids).flatMap { places[$0] ?? [] })  // mutant: settled-carrier
            .sorted().map { carriers[$0] }
    }

    /// Returns whether the authority has the intent under the id that it has in the new log.
    func isConfirmedHere(_ name: CarriedName) -> Bool {
        carriers(of: name).contains { $0.state == .confirmed || $0.state == .accepted }
    }
}

/// What is recorded and corrected in a new log to bring a superseded log's work: a pure decision.
struct BringingPlan {
    typealias Correction = (number: IntentNumber, command: IntentCommand)

    /// The withdrawals and dismissals of what does not belong in the new log any more.
    let corrections: [Correction]
    /// The intents to record, of each kind in their order.
    let rejected: [CarriedName]
    let confirmed: [CarriedName]
    let unsettled: [CarriedName]
    let counts: BroughtWork

    /// - Parameter isFilling: whether the new log is still beside the superseded log.
    init(
        _ choice: WorkToBring, of work: SupersededWork, known: KnownWork, isFilling: Bool
    ) {
        let lacking = work.confirmed.filter { !known.isAtAuthority($0) }
        var pending = work.unsettled.filter { !known.isAtAuthority($0) }  // mutant: carried-known
        let listed = work.rejected.filter { !known.isAtAuthority($0) }
        var again = choice == .pendingAndConfirmed ? lacking.filter(work.isWhole) : []
        let kept = Set(
            work.withoutVainUndoing(again + pending, unless: known.isAtAuthority).map(\.id))
        again.removeAll { !kept.contains($0.id) }
        pending.removeAll { !kept.contains($0.id) }
        var corrections =
            isFilling
            ? Self.corrections(
                of: known, pending: Set((again + pending).map(\.id)),
                rejected: Set(listed.map(\.id)), held: work.heldIDs)
            : Self.corrections(of: known, after: work)

        var corrected = Set(corrections.map(\.number))
        func isHere(_ name: CarriedName) -> Bool {
            known.carriers(of: name).contains { carrier in
                guard isFilling else { return true }
                // Only the calls before have settled anything here, because it did not belong.
                return !corrected.contains(carrier.number)
                    && (carrier.isListed || carrier.state == .pending)
            }
        }
        rejected = listed.filter { !isHere($0) }
        confirmed = again.filter { !isHere($0) }
        if isFilling, !confirmed.isEmpty {
            // A call that brought the pending intents alone was cut off. They come last.
            for carrier in pending.flatMap({ known.carriers(of: $0) })
            where carrier.state == .pending && corrected.insert(carrier.number).inserted {
                corrections.append((carrier.number, .withdraw))
            }
        }
        unsettled = pending.filter { !isHere($0) }
        self.corrections = corrections
        counts = BroughtWork(
            pending: (isFilling ? pending : unsettled).count,
            confirmed: (isFilling ? again : confirmed).count,
            rejections: (isFilling ? listed : rejected).count,
            lacking: lacking.count { !known.isConfirmedHere($0) },
            unknown: work.unnamedCount, keptLog: nil)
    }

    /// Returns what a log that is being filled has, and the superseded log has no more.
    private static func corrections(
        of known: KnownWork, pending: Set<IntentID>, rejected: Set<IntentID>, held: Set<IntentID>
    ) -> [Correction] {
        known.carriers.compactMap { carrier in
            guard let id = carrier.ids.last else { return nil }
            if carrier.state == .pending, !pending.contains(id) {
                return (carrier.number, .withdraw)
            }
            // The user has released it in the old log meanwhile.
            if carrier.isHeld, !held.contains(id) {
                return (carrier.number, .release)  // mutant: brought-release
            }
            let isOver = carrier.isListed && !rejected.contains(id)
            return isOver ? (carrier.number, .dismiss) : nil
        }
    }

    /// Returns what nobody needs in a log in use. Its user decides on everything else.
    private static func corrections(
        of known: KnownWork, after work: SupersededWork
    ) -> [Correction] {
        known.carriers.compactMap { carrier in
            guard let id = carrier.ids.last else { return nil }
            let isAtAuthority = !known.origins.isDisjoint(with: carrier.ids)
            if carrier.state == .pending, !carrier.mayHaveLeft, isAtAuthority {
                return (carrier.number, .withdraw)
            }
            let isOver = carrier.isListed && work.isDismissed(id)
            return isOver ? (carrier.number, .dismiss) : nil
        }
    }
}
