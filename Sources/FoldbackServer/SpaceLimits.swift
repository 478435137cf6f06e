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
    /// Events of a page, unless a group has more.
    static let pageCountMax = 256
    /// Bytes of the events of a page, unless a group has more.
    static let pageBytesMax = 1 << 20
    /// Groups that one page passes over at most, also if it shows none of their effects.
    static let pageGroupsMax = 256
    /// Decisions that are kept in memory for readers, and their bytes.
    static let tailCountMax = 4_096
    static let tailBytesMax = 4 << 20
    /// Replicas whose rows are kept in memory.
    static let replicasMax = 65_536
    /// The longest wait of a long poll. A revoked account's poll ends with it (N8).
    static let waitMax: Duration = .seconds(55)
}
