import Foldback

/// What the readers of a space see: one value, which is replaced after each commit (N12).
struct SpaceTail<Event: Sendable>: Sendable {
    let lineage: Lineage
    /// The position of the newest group.
    private(set) var head: Position
    /// The checksum of the newest group's record.
    private(set) var checksum: UInt64
    /// The newest groups, ascending and without gaps, with the checksums of their records; the last one is at
    /// ``head``.
    private var groups: [(group: DecidedGroup<Event>, checksum: UInt64)] = []
    private var first = 0
    private var count = 0
    private var bytes = 0

    init(lineage: Lineage, head: Position, checksum: UInt64) {
        self.lineage = lineage
        self.head = head
        self.checksum = checksum
    }

    mutating func append(_ group: DecidedGroup<Event>, checksum: UInt64) {
        groups.append((group, checksum))
        head = group.position
        self.checksum = checksum
        count += group.weight
        bytes += group.bytes
        while count > SpaceLimits.tailCountMax || bytes > SpaceLimits.tailBytesMax {
            count -= groups[first].group.weight
            bytes -= groups[first].group.bytes
            first += 1
        }
        if first > groups.count / 2 {
            groups.removeFirst(first)
            first = 0
        }
    }

    /// Goes on to a later group, and keeps no group in memory: readers find them in the log.
    mutating func skip(to head: Position, checksum: UInt64) {
        self = SpaceTail(lineage: lineage, head: head, checksum: checksum)
    }

    /// Returns the group at a position; nil if it is not in memory.
    func group(at position: Position) -> DecidedGroup<Event>? {
        place(of: position).map { groups[$0].group }
    }

    /// Returns the checksum of the record at a position; nil if it is not in memory.
    func checksum(at position: Position) -> UInt64? {
        position == head ? checksum : place(of: position).map { groups[$0].checksum }
    }

    private func place(of position: Position) -> Int? {
        let held = groups.count - first
        guard position <= head, head.value - position.value < UInt64(held) else { return nil }
        return groups.count - 1 - Int(head.value - position.value)
    }
}

/// The effects of a group, in order (N3).
struct DecidedGroup<Event: Sendable>: Sendable {
    struct Item: Sendable {
        let id: IntentID
        let account: Account
        let effect: Effect<Event>
    }

    let position: Position
    let effects: [Item]
    /// The bytes of the effects.
    let bytes: Int

    /// What the group counts in memory: a group of rejections takes room too.
    var weight: Int { max(1, effects.count) }

    /// - Parameter decisions: the decisions of the group with their intents.
    init(position: Position, _ decisions: some Sequence<(IntentID, Decision<Event>)>) {
        self.position = position
        effects = decisions.compactMap { id, decision in
            decision.effect.map { Item(id: id, account: decision.account, effect: $0) }
        }
        bytes = effects.reduce(0) { $0 + $1.effect.payload.bytes.count }
    }
}
