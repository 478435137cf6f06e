#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where time and fresh names come from: the one place that asks the system for them. Tests and
/// simulations bring their own.
public struct LogSources: Sendable {
    /// When entries are recorded; only noted, never folded (F12).
    public var now: @Sendable () -> Timestamp
    /// A replica id that no other log has.
    public var freshReplica: @Sendable () -> ReplicaID

    public init(
        now: @escaping @Sendable () -> Timestamp,
        freshReplica: @escaping @Sendable () -> ReplicaID
    ) {
        self.now = now
        self.freshReplica = freshReplica
    }

    /// The system's clock, and random UUIDs.
    public static let system = LogSources(
        now: {
            Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000))
        },
        freshReplica: {
            guard let replica = ReplicaID(UUID().uuidString.lowercased()) else {
                preconditionFailure("a UUID is a replica id")
            }
            return replica
        })
}
