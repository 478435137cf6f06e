import Foldback
import FoldbackCollections
import FoldbackSync
import Synchronization

/// Runs tasks on one thread, one after the other, and advances time only when no task is ready: the
/// same run each time, without waiting.
///
/// Start every task within ``run(_:)``, and take time from ``sources``. A store must have no thread
/// of its own, because this executor does not wait for other threads.
package final class VirtualTime: TaskExecutor {
    /// Why a run was stopped.
    package enum Halt: Error, Hashable {
        /// No task is ready and no task sleeps, but the run is not done.
        case stuck
        /// The run took more jobs than allowed.
        case endless(jobs: Int)
    }

    private struct Content {
        var ready = ReadyJobs()
        var sleepers = Sleepers()
        var milliseconds: Int64
        var isDone = false
        var jobsDone = 0
        var onJob: @Sendable (Int) -> Void = { _ in }
        var jitter: SplitMix64
    }

    /// How many jobs cancelled tasks may run after a halt.
    private static var jobsAfterHalt: Int { 100_000 }
    /// 2026-11-21.
    private static var start: Int64 { 1_795_209_600_000 }

    private let content: Mutex<Content>
    private let jobsMax: Int

    /// - Parameters:
    ///   - seed: the seed of the jitter in ``sources``.
    ///   - order: 0 runs ready jobs in the order in which they became ready; any other number is
    ///     the seed of a random order. Swift promises no order, so code must work with any.
    ///   - jobsMax: how many jobs run before the run counts as endless.
    package init(seed: UInt64 = 1, order: UInt64 = 0, jobsMax: Int = 10_000_000) {
        self.jobsMax = jobsMax
        content = Mutex(
            Content(
                ready: ReadyJobs(order: order), milliseconds: Self.start,
                jitter: SplitMix64(seed: seed)))
    }

    package var now: Timestamp {
        Timestamp(millisecondsSince1970: content.withLock { $0.milliseconds })
    }

    /// The virtual time since the start.
    package var passed: Duration {
        .milliseconds(content.withLock { $0.milliseconds } - Self.start)
    }

    package var sources: SyncSources {
        SyncSources(
            now: { self.now }, sleep: { await self.sleep($0) },
            jitter: { self.content.withLock { $0.jitter.nextFraction() } })
    }

    /// Calls `body` after each job with the number of jobs so far.
    package func onJob(_ body: @escaping @Sendable (Int) -> Void) {
        content.withLock { $0.onJob = body }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        content.withLock { $0.ready.append(job) }
    }

    // MARK: Running

    /// Runs `body` and all tasks that it starts, on a new thread, until `body` is done and no task
    /// is ready.
    ///
    /// - Throws: ``Halt``, after all tasks were cancelled and got more jobs to end; errors of
    ///   `body`.
    package func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task(executorPreference: self) {
            defer { self.content.withLock { $0.isDone = true } }
            try await body()
        }
        let halt = await System.onThread { self.runJobs(self.jobsMax) }
        if let halt {
            task.cancel()
            _ = await System.onThread { self.runJobs(Self.jobsAfterHalt) }
            throw halt
        }
        try await task.value
    }

    /// Nil if all jobs are done.
    private func runJobs(_ jobsMax: Int) -> Halt? {
        var count = 0
        while true {
            if let job = content.withLock({ $0.ready.popNext() }) {
                guard count < jobsMax else {
                    content.withLock { $0.ready.append(job) }
                    return .endless(jobs: count)
                }
                count += 1
                job.runSynchronously(on: asUnownedTaskExecutor())
                let (done, onJob) = content.withLock { content in
                    content.jobsDone += 1
                    return (content.jobsDone, content.onJob)
                }
                onJob(done)
            } else if content.withLock({ $0.isDone }) {
                return nil
            } else if !wakeNext() {
                return .stuck
            }
        }
    }

    private func wakeNext() -> Bool {
        let continuation = content.withLock { content -> UnsafeContinuation<Void, Never>? in
            guard let next = content.sleepers.popNext() else { return nil }
            content.milliseconds = max(content.milliseconds, next.due)
            return next.continuation
        }
        continuation?.resume()
        return continuation != nil
    }

    // MARK: Waiting

    /// Returns after a duration, or when the task is cancelled, without an error.
    package func sleep(_ duration: Duration) async {
        let place = content.withLock { content in
            let start = Timestamp(millisecondsSince1970: content.milliseconds)
            return content.sleepers.place(
                due: start.advanced(by: duration).millisecondsSince1970)
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isOver = content.withLock { content in
                    guard !Task.isCancelled else { return true }
                    content.sleepers.insert(continuation, at: place)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            content.withLock { $0.sleepers.remove(at: place) }?.resume()
        }
    }

    /// Waits until the condition holds; checks it every 100 ms of virtual time.
    ///
    /// - Throws: ``Halt/stuck`` if it does not hold within `limit`; `CancellationError`.
    package func wait(
        atMost limit: Duration = .seconds(86_400), until condition: () -> Bool
    ) async throws {
        let end = now.advanced(by: limit)
        while !condition() {
            try Task.checkCancellation()
            guard now < end else { throw Halt.stuck }
            await sleep(.milliseconds(100))
        }
    }
}

/// Jobs that are ready to run.
private struct ReadyJobs {
    private var jobs: [UnownedJob] = []
    /// The index of the first remaining job.
    private var first = 0
    private var random: SplitMix64?

    init(order: UInt64 = 0) { random = order == 0 ? nil : SplitMix64(seed: order) }

    mutating func append(_ job: UnownedJob) { jobs.append(job) }

    mutating func popNext() -> UnownedJob? {
        guard first < jobs.count else { return nil }
        if let last = random?.next(upTo: UInt64(jobs.count - 1 - first)) {
            jobs.swapAt(first, first + Int(last))
        }
        defer {
            first += 1
            if first == jobs.count {
                jobs.removeAll(keepingCapacity: true)
                first = 0
            }
        }
        return jobs[first]
    }
}

/// Sleeping tasks in order of their times.
private struct Sleepers {
    /// The time when a task wakes up, and a number that orders tasks of the same time.
    struct Place: Comparable {
        let due: Int64
        let id: Int

        static func < (a: Place, b: Place) -> Bool { (a.due, a.id) < (b.due, b.id) }
    }

    private struct Sleeper {
        let place: Place
        let continuation: UnsafeContinuation<Void, Never>
    }

    /// The next task to wake up is the last element.
    private var sleepers: [Sleeper] = []
    private var lastID = 0

    mutating func place(due: Int64) -> Place {
        lastID += 1
        return Place(due: due, id: lastID)
    }

    mutating func insert(_ continuation: UnsafeContinuation<Void, Never>, at place: Place) {
        sleepers.insert(Sleeper(place: place, continuation: continuation), at: index(of: place))
    }

    mutating func remove(at place: Place) -> UnsafeContinuation<Void, Never>? {
        let index = index(of: place)
        guard index < sleepers.count, sleepers[index].place == place else { return nil }
        return sleepers.remove(at: index).continuation
    }

    mutating func popNext() -> (due: Int64, continuation: UnsafeContinuation<Void, Never>)? {
        sleepers.popLast().map { ($0.place.due, $0.continuation) }
    }

    private func index(of place: Place) -> Int {
        sleepers.partitioningIndex { $0.place <= place }
    }
}
