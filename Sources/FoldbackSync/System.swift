import Foldback

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where sending gets time and chance from: the one place that asks the system for them. Tests and
/// simulations bring their own.
public struct SyncSources: Sendable {
    /// The time of day: waits are noted in the log's directory and outlive the process.
    public var now: @Sendable () -> Timestamp
    /// Waits so long; returns early, without an error, when the task is cancelled.
    public var sleep: @Sendable (Duration) async -> Void
    /// A number from 0 to 1, evenly spread: chance.
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

    /// The system's clocks and its random numbers.
    public static let system = SyncSources(
        now: LogSources.system.now,
        // What it throws says that the task was cancelled, which the caller sees for itself.
        sleep: { duration in _ = try? await Task.sleep(for: duration) },
        jitter: { .random(in: 0...1) })
}
