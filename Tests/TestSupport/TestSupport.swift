import Foldback
import FoldbackLMDB
import FoldbackTesting
import Foundation
import Synchronization

/// A directory that is removed with this value. It is in memory if the system has a memory file system with
/// enough room, unless a test is about the disk.
public final class TemporaryDirectory: Sendable {
    public let url: URL

    public init(onDisk: Bool = false) {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let base =
            !onDisk && Platform.freeBytes(at: memory.path) ?? 0 > 1 << 30
                && FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        url = base.appending(
            path: "foldback-test-\(UUID().uuidString)", directoryHint: .isDirectory)
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The directory of a log in it, not created yet.
    public var log: URL { url.appending(path: "log", directoryHint: .isDirectory) }
}

extension LogSources {
    /// A clock that advances one millisecond with each reading, and replica ids fresh-1, fresh-2, …
    public static func counting() -> LogSources {
        let ticks = Mutex<Int64>(1_795_209_600_000)
        let names = Mutex(0)
        return LogSources(
            now: {
                ticks.withLock { ticks in
                    ticks += 1
                    return Timestamp(millisecondsSince1970: ticks)
                }
            },
            freshReplica: {
                names.withLock { count in
                    count += 1
                    return ReplicaID("fresh-\(count)")!
                }
            })
    }
}

extension CheckpointPolicy {
    /// Frequent checkpoints, so short tests reach all of their cases.
    public static let eager = CheckpointPolicy(entriesMax: 9, bytesMax: .max, spacing: 23)
}

/// The two storages for tests of rules.
public enum Engine: String, CaseIterable, Sendable {
    case memory
    case lmdb

    /// A store on an empty log of replica "me".
    public func store<P: EventFold>(
        _ projection: P.Type, _ kind: LogKind, in directory: TemporaryDirectory,
        also: [AdditionalProjection<P.Event>] = [], conflicts: ConflictPolicy = .shared
    ) async throws -> Store<P> {
        switch self {
        case .memory:
            Store.inMemory(
                projection, also: also, conflicts: conflicts, confirmedBy: kind,
                replica: ReplicaID("me"),
                sources: .counting())
        case .lmdb:
            try await Store.open(
                at: directory.log, projection, also: also, conflicts: conflicts, confirmedBy: kind,
                durability: .relaxed, checkpoints: .eager,
                replica: .exactly(ReplicaID("me")!),
                sources: .counting())
        }
    }
}

/// The random source of tests: the same numbers for the same seed.
package typealias SeededGenerator = SplitMix64

extension SplitMix64 {
    /// True in one of `n` cases.
    package mutating func oneIn(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &self) == 0 }
}

/// The error of a failing call; nil if it did not throw.
public func error<R, E: Error>(
    of body: () async throws(E) -> R
) async -> E? {
    do throws(E) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
