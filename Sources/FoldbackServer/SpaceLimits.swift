/// The bounds of a space and of a server (N11).
enum SpaceLimits {
    /// Decisions of a group. A request has at most as many intents; further ones get no verdict.
    static let groupCountMax = 256
    /// Bytes of a group's intents, unless one request has more.
    static let groupBytesMax = 1 << 20
    /// Bytes of the events of a request. Further intents get no verdict. A larger event is rejected.
    static let requestBytesMax = 4 << 20
    /// Intents that wait for their turn.
    static let queueCountMax = 8_192
    /// Bytes of their events.
    static let queueBytesMax = 32 << 20
    /// Bytes of a group's effects after which it takes no further intent: rules may replace small events by
    /// large ones.
    static let effectBytesMax = 16 << 20
    /// Bytes of events that a space keeps to undo the last one.
    static let workingBytesMax = 4 << 20
    /// Events of a page, unless a group has more.
    static let pageCountMax = 256
    /// Bytes of the events of a page, unless a group has more. A reader that does not read costs one page.
    static let pageBytesMax = 128 << 10
    /// Groups that one page passes over at most, also if it shows none of their effects, and the bytes of
    /// all their effects, unless one group has more.
    static let pageGroupsMax = 256
    static let pageReadBytesMax = 4 << 20
    /// Decisions that are kept in memory for readers, and their bytes.
    static let tailCountMax = 4_096
    static let tailBytesMax = 4 << 20
    /// Replicas whose rows are kept in memory.
    static let replicasMax = 8_192
    /// The time for which a request is decided again and again, because other servers are faster.
    static let racing: Duration = .seconds(10)
    /// The time after which a space that could not be opened is tried again.
    static let refusal: Duration = .seconds(5)
    /// The longest wait of a long poll. A revoked account's poll ends with it (N8).
    static let waitMax: Duration = .seconds(55)
}
