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
            let group = try shown(at: next, of: tail, to: account)
            read += group.bytes
            if through > device.through, read > SpaceLimits.pageReadBytesMax { break }
            bytes += group.shownBytes
            if !events.isEmpty,
                events.count + group.events.count > SpaceLimits.pageCountMax
                    || bytes > SpaceLimits.pageBytesMax
            {
                break
            }
            events += group.events
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
        // The logs of several servers have the same decisions, and other checksums.
        guard position > 0, !isShared else { return nil }
        do throws(LogError) {
            let checksum =
                if let checksum { checksum } else {
                    try store.checksum(at: LogSequence(position.value))
                }
            let mixed = Checksum.of(Array("\(firstReplica) \(checksum)".utf8).span.bytes, seed: 0)
            return RunningDigest(String(mixed, radix: 16))
        } catch { throw .unavailable(after: nil, reason: "\(error)") }
    }

    /// Returns the effects of a group that an account may see.
    private nonisolated func shown(
        at position: Position, of tail: SpaceTail<Event>, to account: Account
    ) throws(AuthorityFailure) -> ShownGroup<Event> {
        if let held = tail.group(at: position) { return shown(held, to: account) }
        // Nobody asks for the events then, and decoding them takes most of the time.
        if R._Shown._isAlwaysTrue {
            let codec = DecisionCodec(inner: UndecodedEvents())
            return ShownGroup(try read(at: position, by: codec)) { _ in true }
        }
        return shown(try read(at: position, by: codec), to: account)
    }

    private nonisolated func shown(
        _ group: DecidedGroup<Event>, to account: Account
    ) -> ShownGroup<Event> {
        ShownGroup(group) {  // mutant: shown-effects
            $0.account == account || rules.shows($0.effect.event, to: account)._isShown
        }
    }

    /// Reads a group from the log.
    private nonisolated func read<Read>(
        at position: Position, by codec: DecisionCodec<Read>
    ) throws(AuthorityFailure) -> DecidedGroup<Read> {
        var decisions: [(IntentID, Decision<Read>)] = []
        for event in try store.decisions(at: position, by: codec) {
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
        for event in try store.decisions(at: position, by: codec, where: ids.contains) {
            if let id = event.intent, case .decided(let decision) = event.event {
                verdicts[id] = decision.verdict
            }
        }
        return Verdicts(verdicts)
    }
}

extension Store {
    /// Reads the events of an entry with their intents.
    ///
    /// - Parameter isWanted: whether an intent's event is decoded and returned.
    func decisions<Read>(
        at position: Position, by codec: DecisionCodec<Read>,
        where isWanted: (IntentID) -> Bool = { _ in true }
    ) throws(AuthorityFailure) -> [(intent: IntentID?, event: DecisionEvent<Read>)] {
        let entries: [LogEntry<[UInt8]>]
        do throws(LogError) {
            entries = try recordedEntries(from: LogSequence(position.value), countMax: 1)
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

/// The effects of a group that an account may see, as a page has them.
private struct ShownGroup<Event: Sendable> {
    let events: [ConfirmedEvent<Event>]
    let shownBytes: Int
    /// The bytes of all effects of the group.
    let bytes: Int

    init<Read>(
        _ group: DecidedGroup<Read>, _ isShown: (DecidedGroup<Read>.Item) -> Bool
    ) {
        let shown = group.effects.filter(isShown)
        events = shown.map {
            ConfirmedEvent(position: group.position, recorded: $0.effect.recorded, origin: $0.id)
        }
        shownBytes = shown.reduce(0) { $0 + $1.effect.payload.bytes.count }
        bytes = group.bytes
    }
}

/// Leaves the bytes of the app's events as they are, to pass them on.
struct UndecodedEvents: EventCodec {
    struct Undecoded: Sendable {}

    var format: EventFormat { .none }

    func encode(_ event: Undecoded) -> [UInt8] { [] }
    func decode(_ bytes: RawSpan, format: EventFormat) -> Undecoded { Undecoded() }
}
