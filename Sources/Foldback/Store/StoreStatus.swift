/// A log's identity, counts and sizes at one commit; see ``Store/status``.
public struct StoreStatus: Hashable, Sendable {
    /// The path of the log's directory; `(in memory)` for a store in memory.
    public let path: String
    /// The replica id under which new intents are recorded.
    public let replica: ReplicaID
    /// The source that confirms (F2).
    public let kind: LogKind
    /// The number of entries that the log has. It is less than ``sequence`` after a compaction, and in a
    /// history without some entries.
    public let entryCount: Int
    /// The sequence of the last entry; 0 in an empty log.
    public let sequence: LogSequence
    /// The last entry that a compaction has removed; 0 if the log has all of its entries.
    public let base: LogSequence
    /// The highest position that confirmed state covers.
    public let through: Position
    /// The lineage of the authority whose answers the log has; nil if none was named yet.
    public let lineage: Lineage?
    /// The last position that the log shares with an authority that superseded it since the store was
    /// opened: another authority (0), or one that lost data. Nil if none did (N6).
    public let superseded: Position?
    /// The number of pending intents.
    public let pendingCount: Int
    /// The number of pending intents that are held: drafts that are not sent before they are released
    /// (F22).
    public let heldCount: Int
    /// The number of accepted intents: acknowledged, but still in the overlay.
    public let acceptedCount: Int
    /// The number of rejections that are neither dismissed nor retried.
    public let rejectedCount: Int
    /// The number of confirmed events that this code read only in part: it ignores members of them,
    /// or a newer version of the app wrote them (E11). Nothing is lost: code that reads more folds
    /// them again. See <doc:ChangingYourEvents>.
    public let partlyReadCount: Int
    /// The number that the next intent gets.
    public let nextIntent: IntentNumber
    /// The bytes of the file that are or were in use, as of the last write.
    public let bytesOnDisk: Int
    /// The duration so far of this process's oldest read; zero if there is none. While a long read
    /// runs, the file keeps growing (L8).
    public let oldestRead: Duration
    /// The newest complete checkpoint that this store can use; 0 if there is none.
    public let checkpoint: LogSequence
    /// The error of the last attempt to write a checkpoint; nil if it succeeded. The log is not
    /// affected, but opening takes longer.
    public let checkpointFailure: String?

    package init(
        of log: any LogStorage, _ published: PublishedState, entryCount: Int,
        checkpoint: LogSequence, checkpointFailure: LogError? = nil
    ) {
        path = log.path
        replica = log.header.replicas.current
        kind = log.header.kind
        self.entryCount = entryCount
        sequence = published.sequence
        base = log.baseSequence
        through = published.through
        lineage = published.lineage
        superseded = published.superseded
        pendingCount = published.pendingCount
        heldCount = published.drafts.held.count
        acceptedCount = published.acceptedCount
        rejectedCount = published.rejections.count
        partlyReadCount = published.partlyRead.count
        nextIntent = published.nextNumber
        bytesOnDisk = log.usedBytes
        oldestRead = .nanoseconds(Int64(clamping: log.oldestReadNanoseconds))
        self.checkpoint = checkpoint
        self.checkpointFailure = checkpointFailure.map { "\($0)" }
    }
}
