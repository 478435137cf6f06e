import Foldback
import FoldbackSync
import Foundation
import Synchronization
import TestSupport

/// Runs tasks on one thread, one after the other in the order in which they become ready, and lets time
/// pass only when none is: the same run each time, and no waiting.
final class VirtualTime: TaskExecutor {
    struct Stuck: Error {}

    private struct Sleeper {
        let id: Int
        let due: Int64
        let continuation: UnsafeContinuation<Void, Never>
    }

    private struct Content {
        var jobs: [UnownedJob] = []
        var sleepers: [Sleeper] = []
        var milliseconds: Int64 = 1_795_209_600_000
        var nextID = 0
        var isDone = false
        var jobsDone = 0
        var onJob: @Sendable (Int) -> Void = { _ in }
        var random: SeededGenerator
    }

    private let content: Mutex<Content>

    init(seed: UInt64 = 1) {
        content = Mutex(Content(random: SeededGenerator(seed: seed)))
    }

    var now: Timestamp { Timestamp(millisecondsSince1970: content.withLock { $0.milliseconds }) }

    var sources: SyncSources {
        SyncSources(
            now: { self.now }, sleep: { await self.sleep($0) },
            jitter: { self.content.withLock { Double.random(in: 0...1, using: &$0.random) } })
    }

    /// Calls `body` behind each job with how many there have been.
    func onJob(_ body: @escaping @Sendable (Int) -> Void) {
        content.withLock { $0.onJob = body }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        content.withLock { $0.jobs.append(job) }
    }

    /// Runs `body` and all that it starts, on a thread of its own.
    ///
    /// - Throws: `Stuck` where nothing can happen any more.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task(executorPreference: self) {
            defer { self.content.withLock { $0.isDone = true } }
            try await body()
        }
        let isDone = await withUnsafeContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.runJobs()) }
        }
        guard isDone else { throw Stuck() }
        try await task.value
    }

    /// False where it is stuck.
    private func runJobs() -> Bool {
        while true {
            let job = content.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
            if let job {
                job.runSynchronously(on: asUnownedTaskExecutor())
                let (count, onJob) = content.withLock { content in
                    content.jobsDone += 1
                    return (content.jobsDone, content.onJob)
                }
                onJob(count)
            } else if content.withLock({ $0.isDone }) {
                return true
            } else if !wakeNext() {
                return false
            }
        }
    }

    private func wakeNext() -> Bool {
        let sleeper = content.withLock { content -> Sleeper? in
            guard let next = content.sleepers.min(by: { ($0.due, $0.id) < ($1.due, $1.id) }) else {
                return nil
            }
            content.sleepers.removeAll { $0.id == next.id }
            content.milliseconds = max(content.milliseconds, next.due)
            return next
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }

    func sleep(_ duration: Duration) async {
        let id = content.withLock { content in
            content.nextID += 1
            return content.nextID
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isOver = content.withLock { content in
                    guard !Task.isCancelled else { return true }
                    let start = Timestamp(millisecondsSince1970: content.milliseconds)
                    content.sleepers.append(
                        Sleeper(
                            id: id, due: start.advanced(by: duration).millisecondsSince1970,
                            continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = content.withLock { content -> Sleeper? in
                guard let place = content.sleepers.firstIndex(where: { $0.id == id }) else {
                    return nil
                }
                return content.sleepers.remove(at: place)
            }
            sleeper?.continuation.resume()
        }
    }

    /// Lets time pass until the condition holds, looked at each 100 ms of virtual time for up to a day.
    func wait(until condition: () -> Bool) async throws {
        for _ in 0..<864_000 {
            if condition() { return }
            await sleep(.milliseconds(100))
        }
        throw Stuck()
    }
}

/// What goes wrong with the first calls, in their order; then nothing does.
final class FaultPlan: Sendable {
    private let left: Mutex<ArraySlice<FaultyAuthority<Move>.Fault?>>

    init(_ faults: [FaultyAuthority<Move>.Fault?]) { left = Mutex(faults[...]) }

    func next() -> FaultyAuthority<Move>.Fault? { left.withLock { $0.popFirst() } ?? nil }
}
