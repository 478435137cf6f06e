import Foldback

/// What the readers of a space see: one value, which is replaced after each commit (N12).
struct SpaceTail<Event: Sendable>: Sendable {
    let lineage: Lineage
    /// The position of the newest group.
    private(set) var head: Position
    /// The newest groups, ascending and without gaps; the last one is at ``head``.
    private var groups: [DecidedGroup<Event>] = []
    private var first = 0
    private var count = 0
    private var bytes = 0

    init(lineage: Lineage, head: Position) {
        self.lineage = lineage
        self.head = head
    }

    mutating func append(_ group: DecidedGroup<Event>) {
        groups.append(group)
        head = group.position
        count += group.weight
        bytes += group.bytes
        while count > SpaceLimits.tailCountMax || bytes > SpaceLimits.tailBytesMax {
            count -= groups[first].weight
            bytes -= groups[first].bytes
            first += 1
        }
        if first > groups.count / 2 {
            groups.removeFirst(first)
            first = 0
        }
    }

    /// Returns the group at a position; nil if it is not in memory.
    func group(at position: Position) -> DecidedGroup<Event>? {
        let held = groups.count - first
        guard position <= head, head.value - position.value < UInt64(held) else { return nil }
        return groups[groups.count - 1 - Int(head.value - position.value)]
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
        bytes = effects.reduce(0) { $0 + $1.effect.recorded.bytes.count }
    }
}
