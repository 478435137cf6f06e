#if ReplayTool
    import Foundation
    import Synchronization

    /// Threads for computations, so that they do not keep other requests from being answered.
    ///
    /// The number of threads is bounded, and so is the number of computations that wait for one.
    final class Workers: Sendable {
        private let queue: OperationQueue
        private let executor: QueueExecutor
        private let waitingMax: Int
        private let waiting = Mutex(0)

        init(_ name: String, threads: Int, waitingMax: Int) {
            queue = OperationQueue()
            queue.name = "foldback.inspect.\(name)"
            queue.maxConcurrentOperationCount = threads
            executor = QueueExecutor(queue)
            self.waitingMax = waitingMax
        }

        /// Runs a computation on one of the threads.
        ///
        /// - Throws: the errors of the computation; `InspectorError.busy` if too many wait.
        func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
            try enter()
            defer { leave() }
            return try await withCheckedThrowingContinuation { continuation in
                queue.addOperation { continuation.resume(with: Result { try body() }) }
            }
        }

        /// Runs a computation with suspensions on the threads, such as a search in many steps.
        func runSuspending<R: Sendable>(
            _ body: @escaping @Sendable () async throws -> R
        ) async throws -> R {
            try enter()
            defer { leave() }
            return try await withTaskExecutorPreference(executor) { try await body() }
        }

        /// Starts a computation that nobody waits for.
        func start(_ body: @escaping @Sendable () -> Void) { queue.addOperation(body) }

        private func enter() throws {
            let isPossible = waiting.withLock { waiting in
                guard waiting < waitingMax else { return false }
                waiting += 1
                return true
            }
            guard isPossible else { throw InspectorError.busy }
        }

        private func leave() { waiting.withLock { $0 -= 1 } }
    }

    /// Runs the parts of tasks as operations of a queue.
    private final class QueueExecutor: TaskExecutor {
        private let queue: OperationQueue

        init(_ queue: OperationQueue) { self.queue = queue }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
#endif
