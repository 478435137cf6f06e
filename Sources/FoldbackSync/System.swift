import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The sources of time and randomness for sending and fetching.
///
/// ``system`` is the only place in this module that asks the system for them. Tests and simulations
/// pass their own sources.
public struct SyncSources: Sendable {
    /// Returns the time of day. Waits are stored beside the log and outlive the process, so a
    /// monotonic clock would not do.
    public var now: @Sendable () -> Timestamp
    /// Waits for a duration. If the task is canceled, it returns early, without an error.
    public var sleep: @Sendable (Duration) async -> Void
    /// Returns a random number from 0 to 1, uniformly distributed.
    public var jitter: @Sendable () -> Double

    public init(
        now: @escaping @Sendable () -> Timestamp,
        sleep: @escaping @Sendable (Duration) async -> Void,
        jitter: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.sleep = sleep
        self.jitter = jitter
    }

    /// The system's clock, sleep and random numbers.
    public static let system = SyncSources(
        now: LogSources.system.now,
        // `Task.sleep` throws only if the task is canceled. Callers check that themselves.
        sleep: { duration in _ = try? await Task.sleep(for: duration) },
        jitter: { .random(in: 0...1) })
}

extension Lineage {
    /// Returns a lineage that no other authority has: a random UUID.
    public static func fresh() -> Lineage {
        guard let lineage = Lineage(UUID().uuidString.lowercased()) else {
            preconditionFailure("a UUID was refused as a lineage")
        }
        return lineage
    }
}
