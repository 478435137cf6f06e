import Foldback
import FoldbackSync
import Synchronization

/// Runs tasks on one thread, one after the other, and lets time pass only when none is ready: the same
/// run each time, and no waiting.
///
/// Everything that takes part is started within ``run(_:)`` and gets its time from ``sources``. A store
/// must have no thread of its own, for nobody waits here for what other threads do.
package final class VirtualTime: TaskExecutor {
    /// Why a run was ended before its end.
    package enum Halt: Error, Hashable {
        /// Nothing is ready and nothing waits for its time: nothing can happen any more.
        case stuck
        /// So much was done without an end: it goes round in circles.
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

    /// How many jobs those get to come to their end that were halted and cancelled.
    private static var jobsAfterHalt: Int { 100_000 }
    /// 2026-11-21.
    private static var start: Int64 { 1_795_209_600_000 }

    private let content: Mutex<Content>
    private let jobsMax: Int

    /// - Parameters:
    ///   - seed: of the jitter in ``sources``.
    ///   - order: of jobs that are ready at once; 0: that in which they became ready, else by chance
    ///     from this seed. Swift promises no order, so code must bear any.
    ///   - jobsMax: how many are run before a run counts as endless.
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

    /// Since the beginning.
    package var passed: Duration {
        .milliseconds(content.withLock { $0.milliseconds } - Self.start)
    }

    package var sources: SyncSources {
        SyncSources(
            now: { self.now }, sleep: { await self.sleep($0) },
            jitter: { self.content.withLock { $0.jitter.nextFraction() } })
    }

    /// Calls `body` behind each job with how many there have been.
    package func onJob(_ body: @escaping @Sendable (Int) -> Void) {
        content.withLock { $0.onJob = body }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        content.withLock { $0.ready.append(job) }
    }

    // MARK: Running

    /// Runs `body` and all that it starts, on a thread of its own, until `body` is done and nothing is
    /// ready.
    ///
    /// - Throws: ``Halt``, when everything was cancelled and had some more time to end; what `body`
    ///   throws.
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

    /// Nil where it came to its end.
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

    /// Returns so much later; early, without an error, when the task is cancelled.
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

    /// Lets time pass until the condition holds, looked at each 100 ms of virtual time.
    ///
    /// - Throws: ``Halt/stuck`` where it does not hold within `most`; `CancellationError`.
    package func wait(
        atMost most: Duration = .seconds(86_400), until condition: () -> Bool
    ) async throws {
        let end = now.advanced(by: most)
        while !condition() {
            try Task.checkCancellation()
            guard now < end else { throw Halt.stuck }
            await sleep(.milliseconds(100))
        }
    }
}

/// Jobs that are ready to be run.
private struct ReadyJobs {
    private var jobs: [UnownedJob] = []
    /// Of the first that was not taken out.
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

/// Who waits for a time, in order of it.
private struct Sleepers {
    /// When somebody is woken, and the how manyeth to fall asleep it is.
    struct Place: Comparable {
        let due: Int64
        let id: Int

        static func < (a: Place, b: Place) -> Bool { (a.due, a.id) < (b.due, b.id) }
    }

    private struct Sleeper {
        let place: Place
        let continuation: UnsafeContinuation<Void, Never>
    }

    /// The first to be woken is the last one.
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
        var (low, high) = (0, sleepers.count)
        while low < high {
            let middle = (low + high) / 2
            if sleepers[middle].place > place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
