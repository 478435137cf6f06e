#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The sources of time and of new replica ids.
///
/// No other code asks the system for them. Tests and simulations pass their own sources.
public struct LogSources: Sendable {
    /// Returns the time to note in an entry. It is never folded (F12).
    public var now: @Sendable () -> Timestamp
    /// Returns a replica id that no other log has.
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
                preconditionFailure("a UUID was refused as a replica id")
            }
            return replica
        })
}
