import FoldbackLMDB
import Synchronization

/// Runs tasks one after the other, and only when a test says so. So the test knows which of them
/// wait, and in which order they were resumed.
///
/// Tasks that other threads resume are queued here, in the order in which they were resumed.
package final class StepExecutor: TaskExecutor {
    private let ready = Mutex<[UnownedJob]>([])

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        ready.withLock { $0.append(job) }
    }

    /// Starts a task, and runs it until it waits or ends.
    package func start<R: Sendable>(
        _ body: @escaping @Sendable () async -> R
    ) async -> SteppedTask<R> {
        let result = SteppedTask<R>.Result()
        let task = Task(executorPreference: self) {
            let value = await body()
            result.value.withLock { $0 = value }
        }
        await runReady()
        return SteppedTask(task: task, result: result)
    }

    /// Runs all tasks that were resumed, until each of them waits or ends.
    package func runReady() async {
        await Platform.onThread {
            while true {
                let job = self.ready.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                guard let job else { return }
                job.runSynchronously(on: self.asUnownedTaskExecutor())
            }
        }
    }

    /// Runs resumed tasks until this task has ended, and returns its result.
    package func value<R: Sendable>(of task: SteppedTask<R>) async -> R {
        while true {
            await runReady()
            if let value = task.valueNow { return value }
            await Task.yield()
        }
    }
}

/// A task of a ``StepExecutor``.
package struct SteppedTask<R: Sendable>: Sendable {
    fileprivate final class Result: Sendable {
        let value = Mutex<R?>(nil)
    }

    fileprivate let task: Task<Void, Never>
    fileprivate let result: Result

    /// The result; nil if the task has not ended.
    package var valueNow: R? { result.value.withLock { $0 } }

    package func cancel() { task.cancel() }
}
