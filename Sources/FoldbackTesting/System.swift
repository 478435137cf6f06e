import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The one place of the testing kit that asks the system for luck, time and room.
enum System {
    /// A seed that was not used before.
    static func freshSeed() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next() >> 16
    }

    static var now: ContinuousClock.Instant { ContinuousClock().now }

    /// Calls `body` on a thread of its own, which may block.
    static func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withUnsafeContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}

/// A folder that is gone with this value; in memory where there is such a file system.
final class TemporaryFolder: Sendable {
    let url: URL

    /// - Throws: what the system says.
    init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? memory : FileManager.default.temporaryDirectory.path
        var template = Array("\(base)/foldback-XXXXXX\0".utf8CString)
        guard let path = mkdtemp(&template) else {
            throw CocoaError(.fileWriteUnknown)
        }
        url = URL(filePath: String(cString: path), directoryHint: .isDirectory)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
