/// What the user of this replica did in a superseded log, as far as a new log needs it (N6).
///
/// It has names and no events: an event is read when it is recorded again. So its size grows with
/// the intents that events name.
package struct SupersededWork: Sendable {
    /// The first event that names an intent of this replica.
    private struct Naming {
        let position: Position
        let id: IntentID
        /// The entry with the event, and the event's place in it.
        let sequence: LogSequence
        let place: Int
    }

    /// The replica ids that the log has had.
    private let replicas: ReplicaTable
    /// The intents of the logs that the log itself continues.
    private let continued: ContinuedIntents
    /// The earlier ids of intents of these logs.
    private let continuedFrom: [IntentID: [IntentID]]
    /// The entry up to which the log was read.
    package private(set) var sequence: LogSequence = 0
    /// The first intent of each replica id, in order. A copied log goes on under another id (L11).
    private var firsts: [(number: IntentNumber, replica: ReplicaID)] = []
    private var nextNumber: IntentNumber = 1
    private var namings: [Naming] = []
    /// The places in `namings`, by the intents that the events name.
    private var named: [IntentID: Int] = [:]
    /// The intents of earlier logs that several events name.
    private var split: Set<IntentID> = []
    private var confirmedNumbers: Set<IntentNumber> = []
    private var dismissedNumbers: Set<IntentNumber> = []
    /// The earlier ids of intents that this log continued itself.
    private var earlier: [IntentNumber: [IntentID]] = [:]
    /// The last intent of this log that continues an intent of an earlier log.
    private var continuing: [IntentID: IntentNumber] = [:]
    private var withdrawnNumbers: Set<IntentNumber> = []
    private var overlay: [RecordedIntent] = []
    private var rejections: [(number: IntentNumber, sequence: LogSequence)] = []
    /// Whether any confirmed event names an intent.
    private var hasOrigins = false
    /// The intents that undo another one, with that one.
    private var undoing: [IntentID: CarriedName] = [:]
    /// The drafts that are held (F22).
    private var held: Set<IntentNumber> = []

    /// Reads the log of an open store.
    ///
    /// - Complexity: reads the log once, without decoding events.
    package init<P: EventFold>(of old: Store<P>) throws(LogError) {
        replicas = old.core.storage.header.replicas
        continued = try old.core.storage.continuedIntents()
        var continuedFrom: [IntentID: [IntentID]] = [:]
        for (earlier, later) in continued.laterIDs {
            for id in later { continuedFrom[id, default: []].append(earlier) }
        }
        self.continuedFrom = continuedFrom
        try readOn(in: old)
    }

    /// Reads what was appended since, also if the store is closed now.
    package mutating func readOn<P: EventFold>(in old: Store<P>) throws(LogError) {
        let published = old.core.published
        if published.sequence > sequence {
            try old.readingLog { log throws(LogError) in
                if let base = log.base, sequence < base.sequence {
                    try take(base, of: log)
                    sequence = base.sequence
                }
                try log.scanEntries(from: sequence.next, upTo: published.sequence) {
                    take($0, at: $1)
                }
            }
            sequence = published.sequence
        }
        overlay = published.overlay.values.map(\.recorded)
        held = Set(published.drafts.held)
        rejections = published.rejections.keys.compactMap { number in
            published.rejections[number].map { (number, $0) }
        }
    }

    /// Takes what a compacted log has of the entries that it lacks: its intents that were not confirmed.
    /// Of those that were, it has no event. They count as intents that no event names.
    private mutating func take(_ base: LogBase, of log: any LogStorage) throws(LogError) {
        firsts = base.replicas.map { first in (first.number, replicas.names[Int(first.place)]) }
        nextNumber = base.nextNumber
        try log.scan(.kept) { (sequence: LogSequence, bytes) throws(LogError) in
            let (firsts, nextNumber) = (firsts, nextNumber)
            take(try log.entry(bytes, at: sequence, codec: RawCodec()), at: sequence)
            (self.firsts, self.nextNumber) = (firsts, nextNumber)
        }
        try log.scanSettlements(before: base) { number, row in
            if row.settlement == .confirmed { confirmedNumbers.insert(number) }
            if row.settlement == .rejected(isDismissed: true) { dismissedNumbers.insert(number) }
        }
    }

    private mutating func take(_ entry: Entry, at sequence: LogSequence) {
        switch entry {
        case .intent(let recorded):
            if firsts.last?.replica != recorded.id.replica {
                firsts.append((recorded.number, recorded.id.replica))
            }
            nextNumber = recorded.number.next
            let ids = CarriedName.earlierIDs(of: recorded)
            if !ids.isEmpty { earlier[recorded.number] = ids }
            for id in ids { continuing[id] = recorded.number }
            if let old = recorded.retries { dismissedNumbers.insert(old) }
            // What was withdrawn and is redone was never sent: the new intent stands alone.
            if let undone = undone(by: recorded), !withdrawnNumbers.contains(undone.id.number) {
                undoing[recorded.id] = undone
            }
            if let old = recorded.terms.replaces { withdrawnNumbers.insert(old) }
        case .acknowledged(let answer):
            if answer.settles { confirmedNumbers.insert(answer.number) }
            withdrawnNumbers.remove(answer.number)
        case .changed(let number, .restored): withdrawnNumbers.remove(number)
        case .changed(let number, .dismissed): dismissedNumbers.insert(number)
        case .changed(let number, let change) where change.isWithdrawal:
            withdrawnNumbers.insert(number)
        case .changed: break
        case .confirmed(let batch):
            confirmedNumbers.formUnion(batch.settled)
            withdrawnNumbers.subtract(batch.settled)
            for (place, event) in batch.events.enumerated() {
                guard let id = event.origin else { continue }
                hasOrigins = true
                let isEarlier = continued.has(id)  // mutant: second-loss
                guard replicas.has(id.replica) || isEarlier else { continue }
                guard named[id] == nil else {
                    if isEarlier { split.insert(id) }
                    continue
                }
                named[id] = namings.count
                namings.append(
                    Naming(position: event.position, id: id, sequence: sequence, place: place))
            }
        }
    }

    // MARK: Its intents

    /// The unsettled intents, in their order.
    var unsettled: [CarriedName] { overlay.map { name(of: $0.id) } }

    /// The ids of the drafts that are held.
    var heldIDs: Set<IntentID> {
        Set(overlay.filter { held.contains($0.number) }.map(\.id))
    }

    /// The ids of the unsettled intents.
    package var unsettledIDs: Set<IntentID> { Set(overlay.map(\.id)) }

    /// The confirmed intents that a confirmed event names, in order of position: those of this log,
    /// and those of earlier logs that no intent of this log continues.
    var confirmed: [CarriedName] {
        var found: Set<IntentID> = []
        return namings.enumerated()
            .sorted { ($0.element.position, $0.offset) < ($1.element.position, $1.offset) }
            .compactMap { confirmedName(for: $0.element.id) }
            .filter { found.insert($0.id).inserted }
    }

    /// Returns the confirmed intent that an event with this origin shows; nil if there is none.
    private func confirmedName(for id: IntentID) -> CarriedName? {
        // An event that comes late can name an intent that stays rejected (F6).
        if has(id) { return confirmedNumbers.contains(id.number) ? name(of: id) : nil }
        guard continued.has(id) else { return nil }
        // The authority got the intent under its earlier id, too.
        if let number = continuing[id], let own = self.id(of: number) {
            if confirmedNumbers.contains(number) { return name(of: own) }
            if !withdrawnNumbers.contains(number) { return nil }
        }
        return CarriedName(id, earlier: continuedFrom[id] ?? [])
    }

    /// Whether one event of the log is all that the authority had of the intent. If not, an intent
    /// of an earlier log cannot be made from its event.
    func isWhole(_ name: CarriedName) -> Bool { !split.contains(name.id) }

    /// The intents of this log, and of the logs that it continues.
    var allIntents: ContinuedIntents {
        var all = continued
        for (index, first) in firsts.enumerated() {
            let next = index + 1 < firsts.count ? firsts[index + 1].number : nextNumber
            all.add(  // mutant: continued-ids
                ContinuedIntents.Span(replica: first.replica, first: first.number, next: next))
        }
        for (number, ids) in earlier {
            guard let own = id(of: number) else { continue }
            for id in ids { all.note(id, againAs: own) }  // mutant: continued-pairs
        }
        return all
    }

    /// Whether the log tells which of its confirmed intents an authority lacks.
    package var tellsOrigins: Bool { hasOrigins || unnamedCount == 0 }

    /// The intents whose rejections are listed, ascending.
    var rejected: [CarriedName] {
        rejections.compactMap { rejection in
            id(of: rejection.number).map { name(of: $0) }
        }
    }

    /// The number of intents that count as confirmed, and that no event names.
    var unnamedCount: Int {
        confirmedNumbers.count { number in
            id(of: number).map { name(of: $0).ids.allSatisfy { named[$0] == nil } } ?? true
        }
    }

    /// Returns whether the intent is one of this log.
    func has(_ id: IntentID) -> Bool { self.id(of: id.number) == id }

    /// Returns whether the user has dismissed the intent's rejection, or has retried the intent, and
    /// the intent is still rejected.
    func isDismissed(_ id: IntentID) -> Bool {
        has(id) && dismissedNumbers.contains(id.number) && !confirmedNumbers.contains(id.number)
            && !overlay.contains { $0.id == id }
    }

    private func id(of number: IntentNumber) -> IntentID? {
        guard 1 <= number, number < nextNumber else { return nil }
        return firsts.last { $0.number <= number }.map {
            IntentID(replica: $0.replica, number: number)
        }
    }

    private func name(of id: IntentID) -> CarriedName {
        CarriedName(id, earlier: earlier[id.number] ?? [])
    }

    /// Returns the intent that an intent of this log undoes; nil if none.
    private func undone(by intent: RecordedIntent) -> CarriedName? {
        intent.terms.undoes.flatMap { id(of: $0) }.map { name(of: $0) }
    }

    /// Returns the intent that an intent of this log undoes, if that one was not taken back before.
    package func undone(by id: IntentID) -> IntentID? { undoing[id]?.id }

    /// Returns the intents without those that undo an intent that the new log does not get and the
    /// authority does not have: nothing is left for them to undo (F21, N6).
    ///
    /// - Parameters:
    ///   - names: in the order in which they are recorded.
    ///   - isThere: whether the authority has an intent.
    func withoutVainUndoing(
        _ names: [CarriedName], unless isThere: (CarriedName) -> Bool
    ) -> [CarriedName] {
        var kept: Set<IntentID> = []
        return names.filter { name in
            if let undone = undoing[name.id], !kept.contains(undone.id), !isThere(undone) {
                return false  // mutant: vain-undoing
            }
            kept.insert(name.id)
            return true
        }
    }

    // MARK: Recording it again

    /// Returns the work that records intents of this log again, in this order: rejected intents,
    /// confirmed intents, unsettled intents.
    func requests<P: EventFold>(
        of old: Store<P>, rejected: [CarriedName], confirmed: [CarriedName],
        unsettled: [CarriedName]
    ) throws(LogError) -> [(work: Request.Work, bytes: Int)] {
        var works: [(work: Request.Work, bytes: Int)] = []
        let codec = old.core.codec
        var last: (group: IntentNumber, key: ExactString)?
        func add(_ name: CarriedName, _ intent: RecordedIntent, _ rejection: Rejection?) {
            let terms = intent.terms
            var links = IntentLinks(undoes: undone(by: intent).map(\.once))
            if let group = terms.group {
                let first = last?.group == group ? last?.key ?? name.once : name.once
                last = (group, first)
                links.group = first
            } else {
                last = nil
            }
            let proposal = Proposal(
                payload: intent.payload, isConfirmOnly: intent.isConfirmOnly, once: name.once,
                info: intent.info,
                terms: IntentTerms(
                    isHeld: held.contains(intent.number), replacingKey: terms.replacingKey,
                    inverse: terms.inverse),
                links: links)
            let bytes = intent.payload.bytes.count
            if let rejection {
                works.append(
                    (.recordRejected(proposal, rejection), bytes + rejection.message.utf8.count))
            } else {
                works.append((.command(.record(proposal), isForced: true), bytes))
            }
        }
        if !rejected.isEmpty || !confirmed.isEmpty {
            let answers = Dictionary(
                uniqueKeysWithValues: rejections.map { ($0.number, $0.sequence) })
            try old.readingLog { log throws(LogError) in
                for name in rejected {
                    guard let sequence = answers[name.id.number] else {
                        preconditionFailure("the rejection of \(name.id) is not listed")
                    }
                    add(
                        name, try log.settledIntent(name.id.number, codec: codec).recorded,
                        try log.rejection(of: name.id.number, at: sequence, codec: RawCodec()))
                }
                var entry = DecodedEntry(log: log, codec: codec)
                for name in confirmed {
                    if has(name.id) {
                        add(name, try log.settledIntent(name.id.number, codec: codec).recorded, nil)
                    } else {
                        let payload = try payload(of: name.id, in: &entry)
                        let proposal = Proposal(
                            payload: payload, isConfirmOnly: false, once: name.once, info: [:])
                        works.append(
                            (.command(.record(proposal), isForced: true), payload.bytes.count))
                    }
                }
            }
        }
        let intents = Dictionary(uniqueKeysWithValues: overlay.map { ($0.id, $0) })
        for name in unsettled {
            guard let intent = intents[name.id] else {
                preconditionFailure("\(name.id) is not in the overlay")
            }
            add(name, intent, nil)
        }
        return works
    }

    /// Returns the confirmed event that names an intent of an earlier log.
    private func payload(
        of id: IntentID, in entry: inout DecodedEntry
    ) throws(LogError) -> Payload {
        guard let index = named[id] else { preconditionFailure("no event names \(id)") }
        let naming = namings[index]
        let events = try entry.events(at: naming.sequence)
        guard events.indices.contains(naming.place), events[naming.place].origin == id else {
            throw .damaged(
                path: entry.log.path, sequence: naming.sequence,
                reason: "the entry should have the event of intent \(id)")
        }
        return events[naming.place].payload
    }
}

/// The batch that was decoded last. Intents are brought in order of position, so the next event is
/// usually in the same batch.
private struct DecodedEntry {
    let log: any LogStorage
    let codec: any PayloadCodec
    private var sequence: LogSequence = 0
    private var batch: [Confirmed] = []

    init(log: any LogStorage, codec: any PayloadCodec) {
        self.log = log
        self.codec = codec
    }

    /// Returns the events of the batch at a sequence; none if the entry is not a batch.
    mutating func events(at sequence: LogSequence) throws(LogError) -> [Confirmed] {
        if sequence != self.sequence {
            let record = try log.decodedRecords(from: sequence, countMax: 1, codec: codec).first
            batch = if case .confirmed(let found) = record?.entry { found.events } else { [] }
            self.sequence = sequence
        }
        return batch
    }
}

/// An intent of a superseded log, with all ids under which an authority may have it.
struct CarriedName {
    /// Its id in the superseded log.
    let id: IntentID
    /// The ids in the logs that this log continued, if there were any, and then its own id.
    let ids: [IntentID]

    init(_ id: IntentID, earlier: [IntentID]) {
        self.id = id
        ids = earlier + [id]
    }

    /// The ids, one on each line. With the next authority, they show that it has the intent.
    var once: ExactString {
        var texts = ids.map(\.description)[...]
        while texts.joined(separator: "\n").utf8.count > Limits.keyBytesMax { texts.removeFirst() }
        return ExactString(texts.joined(separator: "\n"))
    }

    /// Returns the ids that an intent had in earlier logs.
    static func earlierIDs(of intent: RecordedIntent) -> [IntentID] {
        // A retry is a new intent: an authority that has the rejected one does not have it.
        guard intent.retries == nil else { return [] }
        return intent.once.map { ids(in: $0.string) } ?? []
    }

    /// Returns the ids in the once key of an intent that was brought before; none in any other key.
    static func ids(in key: String) -> [IntentID] {
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

extension LogStorage {
    /// Calls `body` with each entry and its sequence, in order. Decodes no event.
    func scanEntries(
        from start: LogSequence, upTo end: LogSequence, _ body: (Entry, LogSequence) -> Void
    ) throws(LogError) {
        var next = start
        while next <= end {
            let records = try decodedRecords(
                from: next, countMax: Limits.readCountMax, codec: RawCodec())
            guard let last = records.last else { throw missing(next) }
            for record in records where record.stamp.sequence <= end {
                body(record.entry, record.stamp.sequence)
            }
            next = last.stamp.sequence.next
        }
    }
}

extension Store {
    /// Calls `body` with this log for reading, also if the store is closed.
    ///
    /// - Throws: `.closed` if another log is in its place; the errors of opening and of `body`.
    fileprivate func readingLog(
        _ body: (any LogStorage) throws(LogError) -> Void
    ) throws(LogError) {
        let storage = core.storage
        do throws(LogError) { try storage.requireUsable() } catch {
            guard case .closed = error else { throw error }
            if let rows = memoryRows { return try body(MemoryLog(rows)) }
            let log = try LMDBLog.openReadOnly(storage.path)
            defer { log.close() }
            guard log.header.replicas == storage.header.replicas else { throw error }
            return try body(log)
        }
        try body(storage)
    }
}
