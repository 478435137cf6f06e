import Foldback
import FoldbackSync

/// What is known of a replica between groups.
struct WorkingReplica: Sendable {
    let account: Account
    /// The replica's number in the index; nil if its first decisions are in the group that is being made.
    let number: UInt32?
    /// The highest intent with a decision. The index need not be asked for higher ones.
    var highest: UInt64
}

extension Space {
    /// Decides on a request, or repeats its verdicts.
    ///
    /// While a group is written, later requests queue up. The first of them then decides the next group
    /// for all that fit. So the space needs no task of its own.
    ///
    /// - Throws: `.superseded`; `.failed` if the intents are not ascending, or the rules fail; `.unauthenticated`
    ///   if a replica belongs to another account; `.unavailable`. Nothing of the request is decided, or it may
    ///   be decided in a group whose end is not known.
    func decide(
        _ intents: [Submission<Event>], by account: Account, from device: SyncPoint
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        try requireOpen()
        try await follow(device)
        let (lineage, head) = tail.withLock { ($0.lineage, $0.head) }
        try device.requireShared(with: lineage, head: head) {
            [self] position throws(AuthorityFailure) in
            try digest(at: position, held: tail.withLock { $0.checksum(at: position) })
        }
        try Self.requireSound(intents)
        guard queue.hasRoom else {
            throw .unavailable(after: .seconds(1), reason: "the space has too many requests")
        }
        let intents = Self.bounded(intents)
        if intents.isEmpty { return Verdicts([:], lineage: lineage, head: head) }
        return try await decided(Ticket(intents, by: account, waiting: nil))
    }

    /// Decides on a request, or waits until another one has decided it too.
    func decided(
        _ ticket: Ticket<Event>
    ) async throws(AuthorityFailure) -> Verdicts<Event> {
        guard isDeciding else {
            isDeciding = true
            queue.append(ticket)
            return try await decideGroup().get()
        }
        let word = await withUnsafeContinuation { waiting in
            var ticket = ticket
            ticket.waiting = waiting
            queue.append(ticket)
        }
        switch word {
        case .answered(let result): return try result.get()
        case .yourTurn: return try await decideGroup().get()
        }
    }

    /// The first intents of a request, as many as one group may have. The others come again.
    private static func bounded(_ intents: [Submission<Event>]) -> [Submission<Event>] {
        var bytes = 0
        let fitting = intents.prefix(SpaceLimits.groupCountMax).prefix { intent in
            bytes += intent.payload.bytes.count
            return bytes <= SpaceLimits.requestBytesMax
        }
        if fitting.count == intents.count { return intents }
        return Array(fitting.isEmpty ? intents.prefix(1) : fitting)
    }

    /// Refuses a request as a whole if an id comes twice, because an answer has one verdict for each id
    /// (N4), or if a replica's name cannot be a key of the index.
    private static func requireSound(
        _ intents: [Submission<Event>]
    ) throws(AuthorityFailure) {
        if let id = firstOutOfOrder(intents) {
            throw .failed(reason: "intent \(id) comes after a higher one: send them in order")
        }
        // A key writes a NUL as two bytes.
        for first in firstsOfReplicas(in: intents)
        where first.replica.name.string.utf8.contains(0) {
            throw .failed(reason: "the name of a replica has a NUL")
        }
    }

    // MARK: Groups

    /// Decides the first group of the queue, answers its other requests, and passes on the turn.
    ///
    /// - Returns: the answer to the first request.
    private func decideGroup() async -> Result<Verdicts<Event>, AuthorityFailure> {
        let tickets = queue.takeGroup()
        let answers = await answers(to: tickets)
        if let answers {
            for (ticket, answer) in zip(tickets, answers).dropFirst() {
                ticket.waiting?.resume(returning: .answered(answer))
            }
        } else {
            queue.putBack(tickets.dropFirst())
        }
        if let next = queue.takeFirstWaiting() {
            next.resume(returning: .yourTurn)
        } else {
            isDeciding = false
        }
        return answers?[0] ?? .failure(.unreachable(reason: "the task was canceled"))
    }

    /// - Returns: an answer for each request; nil if this task was canceled. Then the others are decided again,
    ///   and get their first verdicts if the group was written.
    private func answers(
        to tickets: [Ticket<Event>]
    ) async -> [Result<Verdicts<Event>, AuthorityFailure>]? {
        func all(
            _ failure: AuthorityFailure
        ) -> [Result<Verdicts<Event>, AuthorityFailure>] { tickets.map { _ in .failure(failure) } }

        // Nothing of the group is decided for a caller that is gone.
        if Task.isCancelled { return nil }
        var (racesEnd, isUnknown) = (Timestamp?.none, false)
        do throws(AuthorityFailure) {
            if tickets.contains(where: \.intents.isEmpty) { try await catchUp() }
            while true {
                if let fault { throw .unavailable(after: nil, reason: fault) }
                try requireOpen()
                var group = GroupInProgress(
                    at: Position(head.value + 1), rules, codec, time: sources.now(),
                    over: working ?? GuardedState(store.view.state), known: try lookUp(tickets),
                    replicas, ownReplica: replica
                ) { [self] position, ids throws(AuthorityFailure) in
                    try self.verdicts(at: position, on: ids)
                }
                // The group has the only copy of what it changes.
                (working, replicas) = (nil, [:])
                let verdicts = tickets.map { group.decide($0) }
                switch try await commit(group) {
                case .kept: break
                case .lost:
                    let end = racesEnd ?? sources.now().advanced(by: SpaceLimits.racing)
                    racesEnd = end
                    guard sources.now() < end else {
                        throw .unavailable(
                            after: .seconds(1), reason: "other servers decide for this space")
                    }
                    try await catchUp()
                    continue
                case .unknown(let failure):
                    if isUnknown { throw failure }
                    isUnknown = true
                    try await catchUp()
                    continue
                }
                (working, replicas) = group.kept(after: &workingBytes)
                let (lineage, head) = tail.withLock { ($0.lineage, $0.head) }
                return verdicts.map { $0.map { Verdicts($0, lineage: lineage, head: head) } }
            }
        } catch {
            return Task.isCancelled ? nil : all(error)
        }
    }

    /// Keeps a group on the disk, and shows it to readers (N2).
    private func commit(_ group: GroupInProgress<R>) async throws(AuthorityFailure) -> CommitEnd {
        if group.decisions.isEmpty { return .kept }
        if shared == nil {
            do throws(CommandError) { try await store.confirm(group.events) } catch {
                throw .unavailable(after: nil, reason: "\(error)")
            }
        } else {
            let end = try await append(group)  // mutant: lost-append
            guard case .kept = end else { return end }
        }
        // A decision that the store could not apply has no effect there (N9).
        if let fault { throw .unavailable(after: nil, reason: fault) }
        group.teach()
        // Only this space writes to the log, so the group is its last entry.
        let end = store.core.published
        precondition(
            end.sequence.value == group.position.value,
            "the log ends at \(end.sequence), and its newest group is at \(group.position)")
        let decided = DecidedGroup(position: group.position, group.decisions)
        tail.withLock { $0.append(decided, checksum: end.chain) }
        decisions.ring()
        return .kept
    }

    // MARK: The index

    /// Returns what the index has of the requests' intents, and notes their replicas.
    private func lookUp(
        _ tickets: [Ticket<Event>]
    ) throws(AuthorityFailure) -> [IntentID: DecidedIntent] {
        // The intents after the first have higher numbers.
        let isNew = tickets.lazy.flatMap(\.firsts).allSatisfy { id in
            replicas[id.replica].map { id.number.value > $0.highest } ?? false
        }
        guard !isNew else { return [:] }
        let ids = tickets.flatMap { $0.intents.map(\.id) }
        do {
            return try store.projected(DecisionIndex<R.State>.self).read { rows in
                var found: [IntentID: DecidedIntent] = [:]
                for id in ids {
                    if replicas[id.replica] == nil {
                        replicas[id.replica] = try rows.replica(id.replica)
                    }
                    guard let replica = replicas[id.replica], let number = replica.number,
                        id.number.value <= replica.highest
                    else { continue }
                    found[id] = try rows.get(  // mutant: decided-before
                        KeyPair(number, id.number.value), in: DecisionTables.intents)
                }
                return found
            }
        } catch { throw .unavailable(after: nil, reason: "\(error)") }
    }
}

extension RowReader {
    /// Returns what the index knows of a replica; nil if it has sent nothing.
    fileprivate borrowing func replica(_ replica: ReplicaID) throws -> WorkingReplica? {
        guard let known = try get(replica.name, in: DecisionTables.replicas) else { return nil }
        let last = try page(
            of: DecisionTables.intents, in: .prefix(known.number), order: .descending, limit: 1)
        return WorkingReplica(
            account: known.account, number: known.number, highest: last.first?.key.second ?? 0)
    }
}

/// Returns the first intent whose number is not above that of the one before it of the same replica (N4).
func firstOutOfOrder<Event>(_ intents: [Submission<Event>]) -> IntentID? {
    // Most requests are of one replica, which needs no dictionary.
    var others: [ReplicaID: IntentNumber] = [:]
    var last: IntentID?
    for intent in intents {
        let id = intent.id
        var before = last?.number
        if let last, last.replica != id.replica {
            others[last.replica] = last.number
            before = others[id.replica]
        }
        if let before, before >= id.number { return id }
        last = id
    }
    return nil
}
