import Foundation

/// The only source of randomness, time and threads in the testing kit.
enum System {
    /// A random seed.
    static func freshSeed() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next() >> 16
    }

    static var now: ContinuousClock.Instant { ContinuousClock().now }

    /// Calls `body` on a new thread, which may block.
    static func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withUnsafeContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
