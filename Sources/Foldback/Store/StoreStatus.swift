/// A log's identity, counts and sizes.
public struct StoreStatus: Hashable, Sendable {
    public let path: String
    public let replica: ReplicaID
    public let kind: LogKind
    /// Of the last entry; 0 in an empty log.
    public let sequence: LogSequence
    /// The highest position that confirmed state covers.
    public let through: Position
    public let pendingCount: Int
    public let acceptedCount: Int
    /// Rejections that are neither dismissed nor retried.
    public let rejectedCount: Int
    /// The number that the next intent gets.
    public let nextIntent: IntentNumber
    public let bytesOnDisk: Int
    /// How long the oldest read of this process has been going on; zero with none. One that goes on
    /// for long keeps the file growing (L8).
    public let oldestRead: Duration
    /// The newest whole checkpoint; 0 with none.
    public let checkpoint: LogSequence
    /// Why the last attempt to write one came to nothing; nil where it did not. The log is none the
    /// worse, opening takes longer.
    public let checkpointFailure: String?

    package init(
        of log: any LogStorage, _ published: PublishedState, checkpoint: LogSequence,
        checkpointFailure: FoldbackError? = nil
    ) {
        path = log.path
        replica = log.header.replicas.current
        kind = log.header.kind
        sequence = published.sequence
        through = published.through
        pendingCount = published.overlay.count - published.acceptedCount
        acceptedCount = published.acceptedCount
        rejectedCount = published.rejections.count
        nextIntent = published.nextNumber
        bytesOnDisk = log.usedBytes
        oldestRead = .nanoseconds(Int64(clamping: log.oldestReadNanoseconds))
        self.checkpoint = checkpoint
        self.checkpointFailure = checkpointFailure.map { "\($0)" }
    }
}
