import Foldback
import FoldbackSync

extension Space {
    /// Returns the effects after what a device has, as far as a user may see them, in whole groups (N3).
    nonisolated func page(
        after device: SyncPoint, for account: Account
    ) throws(AuthorityFailure) -> Changes<Event> {
        try requireOpen()
        // Head and newest groups are of one moment (N12).
        let tail = tail.withLock { $0 }
        try device.requireShared(with: tail.lineage, head: tail.head) {
            position throws(AuthorityFailure) in
            try digest(at: position, held: tail.checksum(at: position))
        }
        var events: [ConfirmedEvent<Event>] = []
        var (bytes, read) = (0, 0)
        var through = device.through
        for _ in 0..<SpaceLimits.pageGroupsMax where through < tail.head {
            let next = Position(through.value + 1)
            let group = if let held = tail.group(at: next) { held } else { try self.read(at: next) }
            let shown = group.effects.filter {  // mutant: shown-effects
                $0.account == account || rules.shows($0.effect.event, to: account)
            }
            read += group.bytes
            if through > device.through, read > SpaceLimits.pageReadBytesMax { break }
            bytes += shown.reduce(0) { $0 + $1.effect.recorded.bytes.count }
            if !events.isEmpty,
                events.count + shown.count > SpaceLimits.pageCountMax
                    || bytes > SpaceLimits.pageBytesMax
            {
                break
            }
            events += shown.map {
                ConfirmedEvent(position: next, recorded: $0.effect.recorded, origin: $0.id)
            }
            through = next
        }
        return Changes(
            events: events, through: through, hasMore: through < tail.head, lineage: tail.lineage,
            head: tail.head,
            digest: try digest(at: through, held: tail.checksum(at: through)))
    }

    /// Returns the running digest of all groups up to a position (N6); nil at 0.
    ///
    /// A record has the checksum of the record before it (L5), so the checksum of the group's record stands
    /// for all groups. The digest mixes it with the log's first replica id: with the checksums themselves, a
    /// device could check what it guesses of effects that it may not see (N8).
    ///
    /// - Parameter checksum: the record's checksum if it is in memory; nil to read the record.
    nonisolated func digest(
        at position: Position, held checksum: UInt64?
    ) throws(AuthorityFailure) -> RunningDigest? {
        guard position > 0 else { return nil }
        do throws(LogError) {
            let checksum =
                if let checksum { checksum } else {
                    try store.checksum(at: LogSequence(position.value))
                }
            let mixed = Checksum.of(Array("\(firstReplica) \(checksum)".utf8).span.bytes, seed: 0)
            return RunningDigest(String(mixed, radix: 16))
        } catch { throw .unavailable(after: nil, reason: "\(error)") }
    }

    /// Reads a group from the log.
    private nonisolated func read(
        at position: Position
    ) throws(AuthorityFailure) -> DecidedGroup<Event> {
        var decisions: [(IntentID, Decision<Event>)] = []
        for event in try decided(at: position) {
            switch event.event {
            case .decided(let decision):
                guard let id = event.intent else { continue }
                decisions.append((id, decision))
            case .founded: break
            }
        }
        return DecidedGroup(position: position, decisions)
    }

    /// Reads verdicts of a group from the log.
    nonisolated func verdicts(
        at position: Position, on ids: Set<IntentID>
    ) throws(AuthorityFailure) -> Verdicts<Event> {
        var verdicts: [IntentID: Verdict<Event>] = [:]
        for event in try decided(at: position, where: ids.contains) {
            if let id = event.intent, case .decided(let decision) = event.event {
                verdicts[id] = decision.verdict
            }
        }
        return Verdicts(verdicts)
    }

    /// Reads the events of an entry with their intents.
    ///
    /// - Parameter isWanted: whether an intent's event is decoded and returned.
    private nonisolated func decided(
        at position: Position, where isWanted: (IntentID) -> Bool = { _ in true }
    ) throws(AuthorityFailure) -> [(intent: IntentID?, event: DecisionEvent<Event>)] {
        let entries: [LogEntry<[UInt8]>]
        do throws(LogError) {
            entries = try store.recordedEntries(from: LogSequence(position.value), countMax: 1)
        } catch { throw .unavailable(after: nil, reason: "\(error)") }
        guard case .confirmed(let events, _) = entries.first?.content else {
            throw .unavailable(after: nil, reason: "the log has no decision at \(position)")
        }
        do {
            return try events.filter { $0.origin.map(isWanted) ?? true }.map { event in
                let recorded = event.event
                let decision = try codec.decode(recorded.bytes.span.bytes, format: recorded.format)
                return (event.origin, decision)
            }
        } catch {
            throw .unavailable(
                after: nil, reason: "this code cannot read a decision at \(position): \(error)")
        }
    }
}
